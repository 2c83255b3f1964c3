#include "backends/cuda/blas.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "backends/gpu/device_error.h"

namespace concord::cuda {

using gpu::Epilogue;
using gpu::LibraryMatmulCommand;

namespace {

// Keeps the number of shapes within bounds for a decoder that grows for ever.
constexpr std::size_t kMostProducts = 4096;

std::string shape_text(const LibraryMatmulCommand& c) {
  return std::to_string(c.batch) + " of " + std::to_string(c.m) + "×" + std::to_string(c.k) +
         " by " + std::to_string(c.k) + "×" + std::to_string(c.n);
}

std::uint32_t alignment_of(gpu::DevicePtr pointer) {
  return 1U << std::min(std::countr_zero(pointer.address | 256U), 8);
}

// The library speaks of columns where we speak of rows: it is asked for yᵀ = bᵀ aᵀ, for which the
// memory is the same, and the bias goes along its rows, as it can.
cublasLtEpilogue_t epilogue_of(const LibraryMatmulCommand& c) {
  const bool biased = c.bias.address != 0;
  switch (c.epilogue) {
    case Epilogue::kRelu:
      return biased ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Epilogue::kGeluTanh:
      return biased ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Epilogue::kNone:
      break;
  }
  return biased ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace

struct Blas::Product {
  template <class T>
  using Handle = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

  Handle<cublasLtMatmulDesc_t> operation;
  Handle<cublasLtMatrixLayout_t> a;  // the library's A: our b
  Handle<cublasLtMatrixLayout_t> b;  // our a
  Handle<cublasLtMatrixLayout_t> d;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
};

Blas::Blas(std::shared_ptr<Context> context, std::shared_ptr<const BlasLibrary> library)
    : context_(std::move(context)), library_(std::move(library)) {
  context_->enter();
  library_->check(library_->cublasLtCreate(&handle_), "starting");
  const CUresult result = Driver::call(context_->driver().cuMemAllocFromPoolAsync, &workspace_,
                                       kWorkspaceBytes, context_->pool(), context_->stream());
  if (result != CUDA_SUCCESS) library_->cublasLtDestroy(handle_);
  context_->check(result, "allocating a workspace for matrix products");
}

Blas::~Blas() {
  Driver::call(context_->driver().cuCtxSetCurrent, context_->handle());
  products_.clear();
  Driver::call(context_->driver().cuMemFreeAsync, workspace_, context_->stream());
  library_->cublasLtDestroy(handle_);
}

Blas::Key Blas::key_of(const LibraryMatmulCommand& command) {
  Key key{command, {alignment_of(command.a), alignment_of(command.b), alignment_of(command.y)}};
  key.command.bias.address = command.bias.address != 0 ? 1 : 0;
  key.command.residual.address = command.residual.address != 0 ? 1 : 0;
  return key;
}

Blas::Product Blas::make_product(const Key& key) const {
  const LibraryMatmulCommand& c = key.command;
  const BlasLibrary& lib = *library_;
  const std::string doing = "preparing " + shape_text(c);
  const bool bytes = c.element_bytes == 1;
  const cudaDataType_t type = bytes ? CUDA_R_8I : c.element_bytes == 2 ? CUDA_R_16F : CUDA_R_32F;
  const cudaDataType_t result_type = bytes ? CUDA_R_32I : c.wide_result ? CUDA_R_32F : type;
  const cublasComputeType_t compute =
      bytes                                ? CUBLAS_COMPUTE_32I
      : c.operands == gpu::Operands::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
      : c.operands == gpu::Operands::kBf16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                           : CUBLAS_COMPUTE_32F;

  const auto layout = [&](cudaDataType_t of, std::int64_t rows, std::int64_t columns,
                          std::int64_t row, std::int64_t batch_stride) {
    cublasLtMatrixLayout_t made = nullptr;
    // Our rows are its columns.
    lib.check(lib.cublasLtMatrixLayoutCreate(&made, of, static_cast<std::uint64_t>(columns),
                                             static_cast<std::uint64_t>(rows), row),
              doing);
    Product::Handle<cublasLtMatrixLayout_t> owned(made, lib.cublasLtMatrixLayoutDestroy);
    const auto count = static_cast<std::int32_t>(c.batch);
    lib.check(lib.cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                   sizeof count),
              doing);
    lib.check(
        lib.cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &batch_stride, sizeof batch_stride),
        doing);
    return owned;
  };
  cublasLtMatmulDesc_t operation = nullptr;
  lib.check(lib.cublasLtMatmulDescCreate(&operation, compute, bytes ? CUDA_R_32I : CUDA_R_32F),
            doing);
  Product product{
      {operation, lib.cublasLtMatmulDescDestroy},
      layout(type, c.transpose_b ? c.n : c.k, c.transpose_b ? c.k : c.n, c.b_row, c.b_batch_stride),
      layout(type, c.transpose_a ? c.k : c.m, c.transpose_a ? c.m : c.k, c.a_row, c.a_batch_stride),
      layout(result_type, c.m, c.n, c.y_row, c.y_batch_stride)};
  const auto set = [&](cublasLtMatmulDescAttributes_t which, const auto& value) {
    lib.check(lib.cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value), doing);
  };
  const cublasOperation_t first = c.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = c.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasLtEpilogue_t epilogue = epilogue_of(c);
  set(CUBLASLT_MATMUL_DESC_TRANSA, first);
  set(CUBLASLT_MATMUL_DESC_TRANSB, second);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);

  cublasLtMatmulPreference_t preference = nullptr;
  lib.check(lib.cublasLtMatmulPreferenceCreate(&preference), doing);
  const Product::Handle<cublasLtMatmulPreference_t> owned(preference,
                                                          lib.cublasLtMatmulPreferenceDestroy);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    lib.check(lib.cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value),
              doing);
  };
  const std::uint64_t workspace = kWorkspaceBytes;
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignment[1]);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignment[0]);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.alignment[2]);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignment[2]);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  lib.check(lib.cublasLtMatmulAlgoGetHeuristic(handle_, operation, product.a.get(), product.b.get(),
                                               product.d.get(), product.d.get(), preference, 1,
                                               &best, &found),
            "choosing an algorithm for " + shape_text(c));
  if (found == 0) {
    gpu::fail_device("cuBLASLt has no algorithm for " + shape_text(c),
                     "matmul=portable does without cuBLASLt");
  }
  product.algorithm = best.algo;
  product.workspace_bytes = best.workspaceSize;
  return product;
}

const Blas::Product& Blas::product(const Key& key) {
  if (products_.size() >= kMostProducts && !products_.contains(key)) products_.clear();
  std::unique_ptr<Product>& known = products_[key];
  if (known == nullptr) known = std::make_unique<Product>(make_product(key));
  return *known;
}

void Blas::enqueue(const LibraryMatmulCommand& command, CUstream stream) {
  const std::scoped_lock lock(mutex_);
  const Product& to_run = product(key_of(command));
  const auto pointer = [](gpu::DevicePtr from) {
    return reinterpret_cast<void*>(from.address);  // NOLINT(performance-no-int-to-ptr)
  };
  if (command.bias.address != 0) {
    const void* bias = pointer(command.bias);
    library_->check(
        library_->cublasLtMatmulDescSetAttribute(
            to_run.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
        "setting a bias");
  }
  const float beta = command.residual.address != 0 ? 1.0F : 0.0F;
  constexpr std::int32_t kOne = 1;
  constexpr std::int32_t kNone = 0;
  const bool bytes = command.element_bytes == 1;  // whose factors are integers
  const void* alpha = bytes ? static_cast<const void*>(&kOne) : &command.alpha;
  const void* added_by = bytes ? static_cast<const void*>(&kNone) : &beta;
  const void* added = pointer(command.residual.address != 0 ? command.residual : command.y);
  library_->check(
      library_->cublasLtMatmul(handle_, to_run.operation.get(), alpha, pointer(command.b),
                               to_run.a.get(), pointer(command.a), to_run.b.get(), added_by, added,
                               to_run.d.get(), pointer(command.y), to_run.d.get(),
                               &to_run.algorithm, reinterpret_cast<void*>(workspace_),
                               to_run.workspace_bytes, reinterpret_cast<cudaStream_t>(stream)),
      "multiplying " + shape_text(command));
}

}  // namespace concord::cuda
