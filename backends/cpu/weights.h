#pragma once

#include <compare>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "backends/cpu/kernels/matmul.h"
#include "graph/tensor.h"

namespace concord::cpu {

// A constant matrix of weights [rows = k, cols = n] inside a tensor of the model.
struct WeightMatrix {
  Tensor tensor;            // what the matrix is part of
  std::int64_t offset = 0;  // elements from the tensor's start
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
};

MatrixView view_of(const WeightMatrix& matrix);

// Packs weights once: the same matrices asked for again (tied weights) give the same copy. The
// mapped pages of the source are let go as soon as it is packed.
class WeightStore {
 public:
  std::shared_ptr<const PackedWeights> pack(const std::vector<WeightMatrix>& matrices,
                                            Element storage);
  // The packed copy of exactly this matrix, if there is one.
  std::shared_ptr<const PackedWeights> find(const WeightMatrix& matrix, Element storage) const;
  std::int64_t bytes() const { return bytes_; }

 private:
  using Key = std::vector<std::tuple<const std::byte*, std::int64_t, std::int64_t, std::int64_t,
                                     std::int64_t, Element>>;
  static Key key_of(const std::vector<WeightMatrix>& matrices, Element storage);

  std::map<Key, std::shared_ptr<const PackedWeights>> packed_;
  std::int64_t bytes_ = 0;
};

}  // namespace concord::cpu
