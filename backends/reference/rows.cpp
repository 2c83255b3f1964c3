#include "backends/reference/rows.h"

#include <algorithm>

#include "backends/host/elements.h"

namespace concord::reference {

Rows::Rows(const Shape& shape, const std::vector<Shape>& operands)
    : operands_(operands.size()), count_(element_count(shape)), strides_(operands.size()) {
  std::vector<Shape> strides;
  for (const Shape& operand : operands) strides.push_back(host::broadcast_strides(operand, shape));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool joins = !extents_.empty();
    for (std::size_t k = 0; k < operands_ && joins; ++k) {
      joins = strides_[k].back() == strides[k][d] * shape[d];
    }
    if (joins) {
      extents_.back() *= shape[d];
      for (std::size_t k = 0; k < operands_; ++k) strides_[k].back() = strides[k][d];
    } else {
      extents_.push_back(shape[d]);
      for (std::size_t k = 0; k < operands_; ++k) strides_[k].push_back(strides[k][d]);
    }
  }
  if (extents_.empty()) {
    extents_.push_back(1);
    for (Shape& s : strides_) s.push_back(0);
  }
  for (const Shape& s : strides_) steps_.push_back(s.back());
}

std::int64_t Rows::place(std::int64_t begin, std::int64_t end,
                         std::vector<std::int64_t>& offsets) const {
  std::fill(offsets.begin(), offsets.end(), 0);
  std::int64_t rest = begin;
  for (std::size_t d = extents_.size(); d-- > 0;) {
    const std::int64_t at = rest % extents_[d];
    rest /= extents_[d];
    for (std::size_t k = 0; k < operands_; ++k) offsets[k] += at * strides_[k][d];
  }
  return std::min(end - begin, extents_.back() - begin % extents_.back());
}

}  // namespace concord::reference
