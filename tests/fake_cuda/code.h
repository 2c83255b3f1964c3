#pragma once

// Kernels: their entry points in PTX, and their twins in SPIR-V.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

struct PtxParam {
  std::uint32_t offset = 0;  // bytes
  std::uint32_t bytes = 0;
};

struct PtxEntry {
  std::vector<PtxParam> params;
  std::uint32_t bytes() const {
    return params.empty() ? 0 : params.back().offset + params.back().bytes;
  }
};

struct PtxText {
  int version = 0;  // 80 is 8.0
  int target = 0;   // 75 is sm_75
  std::map<std::string, PtxEntry> entries;
};

// Throws std::runtime_error with what is wrong.
PtxText read_ptx(const std::string& text);

// What a Vulkan driver needs to know of a kernel.
struct Twin {
  std::string file;
  std::array<std::uint32_t, 3> workgroup{1, 1, 1};
  std::vector<std::uint32_t> offsets;  // of push constants, sorted
  std::vector<bool> is_pointer;        // of each
};

// The twin of a kernel in the folder of SPIR-V files. Throws std::runtime_error when there is none.
const Twin& find_twin(const std::string& kernel);

std::vector<std::uint32_t> read_words(const std::string& file);

}  // namespace fake_cuda
