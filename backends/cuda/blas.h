#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "backends/cuda/blas_library.h"
#include "backends/cuda/context.h"
#include "backends/gpu/device.h"

namespace concord::cuda {

// Matrix products by cuBLASLt. The algorithm for a shape is asked for once and kept. One workspace
// serves all, so that products must run one after the other.
class Blas {
 public:
  // More helps split products along k only, and these want no more than this.
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

  Blas(std::shared_ptr<Context> context, std::shared_ptr<const BlasLibrary> library);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  // Gives y = act(alpha · a b + bias + residual) to the stream.
  void enqueue(const gpu::LibraryMatmulCommand& command, CUstream stream);

 private:
  // A product but for its addresses, of which only the alignment and the presence count.
  struct Key {
    gpu::LibraryMatmulCommand command;
    std::array<std::uint32_t, 3> alignment{};  // of a, b, y
    auto tie() const {
      const gpu::LibraryMatmulCommand& c = command;
      return std::tie(c.bias.address, c.residual.address, c.batch, c.m, c.n, c.k, c.a_batch_stride,
                      c.b_batch_stride, c.y_batch_stride, c.a_row, c.b_row, c.y_row, c.transpose_a,
                      c.transpose_b, c.alpha, c.epilogue, c.element_bytes, c.wide_result,
                      c.operands, alignment);
    }
    friend bool operator<(const Key& a, const Key& b) { return a.tie() < b.tie(); }
  };
  struct Product;

  static Key key_of(const gpu::LibraryMatmulCommand& command);
  const Product& product(const Key& key);
  Product make_product(const Key& key) const;

  std::shared_ptr<Context> context_;
  std::shared_ptr<const BlasLibrary> library_;
  std::mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
  CUdeviceptr workspace_ = 0;
  std::map<Key, std::unique_ptr<Product>> products_;
};

}  // namespace concord::cuda
