#pragma once

// A family of kernels: what slangc says about the .slang files that share a generated header.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/embed/ptx_module.h"
#include "backends/gpu/embed/spirv_module.h"

namespace concord::embed {

struct Param {
  std::string name;
  std::string kind;          // a ParamType enumerator
  std::string pointee;       // for pointers: what slangc calls the target's type
  std::uint32_t offset = 0;  // bytes
  std::uint32_t bytes = 0;
  friend bool operator==(const Param&, const Param&) = default;
};

struct KernelInfo {
  std::string name;
  std::array<std::uint32_t, 3> workgroup{1, 1, 1};
  std::vector<Param> params;
  std::string params_struct;  // filled by name_structs
  std::uint32_t param_bytes() const;
};

struct ModuleInfo {
  std::string name;
  SpirvModule spirv;
  PtxModule ptx;  // empty text: none
  // For matrix units: its SPIR-V only emulates them, and is not embedded.
  bool is_coop = false;
  std::vector<KernelInfo> kernels;
};

struct Family {
  std::string name;
  std::vector<ModuleInfo> modules;
};

// The kernels in slangc's -reflection-json text. Throws std::runtime_error for a parameter that
// breaks the conventions of backends/gpu/kernels (flat scalars and pointers, 128 bytes).
std::vector<KernelInfo> read_reflection(const std::string& json_text);

// Checks that code and reflection place parameters alike.
void check_offsets(const ModuleInfo& module);

// Gives every kernel its parameter struct: kernels with equal parameters share one. The first
// kernel's is called after the family ("SoftmaxParams"), others after the kernel that needs them
// first, without data type and width ("softmax_masked_wave8_f32" → "SoftmaxMaskedParams").
void name_structs(Family& family);

std::string header_text(const Family& family);
std::string source_text(const Family& family);
// The family's PTX as a source of its own, which only the CUDA backend links.
std::string ptx_source_text(const Family& family);

// "softmax_f16" → "Softmax" with `drop_types`, else "SoftmaxF16".
std::string camel_case(const std::string& name, bool drop_types);

}  // namespace concord::embed
