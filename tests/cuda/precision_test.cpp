// Which kernels carry out which precision, and what a device without it says. Run on devices of
// both kinds: capability 7.5 has no matrix units for these kernels, 8.0 has.

#include <gmock/gmock.h>

#include "backends/gpu/gpu_backend.h"
#include "tests/cuda/cuda_fixture.h"
#include "tests/gpu/device_fixture.h"
#include "tests/gpu/lowering_fixture.h"
#include "tests/graph/builder.h"

namespace concord::cuda {
namespace {

using testing::HasSubstr;

std::string refusal(Precision precision, bool library) {
  CompileOptions options;
  options.precision = precision;
  return error_of([&] { gpu::make_backend("cuda", 0, open_fake(true, library), options); });
}

bool has_matrix_units() {
  return gpu::test_device().properties().short_products;
}

TEST(CudaPrecision, IsRefusedWhereTheDeviceLacksIt) {
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    const std::string said = refusal(precision, true);
    if (has_matrix_units()) {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_THAT(said, HasSubstr("no precision=" + std::string(to_string(precision))));
      EXPECT_THAT(said, HasSubstr("software driver 0 has no products of such operands"));
    }
  }
  EXPECT_EQ(refusal(Precision::f16, true), "");
}

TEST(CudaPrecision, Tf32NeedsTheLibrary) {
  if (!has_matrix_units()) GTEST_SKIP() << "no tf32";
  EXPECT_THAT(refusal(Precision::tf32, false), HasSubstr("only cuBLASLt has it"));
  EXPECT_EQ(refusal(Precision::bf16, false), "");
}

TEST(CudaPrecision, Int8WantsAQuantisedModel) {
  gpu::NodeCase test{"unary", {{"fn", std::string("exp")}}, {gpu::random_floats({4}, 1)}};
  test.precision = Precision::int8;
  EXPECT_THAT(error_of([&] { gpu::plan_node(test); }),
              HasSubstr("precision=int8 on a model of floats"));
}

// Bytes that a product of bytes [4, 256] by [256, 512] through the library needs.
MemoryUse memory_of_bytes(bool constant) {
  graph::Builder b;
  const Tensor weights = Tensor::zeros(DataType::i8, {256, 512});
  const graph::ValueId x = b.input("x", DataType::i8, {Dim(4), Dim(256)});
  const graph::ValueId w =
      constant ? b.constant(weights) : b.input("w", DataType::i8, {Dim(256), Dim(512)});
  b.graph.outputs = {b.op(graph::OpKind::matmul_integer, {x, w})};
  const auto backend = gpu::make_backend("cuda", 0, open_fake(true, true), {});
  return backend->compile(std::make_shared<graph::Graph>(b.graph), {})->plan({})->memory();
}

// A byte for each weight, and a sum for each column, packed before anything runs.
TEST(CudaInt8, PacksConstantsOnce) {
  constexpr std::int64_t kWeights = 256 * 512;
  const MemoryUse constant = memory_of_bytes(true);
  EXPECT_EQ(constant.weights, kWeights + 512 * 4);
  EXPECT_LT(constant.activations, kWeights);
  const MemoryUse computed = memory_of_bytes(false);
  EXPECT_EQ(computed.weights, 0);
  EXPECT_GT(computed.activations, kWeights);
}

gpu::NodeCase attention(std::int64_t queries, std::int64_t keys, Precision precision) {
  gpu::NodeCase test{"attention",
                     {{"q_layout", std::string("bhsd")},
                      {"k_layout", std::string("bhsd")},
                      {"v_layout", std::string("bhsd")},
                      {"y_layout", std::string("bhsd")},
                      {"scale", 0.25},
                      {"causal", std::string("bottom_right")},
                      {"window", std::int64_t{-1}},
                      {"softcap", 0.0},
                      {"nan_to_zero", std::int64_t{0}},
                      {"softmax_precision", DataType::undefined}},
                     {}};
  for (const std::int64_t rows : {queries, keys, keys}) {
    test.inputs.push_back(gpu::random_floats({1, 4, rows, 16}, 1));
  }
  test.precision = precision;
  return test;
}

TEST(CudaAttention, KeepsNoScoresInMemory) {
  constexpr std::int64_t kRows = 512;
  const gpu::Planned planned = gpu::plan_node(attention(kRows, kRows, Precision::f32));
  EXPECT_EQ(planned.step.kernel, "attention_flash64_f32");
  EXPECT_LT(planned.activations, 4 * kRows * kRows * 4 / 4) << "scores would take four times that";
}

TEST(CudaAttention, OfFewQueriesSpreadsTheKeys) {
  const gpu::Planned planned = gpu::plan_node(attention(1, 100, Precision::f32));
  EXPECT_THAT(planned.step.kernel, HasSubstr("matmul_gemv"));
}

TEST(CudaAttention, TakesMatrixUnitsWhereThereAre) {
  const gpu::Planned half = gpu::plan_node(attention(64, 64, Precision::f16));
  if (!has_matrix_units()) {
    EXPECT_EQ(half.step.kernel, "attention_flash64_f16");
    return;
  }
  EXPECT_EQ(half.step.kernel, "attention_flash64_coop_copied_f16");
  EXPECT_EQ(half.step.precision.operand, DataType::f16);
  const gpu::Planned brain = gpu::plan_node(attention(64, 64, Precision::bf16));
  EXPECT_EQ(brain.step.kernel, "attention_flash64_coop_bf16");
  EXPECT_EQ(brain.step.precision.operand, DataType::bf16);
  EXPECT_EQ(brain.step.precision.store, DataType::f32);
}

TEST(CudaMatmul, TakesMatrixUnitsWhereThereAre) {
  gpu::NodeCase test{
      "matmul", {}, {gpu::random_floats({40, 32}, 1), gpu::random_floats({32, 24}, 2)}};
  test.precision = Precision::f16;
  EXPECT_EQ(gpu::plan_node(test).step.kernel,
            has_matrix_units() ? "matmul_coop64_copied_f16" : "matmul_tile32_f16");
  test.precision = Precision::f32;
  EXPECT_EQ(gpu::plan_node(test).step.kernel, "matmul_tile32_f32");
  if (!has_matrix_units()) return;
  test.precision = Precision::bf16;
  const gpu::Planned planned = gpu::plan_node(test);
  EXPECT_EQ(planned.step.kernel, "matmul_coop64_bf16");
  EXPECT_EQ(planned.step.precision.operand, DataType::bf16);
  EXPECT_EQ(planned.step.precision.accumulate, DataType::f32);
}

// Vectors of eight of f16: rows of other lengths, and columns of a, are loaded one by one.
TEST(CudaMatmul, CopiesTilesThatLieInVectors) {
  if (!has_matrix_units()) GTEST_SKIP() << "no matrix units";
  const auto kernel = [](Shape a, Shape b, std::int64_t trans_a, std::int64_t trans_b) {
    gpu::NodeCase test{"matmul",
                       {{"trans_a", trans_a}, {"trans_b", trans_b}},
                       {gpu::random_floats(std::move(a), 1), gpu::random_floats(std::move(b), 2)}};
    test.precision = Precision::f16;
    return gpu::plan_node(test).step.kernel;
  };
  EXPECT_EQ(kernel({40, 32}, {24, 32}, 0, 1), "matmul_coop64_copied_transposed_f16");
  EXPECT_EQ(kernel({40, 32}, {23, 32}, 0, 1), "matmul_coop64_copied_transposed_f16");
  EXPECT_EQ(kernel({40, 32}, {32, 23}, 0, 0), "matmul_coop64_f16");
  EXPECT_EQ(kernel({40, 30}, {30, 24}, 0, 0), "matmul_coop64_f16");
  EXPECT_EQ(kernel({32, 40}, {32, 24}, 1, 0), "matmul_coop64_f16");
  EXPECT_EQ(kernel({2, 40, 32}, {2, 32, 24}, 0, 0), "matmul_coop64_copied_f16");
}

}  // namespace
}  // namespace concord::cuda
