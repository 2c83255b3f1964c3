#include "backends/gpu/device.h"

#include <utility>

namespace concord::gpu {

std::string missing_for(const Kernel& kernel, const DeviceProperties& properties) {
  const KernelNeeds& needs = kernel.module->needs;
  const KernelNeeds& has = properties.abilities;
  const std::pair<bool, const char*> checks[] = {
      {needs.f16 && !has.f16, "16-bit floats"},
      {needs.f64 && !has.f64, "64-bit floats"},
      {needs.i8 && !has.i8, "8-bit integers"},
      {needs.i16 && !has.i16, "16-bit integers"},
      {needs.i64 && !has.i64, "64-bit integers"},
      {needs.storage8 && !has.storage8, "8-bit storage"},
      {needs.storage16 && !has.storage16, "16-bit storage"},
      {needs.subgroups && !has.subgroups, "subgroup operations"},
      {needs.int8_dot && !has.int8_dot, "8-bit dot products"},
      {needs.cooperative_matrix && !has.cooperative_matrix, "cooperative matrices"},
  };
  if (properties.runs_ptx && !kernel.module->has_ptx) return "it is not compiled for CUDA";
  if (!properties.runs_ptx && kernel.module->spirv.empty()) return "it is compiled for CUDA only";
  for (const auto& [missing, what] : checks) {
    if (missing) return std::string("the device has no ") + what;
  }
  return {};
}

std::unique_ptr<CommandList> Device::record_again(std::unique_ptr<CommandList> old,
                                                  std::span<const Command> commands,
                                                  bool timestamps) {
  old.reset();
  return record(commands, timestamps);
}

}  // namespace concord::gpu
