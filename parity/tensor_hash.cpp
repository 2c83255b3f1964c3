#include "parity/tensor_hash.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace concord::parity {

std::uint64_t hash_of(const Tensor& tensor) {
  std::uint64_t hash = 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(tensor.dtype());
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 31;
  };
  for (const std::int64_t extent : tensor.shape()) mix(static_cast<std::uint64_t>(extent));
  if (tensor.dtype() == DataType::string) {
    for (const std::string& text : tensor.strings()) mix(std::hash<std::string>{}(text));
    return hash;
  }
  if (is_container(tensor.dtype())) {
    for (const Tensor& item : tensor.items()) mix(hash_of(item));
    return hash;
  }
  const auto bytes = static_cast<std::size_t>(tensor.bytes());
  const std::byte* from = tensor.in_place();
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, std::min(sizeof word, bytes - at));
    mix(word);
  }
  return hash;
}

}  // namespace concord::parity
