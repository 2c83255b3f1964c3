// A run in steady state allocates nothing but its outputs: as much for many steps as for few.

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "tests/cpu_backend/small_graph.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

// Not inlined: GCC would see malloc meet operator delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace concord::cpu {
namespace {

using graph::OpKind;
using graph::ValueId;

std::int64_t allocations_of_a_run(int layers) {
  SmallGraph g;
  const Dim rows = Dim::symbol("rows");
  ValueId x = g.input("x", DataType::f32, {rows, Dim(64)});
  const ValueId mask = g.input("mask", DataType::boolean, {rows, Dim(1)});
  const ValueId scale = g.weight({64});
  for (int i = 0; i < layers; ++i) {
    const ValueId h = g.unary(g.matmul(x, g.weight({64, 64})), "gelu_erf");
    const ValueId heads = g.transpose(g.reshape(h, {rows, Dim(4), Dim(16)}), {1, 0, 2});
    const ValueId scores =
        g.node(OpKind::matmul, {heads, heads},
               {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{1}}, {"alpha", 0.25}});
    const ValueId weights = g.node(
        OpKind::softmax, {scores},
        {{"axis", std::int64_t{2}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}});
    const ValueId mixed = g.matmul(weights, heads);
    const ValueId joined = g.reshape(g.transpose(mixed, {1, 0, 2}), {rows, Dim(64)});
    const ValueId chosen = g.node(OpKind::select, {mask, joined, x});
    x = g.node(OpKind::layer_norm, {chosen, scale, scale, x},
               {{"axis", std::int64_t{1}}, {"epsilon", 1e-5}});
  }
  g.output(x);
  CompileOptions options;
  options.threads = 1;
  const auto program = CpuBackend().compile(g.get(), options);
  const auto plan = program->plan({{"rows", 20}});
  const std::vector<Tensor> inputs{random_tensor({20, 64}, 1),
                                   Tensor::zeros(DataType::boolean, {20, 1})};
  std::vector<Tensor> outputs;
  for (int i = 0; i < 3; ++i) plan->run({.inputs = inputs, .outputs = &outputs});
  const std::int64_t before = allocations;
  plan->run({.inputs = inputs, .outputs = &outputs});
  return allocations - before;
}

TEST(Allocation, ARunOfManyStepsAllocatesAsARunOfFew) {
  const std::int64_t few = allocations_of_a_run(1);
  EXPECT_EQ(allocations_of_a_run(6), few);
  EXPECT_LE(few, 6);  // the output's tensor
}

}  // namespace
}  // namespace concord::cpu
