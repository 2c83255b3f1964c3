#pragma once

// Reading and reducing SPIR-V as slangc writes it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace concord::embed {

struct Member {
  std::string name;
  std::string c_type;       // "std::int32_t", "DevicePtr", …
  std::uint32_t count = 1;  // array elements
  bool is_array = false;
  std::uint32_t offset = 0;  // bytes
};

struct SpirvModule {
  std::vector<std::uint32_t> words;  // without names, sources and lines
  std::vector<std::uint32_t> capabilities;
  std::map<std::string, std::vector<std::uint32_t>> push_offsets;  // entry point → offsets
  std::map<std::string, std::vector<Member>> structs;  // reached through pointers, by name
};

// Throws std::runtime_error when the words aren't SPIR-V, or hold an instruction that a driver
// at the floor refuses.
SpirvModule read_spirv(const std::vector<std::uint32_t>& words);

}  // namespace concord::embed
