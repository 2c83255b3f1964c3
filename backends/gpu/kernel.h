#pragma once

// What the build knows about a kernel: its code for each driver, workgroup size and parameter
// block. The tables behind these types are generated from backends/gpu/kernels/*.slang; a family
// of kernels (softmax.slang, softmax_f16.slang, …) gets one generated header
// "backends/gpu/kernels/<family>.h" with a constant per kernel and a struct per parameter block.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace concord::gpu {

// A pointer in a parameter block: the address of device memory, 0 for none.
struct DevicePtr {
  std::uint64_t address = 0;
  friend bool operator==(DevicePtr, DevicePtr) = default;
};

enum class ParamType : std::uint8_t { kPointer, kI32, kU32, kF32, kI64, kU64 };

struct KernelParam {
  std::string_view name;
  ParamType type = ParamType::kI32;
  std::uint32_t offset = 0;  // bytes from the start of the parameter block
};

// Abilities beyond the floor (Vulkan 1.2 with buffer device addresses) that code may need.
struct KernelNeeds {
  bool f16 = false;  // arithmetic or conversion on 16-bit floats
  bool f64 = false;
  bool i8 = false;
  bool i16 = false;
  bool i64 = false;
  bool storage8 = false;   // 8-bit loads and stores
  bool storage16 = false;  // 16-bit loads and stores
  bool subgroups = false;  // any wave operation beyond the lane count
  bool int8_dot = false;
  bool cooperative_matrix = false;
};

// One compiled .slang file.
struct KernelModule {
  std::string_view name;
  std::span<const std::uint32_t> spirv;  // empty: for CUDA only
  bool has_ptx = false;                  // for ptx_of()
  KernelNeeds needs;
};

struct Kernel {
  std::string_view name;  // the entry point's name, unique over all modules
  const KernelModule* module = nullptr;
  std::array<std::uint32_t, 3> workgroup{1, 1, 1};
  std::span<const KernelParam> params;
  std::uint32_t param_bytes = 0;  // size of the parameter block, a multiple of 4
  std::string_view params_struct;
};

// A kernel that takes the parameter block `Params`.
template <class Params>
struct TypedKernel {
  Kernel kernel;
  operator const Kernel&() const { return kernel; }  // NOLINT(google-explicit-constructor)
};

struct KernelText {
  std::string_view module;
  std::string_view text;
};

// The module's PTX; empty where it has none. Only in builds with CUDA, in a library of its own.
std::string_view ptx_of(const KernelModule& module);

// All kernels of this build, family by family, and sorted by name.
std::vector<std::span<const Kernel* const>> kernel_families();
std::span<const Kernel* const> all_kernels();

// Null when no kernel has that name.
const Kernel* find_kernel(std::string_view name);

// The kernel with that name, which must take `Params`; null when there is none. For choosing
// among variants by a composed name.
template <class Params>
const Kernel* find_kernel_of(std::string_view name) {
  const Kernel* kernel = find_kernel(name);
  return kernel != nullptr && kernel->params_struct == Params::struct_name ? kernel : nullptr;
}

}  // namespace concord::gpu
