#pragma once

#include <vector>

#include "backends/reference/product.h"
#include "graph/tensor.h"

namespace concord::reference {

// Where the matrices of a batched product lie. Throws Error(invalid) if the shapes do not fit.
class MatmulGeometry {
 public:
  struct Place {
    std::int64_t offset;
    std::int64_t row;
    std::int64_t column;
  };

  MatmulGeometry(const Shape& a, const Shape& b, bool trans_a, bool trans_b);

  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 0;
  Shape shape;  // of the result

  // a as [m, k] and b as [k, n], of the i-th product.
  Place left_place(std::int64_t i) const {
    return {left_offsets_[static_cast<std::size_t>(i)], left_.row, left_.column};
  }
  Place right_place(std::int64_t i) const {
    return {right_offsets_[static_cast<std::size_t>(i)], right_.row, right_.column};
  }
  MatrixView left(const double* a, std::int64_t i) const {
    const Place p = left_place(i);
    return {a + p.offset, p.row, p.column};
  }
  MatrixView right(const double* b, std::int64_t i) const {
    const Place p = right_place(i);
    return {b + p.offset, p.row, p.column};
  }

 private:
  Place left_{};
  Place right_{};
  std::vector<std::int64_t> left_offsets_;
  std::vector<std::int64_t> right_offsets_;
};

}  // namespace concord::reference
