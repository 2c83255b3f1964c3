#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/kernels/matmul.h"

namespace concord::cpu {

// Matrix products by oneDNN, with weights packed by it: an implementation that shares nothing with
// kernels/matmul, so that it can be told whether a difference is of our making
// (`cpu:matmul=library`). Immutable to its users; may be used by many threads at once.
class OnednnProduct {
 public:
  // Weights [k, n]; storage f32 or bf16.
  static std::shared_ptr<const OnednnProduct> pack(const MatrixView& matrix, Element storage);
  ~OnednnProduct();

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }
  Element storage() const { return storage_; }
  std::size_t bytes() const;

  // As matmul(), but epilogue.scale must be 1, and c may not be the residual.
  void run(const MatmulArgs& args) const;

 private:
  OnednnProduct() = default;
  struct State;
  std::unique_ptr<State> state_;
  std::int64_t k_ = 0;
  std::int64_t n_ = 0;
  Element storage_ = Element::f32;
};

// "oneDNN 3.2.0"
const char* onednn_version();

}  // namespace concord::cpu
