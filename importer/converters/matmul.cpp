#include <algorithm>
#include <numeric>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

void matmul(Conversion& c) {
  c.output(0, numpy_matmul(c, c.input(0), c.input(1),
                           [&](ValueId a, ValueId b) { return c.matmul(a, b); }));
}

// alpha·op(a)·op(b) + beta·c, of rank 2; c broadcasts.
ValueId gemm_of(Conversion& c) {
  const double alpha = c.number("alpha", 1.0);
  const double beta = c.number("beta", 1.0);
  if (c.opset() < 7) c.ignore({"broadcast"});
  ValueId bias = c.optional_input(2);
  if (beta == 0) bias = {};
  if (bias.valid() && beta != 1) bias = c.binary(BinaryFn::mul, bias, beta);
  const ValueId a = c.input(0);
  const ValueId b = c.input(1);
  if ((c.rank(a) && *c.rank(a) != 2) || (c.rank(b) && *c.rank(b) != 2)) {
    c.invalid("expects operands of rank 2");
  }
  return c.matmul(a, b, bias, alpha, c.flag("transA"), c.flag("transB"));
}

void gemm(Conversion& c) {
  c.output(0, gemm_of(c));
}

void fused_gemm(Conversion& c) {
  const auto parameter = [&](std::string_view name) {
    return c.has_attribute(name) ? std::optional(c.number(name)) : std::nullopt;
  };
  c.ignore({"activation_gamma"});
  c.output(0, activate(c, c.text("activation", ""), gemm_of(c), parameter("activation_alpha"),
                       parameter("activation_beta")));
}

// Moves axis 0 behind the batch axes: [M, b…, K] → [b…, M, K].
ValueId batch_first(Conversion& c, ValueId x) {
  const std::int64_t rank = c.known_rank(x);
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  return c.transpose(x, perm);
}

void fused_matmul(Conversion& c) {
  const double alpha = c.number("alpha", 1.0);
  ValueId a = c.input(0);
  ValueId b = c.input(1);
  if (c.flag("transBatchA")) a = batch_first(c, a);
  if (c.flag("transBatchB")) b = batch_first(c, b);
  // A vector is not transposed.
  const bool trans_a = c.flag("transA") && c.rank(a) != 1;
  const bool trans_b = c.flag("transB") && c.rank(b) != 1;
  c.output(0, numpy_matmul(c, a, b, [&](ValueId x, ValueId y) {
             return c.matmul(x, y, {}, alpha, trans_a, trans_b);
           }));
}

void matmul_nbits(Conversion& c) {
  c.ignore({"weight_prepacked"});
  const std::int64_t k = c.integer("K");
  const std::int64_t n = c.integer("N");
  const std::int64_t bits = c.integer("bits", 4);
  const std::int64_t block = c.integer("block_size");
  if (k < 1 || n < 1 || block < 1 || bits < 1 || bits > 8 || block > (1 << 20) ||
      k > (std::int64_t{1} << 40) || n > (std::int64_t{1} << 40)) {
    c.invalid("attributes K, N, bits or block_size are out of range");
  }
  if (c.has_input(4)) {
    // Only the order that changes nothing.
    const auto groups = c.known_integers(c.input(4));
    if (!groups) c.unsupported("g_idx");
    for (std::size_t i = 0; i < groups->size(); ++i) {
      if ((*groups)[i] != static_cast<std::int64_t>(i) / block) c.unsupported("g_idx");
    }
  }
  const std::int64_t blocks = (k + block - 1) / block;
  const std::int64_t bytes = (block * bits + 7) / 8;
  const ValueId a = c.input(0);
  const ValueId b = c.reshape(c.input(1), {n, blocks, bytes});
  const ValueId scales = c.reshape(c.input(2), {n, blocks});
  ValueId zero_points = c.optional_input(3);
  if (zero_points.valid()) {
    const bool packed = c.dtype(zero_points) == DataType::u8;
    zero_points = c.reshape(zero_points, {n, packed ? (blocks * bits + 7) / 8 : blocks});
  }
  c.output(0, c.emit(OpKind::matmul_nbits, {a, b, scales, zero_points, c.optional_input(5)},
                     {{"bits", bits},
                      {"block_size", block},
                      {"k", k},
                      {"n", n},
                      {"accuracy_level", c.integer("accuracy_level", 0)}}));
}

void det(Conversion& c) {
  c.output(0, c.emit(OpKind::det, {c.input(0)}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Det", 11, kLatest, det},
    {kOnnx, "Gemm", 1, kLatest, gemm},
    {kOnnx, "MatMul", 1, kLatest, matmul},
    {kMicrosoft, "FusedGemm", 1, kLatest, fused_gemm},
    {kMicrosoft, "FusedMatMul", 1, kLatest, fused_matmul},
    {kMicrosoft, "MatMulNBits", 1, kLatest, matmul_nbits},
    {kMicrosoft, "TransposeMatMul", 1, kLatest, fused_matmul},
};

}  // namespace

std::span<const Converter> matmul_converters() {
  return kConverters;
}

}  // namespace concord::importer
