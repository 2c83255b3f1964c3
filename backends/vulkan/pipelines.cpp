#include "backends/vulkan/pipelines.h"

#include <string>
#include <utility>

#include "backends/gpu/device.h"
#include "backends/gpu/device_error.h"
#include "backends/vulkan/result.h"

namespace concord::vulkan {

Pipelines::Pipelines(std::shared_ptr<Context> context) : context_(std::move(context)) {
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  VkPipelineCache cache = VK_NULL_HANDLE;
  check(context_->vk().vkCreatePipelineCache(context_->device(), &info, nullptr, &cache),
        "making a pipeline cache");
  cache_ = context_->own(cache, context_->vk().vkDestroyPipelineCache);
}

VkShaderModule Pipelines::shader(const gpu::KernelModule& module) {
  Handle<VkShaderModule>& known = shaders_[&module];
  if (known.get() == VK_NULL_HANDLE) {
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = module.spirv.size_bytes();
    info.pCode = module.spirv.data();
    VkShaderModule made = VK_NULL_HANDLE;
    check(context_->vk().vkCreateShaderModule(context_->device(), &info, nullptr, &made),
          "loading the kernels of " + std::string(module.name));
    known = context_->own(made, context_->vk().vkDestroyShaderModule);
  }
  return known.get();
}

VkPipelineLayout Pipelines::layout(std::uint32_t push_bytes) {
  Handle<VkPipelineLayout>& known = layouts_[push_bytes];
  if (known.get() == VK_NULL_HANDLE) {
    VkPushConstantRange range{};
    range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    range.size = push_bytes;
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    VkPipelineLayout made = VK_NULL_HANDLE;
    check(context_->vk().vkCreatePipelineLayout(context_->device(), &info, nullptr, &made),
          "making a pipeline layout");
    known = context_->own(made, context_->vk().vkDestroyPipelineLayout);
  }
  return known.get();
}

Pipeline Pipelines::get(const gpu::Kernel& kernel) {
  const std::scoped_lock lock(mutex_);
  Handle<VkPipeline>& known = pipelines_[&kernel];
  const VkPipelineLayout pipeline_layout = layout(kernel.param_bytes);
  if (known.get() == VK_NULL_HANDLE) {
    const std::string name(kernel.name);
    const std::string missing = missing_for(kernel, context_->physical().properties);
    if (!missing.empty()) {
      gpu::fail_device("kernel " + name + " cannot run: " + missing, "use another device");
    }
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader(*kernel.module);
    info.stage.pName = name.c_str();
    info.layout = pipeline_layout;
    VkPipeline made = VK_NULL_HANDLE;
    check(context_->vk().vkCreateComputePipelines(context_->device(), cache_.get(), 1, &info,
                                                  nullptr, &made),
          "compiling kernel " + name);
    known = context_->own(made, context_->vk().vkDestroyPipeline);
    context_->check_messages();
  }
  return {known.get(), pipeline_layout};
}

}  // namespace concord::vulkan
