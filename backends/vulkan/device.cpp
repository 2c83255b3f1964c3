#include "backends/vulkan/device.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/gpu/device_error.h"
#include "backends/gpu/gpu_backend.h"
#include "backends/gpu/staged_device.h"
#include "backends/vulkan/command_list.h"
#include "backends/vulkan/context.h"
#include "backends/vulkan/memory.h"
#include "backends/vulkan/pipelines.h"

namespace concord::vulkan {
namespace {

class VulkanDevice : public gpu::StagedDevice {
 public:
  explicit VulkanDevice(std::shared_ptr<Context> context)
      : context_(std::move(context)),
        allocator_(std::make_shared<Allocator>(context_)),
        pipelines_(std::make_shared<Pipelines>(context_)) {}

  const gpu::DeviceProperties& properties() const override {
    return context_->physical().properties;
  }

  std::unique_ptr<gpu::Memory> allocate(std::size_t bytes, gpu::MemoryKind kind) override {
    return allocator_->allocate(bytes, kind);
  }

  void prepare(const gpu::Kernel& kernel) override { pipelines_->get(kernel); }

  std::unique_ptr<gpu::CommandList> record(std::span<const gpu::Command> commands,
                                           bool timestamps) override {
    return std::make_unique<VulkanCommandList>(context_, pipelines_, commands, timestamps);
  }

 protected:
  void copy(const gpu::MemoryRange& from, const gpu::MemoryRange& to) override {
    const gpu::Command command = gpu::CopyCommand{from, to};
    const auto list = record({&command, 1}, false);
    list->submit();
    list->wait();
  }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Allocator> allocator_;
  std::shared_ptr<Pipelines> pipelines_;
};

}  // namespace

OpenedDevice open_device(const std::string& wanted) {
  const std::shared_ptr<Instance> instance = Instance::get();
  PhysicalDevice physical = select_device(physical_devices(*instance), wanted);
  const auto index = static_cast<int>(physical.index);
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<VulkanDevice>> opened;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<VulkanDevice> device = opened[index].lock();
  if (device == nullptr) {
    device =
        std::make_shared<VulkanDevice>(std::make_shared<Context>(instance, std::move(physical)));
    opened[index] = device;
  }
  return {index, std::move(device)};
}

std::vector<DeviceInfo> device_list() {
  const std::shared_ptr<Instance> instance = Instance::get();
  const std::vector<PhysicalDevice> devices = physical_devices(*instance);
  std::vector<DeviceInfo> infos;
  for (const gpu::Candidate* device : gpu::fit_candidates(
           gpu::candidates_of(devices), "Vulkan",
           "install a driver (Debian: mesa-vulkan-drivers holds one that runs on the CPU), or name "
           "its manifest in VK_ICD_FILENAMES")) {
    infos.push_back(gpu::device_info(static_cast<int>(device->index), device->properties));
  }
  return infos;
}

}  // namespace concord::vulkan
