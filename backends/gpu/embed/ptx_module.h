#pragma once

// Reading and reducing PTX as slangc writes it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace concord::embed {

// The PTX version that modules are marked with: the driver of CUDA 12.0, the oldest that the
// backend starts on, reads it. NVRTC marks them with its own, which only its own driver reads.
constexpr const char* kPtxVersion = "8.0";

struct PtxModule {
  std::string text;                                                 // without comments
  std::map<std::string, std::vector<std::uint32_t>> param_offsets;  // entry point → offsets
};

// Throws std::runtime_error for text that isn't PTX, or whose entry points take other parameters
// than scalars.
PtxModule read_ptx(const std::string& text);

// What `ptxas -v` says about one kernel.
struct KernelUse {
  std::string name;
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t stack_bytes = 0;
  std::uint32_t spill_bytes = 0;  // stores and loads
};

std::vector<KernelUse> read_ptxas_log(const std::string& text);

}  // namespace concord::embed
