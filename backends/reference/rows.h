#pragma once

#include <cstdint>
#include <vector>

#include "graph/tensor.h"

namespace concord::reference {

// The elements of a shape beside those of operands that are broadcast to it, in runs along which
// every operand advances evenly.
class Rows {
 public:
  // Operands of lower rank are aligned at the last axis.
  Rows(const Shape& shape, const std::vector<Shape>& operands);

  std::int64_t count() const { return count_; }

  // visit(first, n, offsets, steps) for runs that cover the flat range [begin, end): element
  // first + i of the shape belongs to element offsets[k] + i·steps[k] of operand k.
  template <typename F>
  void visit(std::int64_t begin, std::int64_t end, F&& visit_run) const {
    std::vector<std::int64_t> offsets(operands_);
    while (begin < end) {
      const std::int64_t n = place(begin, end, offsets);
      visit_run(begin, n, offsets.data(), steps_.data());
      begin += n;
    }
  }

 private:
  // Offsets at a flat position, and how many elements follow in one run.
  std::int64_t place(std::int64_t begin, std::int64_t end,
                     std::vector<std::int64_t>& offsets) const;

  std::size_t operands_;
  std::int64_t count_;
  Shape extents_;               // merged axes
  std::vector<Shape> strides_;  // per operand
  std::vector<std::int64_t> steps_;
};

}  // namespace concord::reference
