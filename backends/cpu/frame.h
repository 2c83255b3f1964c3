#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/dim.h"

namespace concord::cpu {

// A place in one of a plan's memory areas. Area 0 is the null pointer: an omitted operand.
struct Ref {
  std::uint32_t area = 0;
  std::int64_t offset = 0;  // bytes

  explicit operator bool() const { return area != 0; }
  Ref plus(std::int64_t bytes) const { return {area, offset + bytes}; }
};

// Where the areas lie in this run; all that a step sees of it.
struct Frame {
  std::byte* const* areas = nullptr;
  const Bindings* bindings = nullptr;

  template <typename T = std::byte>
  T* at(Ref ref) const {
    return reinterpret_cast<T*>(areas[ref.area] + ref.offset);
  }
};

// One action of a plan: a kernel with everything but the addresses decided.
class Action {
 public:
  virtual ~Action() = default;
  virtual void run(const Frame& frame) const = 0;
};

}  // namespace concord::cpu
