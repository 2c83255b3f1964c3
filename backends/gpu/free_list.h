#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace concord::gpu {

// Hands out parts of one block of memory, first fit. All in bytes.
class FreeList {
 public:
  FreeList(std::size_t bytes, std::size_t alignment);  // alignment: a power of two

  std::optional<std::size_t> allocate(std::size_t bytes);
  void free(std::size_t offset);  // what allocate returned
  bool unused() const { return used_.empty(); }
  std::size_t largest_free() const;

 private:
  std::size_t alignment_;
  std::map<std::size_t, std::size_t> free_;  // offset → bytes
  std::map<std::size_t, std::size_t> used_;
};

}  // namespace concord::gpu
