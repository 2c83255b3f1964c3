#include "backends/cuda/kernels.h"

#include <array>
#include <string>

#include "backends/gpu/device.h"
#include "backends/gpu/device_error.h"

namespace concord::cuda {

CUmodule Kernels::load(const gpu::Kernel& kernel) {
  Handle<CUmodule>& known = modules_[kernel.module];
  if (known) return known.get();
  const Driver& driver = context_->driver();
  const std::string text(gpu::ptx_of(*kernel.module));  // with the NUL that the driver looks for
  std::array<char, 4096> log{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result =
      Driver::call(driver.cuModuleLoadDataEx, &module, static_cast<const void*>(text.c_str()),
                   static_cast<unsigned>(options.size()), options.data(), values.data());
  std::string doing = "loading kernel " + std::string(kernel.name) + " (" +
                      std::string(kernel.module->name) + ") on " +
                      context_->physical().properties.name;
  if (log[0] != '\0') doing += ", of which the driver says '" + std::string(log.data()) + "',";
  context_->check(result, doing);
  known = context_->own(module, driver.cuModuleUnload);
  return module;
}

CUfunction Kernels::get(const gpu::Kernel& kernel) {
  const std::scoped_lock lock(mutex_);
  CUfunction& known = functions_[&kernel];
  if (known != nullptr) return known;
  const std::string name(kernel.name);
  const std::string missing = missing_for(kernel, context_->physical().properties);
  if (!missing.empty()) {
    gpu::fail_device("kernel " + name + " cannot run: " + missing, "use another device");
  }
  context_->enter();
  const CUmodule module = load(kernel);
  context_->check(
      Driver::call(context_->driver().cuModuleGetFunction, &known, module, name.c_str()),
      "finding kernel " + name);
  return known;
}

}  // namespace concord::cuda
