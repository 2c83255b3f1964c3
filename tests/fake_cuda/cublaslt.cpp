// libcublasLt.so.13 of our own for tests, beside the software driver: records what it is asked for
// and computes it on the host, in the stream's order. As cuBLASLt does, it takes matrices by
// columns.

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <cublasLt.h>
#include <cuda.h>

#include "tests/fake_cuda/control.h"
#include "tests/gpu/half.h"

#define FAKE_CUDA_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake_cuda {
namespace {

struct Operation {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasOperation_t transpose_a = CUBLAS_OP_N;
  cublasOperation_t transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType_t scale = CUDA_R_32F;
};

struct Layout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t ld = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

  std::size_t element() const { return type == CUDA_R_8I ? 1 : type == CUDA_R_16F ? 2 : 4; }
  // Bytes from the first element to behind the last one.
  std::size_t span() const {
    const auto last = static_cast<std::int64_t>(columns - 1) * ld + (batch - 1) * stride;
    return (static_cast<std::size_t>(last) + rows) * element();
  }
};

struct Preference {
  std::uint64_t workspace = 0;
};

// One call, with host pointers.
struct Product {
  Operation operation;
  Layout a, b, c, d;
  float alpha = 1;
  float beta = 0;
  CUdeviceptr pointers[5]{};  // a, b, c, d, bias
};

std::string log;

float load(const Layout& layout, const std::byte* data, std::int64_t at) {
  if (layout.type == CUDA_R_16F) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data + 2 * at, 2);
    return concord::gpu::half_value(bits);
  }
  if (layout.type == CUDA_R_8I) return static_cast<float>(static_cast<std::int8_t>(data[at]));
  float value = 0;
  std::memcpy(&value, data + 4 * at, 4);
  return value;
}

void store(const Layout& layout, std::byte* data, std::int64_t at, double value) {
  if (layout.type == CUDA_R_16F) {
    const std::uint16_t bits = concord::gpu::to_half(static_cast<float>(value));
    std::memcpy(data + 2 * at, &bits, 2);
  } else if (layout.type == CUDA_R_32I) {
    const auto bits = static_cast<std::int32_t>(value);
    std::memcpy(data + 4 * at, &bits, 4);
  } else {
    const auto single = static_cast<float>(value);
    std::memcpy(data + 4 * at, &single, 4);
  }
}

double activated(cublasLtEpilogue_t epilogue, double x) {
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) return x > 0 ? x : 0;
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) != 0) {
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  }
  return x;
}

const std::byte* host(CUdeviceptr address, std::size_t bytes) {
  return static_cast<const std::byte*>(fakeCudaHost(address, bytes));
}

// An operand as the operation takes it: with so many bits of its significand.
float operand(const Operation& operation, float value) {
  const unsigned dropped = operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32   ? 13
                           : operation.compute == CUBLAS_COMPUTE_32F_FAST_16BF ? 16
                                                                               : 0;
  if (dropped == 0 || !std::isfinite(value)) return value;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits += (1U << (dropped - 1)) - 1 + (bits >> dropped & 1U);  // to nearest, ties to even
  bits &= ~((1U << dropped) - 1);
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

void multiply(void* data) {
  const auto& p = *static_cast<const Product*>(data);
  const std::byte* a = host(p.pointers[0], p.a.span());
  const std::byte* b = host(p.pointers[1], p.b.span());
  const std::byte* c = host(p.pointers[2], p.c.span());
  auto* d = static_cast<std::byte*>(fakeCudaHost(p.pointers[3], p.d.span()));
  if (a == nullptr || b == nullptr || c == nullptr || d == nullptr) return;
  const bool biased = (p.operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  const std::byte* bias = biased ? host(p.pointers[4], p.d.rows * p.d.element()) : nullptr;
  const bool ta = p.operation.transpose_a != CUBLAS_OP_N;
  const bool tb = p.operation.transpose_b != CUBLAS_OP_N;
  const auto depth = static_cast<std::int64_t>(ta ? p.a.rows : p.a.columns);
  for (std::int64_t z = 0; z < p.d.batch; ++z) {
    for (std::int64_t column = 0; column < static_cast<std::int64_t>(p.d.columns); ++column) {
      for (std::int64_t row = 0; row < static_cast<std::int64_t>(p.d.rows); ++row) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          const float left =
              load(p.a, a, z * p.a.stride + (ta ? row * p.a.ld + k : k * p.a.ld + row));
          const float right =
              load(p.b, b, z * p.b.stride + (tb ? k * p.b.ld + column : column * p.b.ld + k));
          sum += static_cast<double>(operand(p.operation, left)) * operand(p.operation, right);
        }
        sum *= p.alpha;
        const std::int64_t at = z * p.d.stride + column * p.d.ld + row;
        if (p.beta != 0) sum += p.beta * static_cast<double>(load(p.c, c, at));
        if (bias != nullptr) sum += load(p.d, bias, row);
        store(p.d, d, at, activated(p.operation.epilogue, sum));
      }
    }
  }
}

std::string text_of(const Layout& layout) {
  const char* type = layout.type == CUDA_R_16F   ? "f16"
                     : layout.type == CUDA_R_8I  ? "i8"
                     : layout.type == CUDA_R_32I ? "i32"
                                                 : "f32";
  return std::string(type) + " " + std::to_string(layout.rows) + "x" +
         std::to_string(layout.columns) + " ld " + std::to_string(layout.ld) + " batch " +
         std::to_string(layout.batch) + " stride " + std::to_string(layout.stride);
}

// A matrix that fits what the operation wants of it.
bool fits(const Layout& layout, bool transposed, std::uint64_t rows, std::uint64_t columns) {
  const bool shape = transposed ? layout.rows == columns && layout.columns == rows
                                : layout.rows == rows && layout.columns == columns;
  return shape && layout.ld >= static_cast<std::int64_t>(layout.rows);
}

// Whether the library has such a product: which types go together, and for bytes in which form.
bool is_offered(const Product& p, bool ta, bool tb, std::uint64_t depth) {
  const bool bytes = p.operation.compute == CUBLAS_COMPUTE_32I;
  if (bytes != (p.operation.scale == CUDA_R_32I) || bytes != (p.d.type == CUDA_R_32I)) return false;
  if (p.a.type != p.b.type || p.c.type != p.d.type) return false;
  if (!bytes) {
    return p.a.type != CUDA_R_8I && (p.d.type == p.a.type || p.d.type == CUDA_R_32F);
  }
  return p.a.type == CUDA_R_8I && ta && !tb && depth % 4 == 0 && p.d.rows % 4 == 0 &&
         p.a.ld % 4 == 0 && p.b.ld % 4 == 0 && p.d.ld % 4 == 0 &&
         p.operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
}

template <class T>
cublasStatus_t set(T& field, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class T, class Handle>
T& object(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}

// Never freed: work that was captured may run whenever its graph does.
std::vector<std::unique_ptr<Product>>& products() {
  static auto* const all = new std::vector<std::unique_ptr<Product>>;  // NOLINT
  return *all;
}

}  // namespace

// "A: …; B: …; D: …; transposes NT; epilogue 4; beta 0; fast_tf32" (or fast_bf16) of the last
// product.
FAKE_CUDA_EXPORT const char* fakeCublasLog() {
  return log.c_str();
}

FAKE_CUDA_EXPORT std::size_t cublasLtGetVersion() {
  return 130002;
}
FAKE_CUDA_EXPORT const char* cublasLtGetStatusString(cublasStatus_t) {
  return "a test's error";
}

FAKE_CUDA_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static int one = 0;
  *handle = reinterpret_cast<cublasLtHandle_t>(&one);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}

FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made,
                                                         cublasComputeType_t compute,
                                                         cudaDataType_t scale) {
  auto* operation = new Operation;  // NOLINT: a handle
  operation->compute = compute;
  operation->scale = scale;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(operation);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  delete &object<Operation>(handle);  // NOLINT
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                                                               cublasLtMatmulDescAttributes_t which,
                                                               const void* value,
                                                               std::size_t bytes) {
  auto& operation = object<Operation>(handle);
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(operation.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(operation.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(operation.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(operation.bias, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made,
                                                           cudaDataType type, std::uint64_t rows,
                                                           std::uint64_t columns, std::int64_t ld) {
  auto* layout = new Layout{type, rows, columns, ld};  // NOLINT: a handle
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  delete &object<Layout>(handle);  // NOLINT
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t which, const void* value,
    std::size_t bytes) {
  auto& layout = object<Layout>(handle);
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return set(layout.batch, value, bytes);
  if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return set(layout.stride, value, bytes);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);  // NOLINT: a handle
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  delete &object<Preference>(handle);  // NOLINT
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t handle, cublasLtMatmulPreferenceAttributes_t which,
    const void* value, std::size_t bytes) {
  if (which != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    return bytes == 4 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  }
  return set(object<Preference>(handle).workspace, value, bytes);
}

FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t preference, int,
    cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 1;
  results[0].workspaceSize = object<Preference>(preference).workspace / 2;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

FAKE_CUDA_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                               const void* alpha, const void* a,
                                               cublasLtMatrixLayout_t a_layout, const void* b,
                                               cublasLtMatrixLayout_t b_layout, const void* beta,
                                               const void* c, cublasLtMatrixLayout_t c_layout,
                                               void* d, cublasLtMatrixLayout_t d_layout,
                                               const cublasLtMatmulAlgo_t*, void*, std::size_t,
                                               cudaStream_t stream) {
  auto product = std::make_unique<Product>();
  Product& p = *product;
  p.operation = object<Operation>(operation);
  p.a = object<Layout>(a_layout);
  p.b = object<Layout>(b_layout);
  p.c = object<Layout>(c_layout);
  p.d = object<Layout>(d_layout);
  const auto factor = [&](const void* at) {
    return p.operation.scale == CUDA_R_32I
               ? static_cast<float>(*static_cast<const std::int32_t*>(at))
               : *static_cast<const float*>(at);
  };
  p.alpha = factor(alpha);
  p.beta = factor(beta);
  const void* pointers[] = {a, b, c, d, p.operation.bias};
  for (int i = 0; i < 5; ++i) p.pointers[i] = reinterpret_cast<CUdeviceptr>(pointers[i]);
  const bool ta = p.operation.transpose_a != CUBLAS_OP_N;
  const bool tb = p.operation.transpose_b != CUBLAS_OP_N;
  const std::uint64_t depth = ta ? p.a.rows : p.a.columns;
  log = "A: " + text_of(p.a) + "; B: " + text_of(p.b) + "; D: " + text_of(p.d) + "; transposes " +
        (ta ? "T" : "N") + (tb ? "T" : "N") + "; epilogue " +
        std::to_string(static_cast<int>(p.operation.epilogue)) + "; beta " +
        std::to_string(static_cast<int>(p.beta)) +
        (p.operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32   ? "; fast_tf32"
         : p.operation.compute == CUBLAS_COMPUTE_32F_FAST_16BF ? "; fast_bf16"
                                                               : "");
  if (!is_offered(p, ta, tb, depth)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!fits(p.a, ta, p.d.rows, depth) || !fits(p.b, tb, depth, p.d.columns) ||
      !fits(p.d, false, p.d.rows, p.d.columns)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool biased = (p.operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  const std::size_t spans[] = {p.a.span(), p.b.span(), p.c.span(), p.d.span(),
                               p.d.rows * p.d.element()};
  for (int i = 0; i < (biased ? 5 : 4); ++i) {
    if (fakeCudaHost(p.pointers[i], spans[i]) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  }
  products().push_back(std::move(product));
  const CUresult given =
      cuLaunchHostFunc(reinterpret_cast<CUstream>(stream), multiply, products().back().get());
  return given == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace fake_cuda
