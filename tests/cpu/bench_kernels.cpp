// Speed of the kernels at the sizes of transformers. Not a test: run by hand on an idle machine,
//   build/release/tests/cpu_kernel_bench --benchmark_filter=matmul
// Weights are rotated through 200 MB of copies, so that they come from memory as in a real model.
// The last argument of each benchmark is the number of threads.

#include <algorithm>
#include <ctime>
#include <vector>

#include <benchmark/benchmark.h>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/matmul_nibbles.h"
#include "backends/cpu/kernels/norm.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/kernels/rotary.h"
#include "backends/cpu/kernels/softmax.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

// Processor time of this thread where it does all the work, so that others on the machine count
// less; else wall time.
double now(bool alone) {
  timespec time{};
  clock_gettime(alone ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Runs the loop and reports what the quickest iteration reached: means say little on a machine that
// others use too.
template <typename Body>
void measure(benchmark::State& state, double flops, double bytes, Body body) {
  const bool alone = current_threads() == 1;
  double best = 1e30;
  for (auto _ : state) {
    const double start = now(alone);
    body();
    best = std::min(best, now(alone) - start);
  }
  state.counters["best_us"] = best * 1e6;
  state.counters["GFLOP/s"] = flops / best * 1e-9;
  state.counters["GB/s"] = bytes / best * 1e-9;
}

// m, n, k, threads
void run_matmul(benchmark::State& state, Element storage, Activation activation, bool cold) {
  const std::int64_t m = state.range(0);
  const std::int64_t n = state.range(1);
  const std::int64_t k = state.range(2);
  const ThreadScope scope(static_cast<int>(state.range(3)));
  Random random(1);
  const std::vector<float> a = random.vector(m * k);
  const std::vector<float> w = random.vector(n * k);
  const std::vector<float> bias = random.vector(n);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const std::size_t bytes = static_cast<std::size_t>(n * k) * element_size(storage);
  const std::size_t copies = cold ? std::max<std::size_t>(2, 200'000'000 / bytes) : 1;
  std::vector<PackedWeights> weights;
  for (std::size_t i = 0; i < copies; ++i) {
    weights.push_back(PackedWeights::pack({w.data(), Element::f32, k, n, n, 1}, storage));
  }
  MatmulArgs args{.rows = m, .a = a.data(), .lda = k, .c = c.data(), .ldc = n};
  args.epilogue.activation = activation;
  if (activation != Activation::none) args.epilogue.bias = bias.data();
  std::size_t next = 0;
  measure(state, 2.0 * static_cast<double>(m * n * k), static_cast<double>(bytes), [&] {
    matmul(weights[next], args);
    next = (next + 1) % copies;
  });
}

void matmul_sizes(benchmark::internal::Benchmark* bench) {
  const std::int64_t shapes[][2] = {{384, 384},  {1536, 384},  {384, 1536},
                                    {768, 768},  {2304, 768},  {3072, 768},
                                    {768, 3072}, {2048, 2048}, {30522, 768}};
  for (const std::int64_t threads : {1, 2}) {
    for (const auto& shape : shapes) {
      for (const std::int64_t m : {1, 4, 16, 128, 512}) {
        if (m * shape[0] < 5'000'000) bench->Args({m, shape[0], shape[1], threads});
      }
    }
  }
}

void matmul_f32(benchmark::State& s) {
  run_matmul(s, Element::f32, Activation::none, true);
}
void matmul_bf16(benchmark::State& s) {
  run_matmul(s, Element::bf16, Activation::none, true);
}
void matmul_f16(benchmark::State& s) {
  run_matmul(s, Element::f16, Activation::none, true);
}
void matmul_f32_gelu(benchmark::State& s) {
  run_matmul(s, Element::f32, Activation::gelu_erf, true);
}
void matmul_f32_warm(benchmark::State& s) {
  run_matmul(s, Element::f32, Activation::none, false);
}
BENCHMARK(matmul_f32)->Apply(matmul_sizes)->UseRealTime();
BENCHMARK(matmul_bf16)->Apply(matmul_sizes)->UseRealTime();
BENCHMARK(matmul_f16)->Apply(matmul_sizes)->UseRealTime();
BENCHMARK(matmul_f32_warm)->Apply(matmul_sizes)->UseRealTime();
BENCHMARK(matmul_f32_gelu)->Args({128, 1536, 384, 1})->Args({128, 3072, 768, 1})->UseRealTime();

// m, n, k, threads: weights of 4 bits in blocks of 32, rows of f32.
void matmul_nibbles_f32(benchmark::State& state) {
  const std::int64_t m = state.range(0);
  const std::int64_t n = state.range(1);
  const std::int64_t k = state.range(2);
  const ThreadScope scope(static_cast<int>(state.range(3)));
  NibbleMatrix matrix{k, n, 32};
  matrix.octet = [](const void*, std::int64_t j, std::int64_t l) {
    return static_cast<std::uint32_t>((j * 40503 + l) * 2654435761u);
  };
  matrix.scale = [](const void*, std::int64_t, std::int64_t) { return 0.01f; };
  matrix.zero = [](const void*, std::int64_t, std::int64_t) { return std::uint8_t{8}; };
  std::vector<PackedNibbles> weights;
  std::size_t bytes = 0;
  while (bytes < 200'000'000) {
    weights.push_back(PackedNibbles::pack(matrix));
    bytes += weights.back().bytes();
  }
  Random random(1);
  const std::vector<float> a = random.vector(m * k);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  MatmulArgs args;
  args.a = a.data();
  args.lda = k;
  args.rows = m;
  args.c = c.data();
  args.ldc = n;
  std::size_t next = 0;
  measure(state, 2.0 * static_cast<double>(m * n * k), static_cast<double>(weights[0].bytes()),
          [&] {
            matmul_nibbles(weights[next], args);
            next = (next + 1) % weights.size();
          });
}
BENCHMARK(matmul_nibbles_f32)
    ->ArgsProduct({{1, 2, 4, 8, 12, 16, 24, 32, 128}, {2048}, {768}, {1, 2}})
    ->UseRealTime();

// n, k, transposed, threads
void pack(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const std::int64_t k = state.range(1);
  const ThreadScope scope(static_cast<int>(state.range(3)));
  const std::vector<float> w(static_cast<std::size_t>(n * k), 1.0f);
  const MatrixView view = state.range(2) != 0 ? MatrixView{w.data(), Element::f32, k, n, 1, k}
                                              : MatrixView{w.data(), Element::f32, k, n, n, 1};
  measure(state, 0, static_cast<double>(n * k) * 8,
          [&] { benchmark::DoNotOptimize(PackedWeights::pack(view, Element::f32)); });
}
BENCHMARK(pack)
    ->ArgsProduct({{3072}, {768}, {0, 1}, {1, 2}})
    ->ArgsProduct({{768}, {3072}, {0, 1}, {1, 2}})
    ->ArgsProduct({{30522}, {768}, {0, 1}, {1, 2}})
    ->UseRealTime();

// heads, q_len, kv_len, head_dim, causal, threads
void attention_f32(benchmark::State& state) {
  AttentionArgs args;
  args.batch = 1;
  args.heads = args.kv_heads = state.range(0);
  args.q_len = state.range(1);
  args.kv_len = state.range(2);
  args.head_dim = args.v_head_dim = state.range(3);
  args.causal = state.range(4) == 1;
  args.causal_offset = args.kv_len - args.q_len;
  const ThreadScope scope(static_cast<int>(state.range(5)));
  Random random(1);
  const std::int64_t width = args.heads * args.head_dim;
  const std::vector<float> q = random.vector(args.q_len * width);
  const std::vector<float> kv = random.vector(args.kv_len * width * 2);
  std::vector<float> out(q.size());
  args.q = {q.data(), Element::f32, 0, args.head_dim, width};
  args.k = {kv.data(), Element::f32, 0, args.head_dim, 2 * width};
  args.v = {kv.data() + width, Element::f32, 0, args.head_dim, 2 * width};
  if (state.range(4) == 2) {  // a cache: heads outside
    args.k = {kv.data(), Element::f32, 0, args.kv_len * args.head_dim, args.head_dim};
    args.v = {kv.data() + kv.size() / 2, Element::f32, 0, args.kv_len * args.head_dim,
              args.head_dim};
  }
  args.out = out.data();
  args.out_head_stride = args.head_dim;
  args.out_seq_stride = width;
  args.scale = 0.125f;
  const double pairs = static_cast<double>(args.q_len * args.kv_len) * (args.causal ? 0.5 : 1.0);
  measure(state, 4.0 * static_cast<double>(width) * pairs,
          static_cast<double>(args.kv_len * width) * 8, [&] { attention(args); });
}
BENCHMARK(attention_f32)
    ->ArgsProduct({{12}, {16}, {16}, {32, 64}, {0}, {1, 2}})
    ->ArgsProduct({{12}, {128}, {128}, {32, 64}, {0, 1}, {1, 2}})
    ->ArgsProduct({{12}, {512}, {512}, {64}, {0, 1}, {1, 2}})
    ->ArgsProduct({{12}, {2048}, {2048}, {64, 128}, {0, 1}, {1, 2}})
    ->ArgsProduct({{12}, {1, 4}, {128, 1024, 4096}, {64}, {2}, {1, 2}})
    ->UseRealTime();

// rows, n, threads
void softmax_rows(benchmark::State& state) {
  const ThreadScope scope(static_cast<int>(state.range(2)));
  Random random(1);
  const std::vector<float> x = random.vector(state.range(0) * state.range(1));
  std::vector<float> out(x.size());
  SoftmaxArgs args{
      .rows = state.range(0), .n = state.range(1), .x = x.data(), .x_stride = state.range(1)};
  args.out = out.data();
  args.out_stride = args.n;
  measure(state, 0, static_cast<double>(x.size()) * 8, [&] { softmax(args); });
}
BENCHMARK(softmax_rows)->ArgsProduct({{1536}, {16, 128, 512}, {1, 2}})->UseRealTime();

void layer_norm_rows(benchmark::State& state) {
  const ThreadScope scope(static_cast<int>(state.range(2)));
  Random random(1);
  const std::int64_t n = state.range(1);
  const std::vector<float> x = random.vector(state.range(0) * n);
  const std::vector<float> gamma = random.vector(n);
  std::vector<float> out(x.size());
  NormArgs args;
  args.rows = state.range(0);
  args.n = n;
  args.x = args.residual = x.data();
  args.x_stride = args.residual_stride = args.out_stride = n;
  args.gamma = args.beta = gamma.data();
  args.out = out.data();
  measure(state, 0, static_cast<double>(x.size()) * 12, [&] { layer_norm(args); });
}
BENCHMARK(layer_norm_rows)->ArgsProduct({{16, 128}, {384, 768, 2048}, {1, 2}})->UseRealTime();

// operator, n
void unary_f32(benchmark::State& state) {
  const std::int64_t n = state.range(1);
  Random random(1);
  const std::vector<float> x = random.vector(n, -4, 4);
  std::vector<float> out(x.size());
  measure(state, 0, static_cast<double>(n) * 8,
          [&] { unary(static_cast<ElementOp>(state.range(0)), n, x.data(), out.data()); });
}
BENCHMARK(unary_f32)->ArgsProduct(
    {{static_cast<int>(ElementOp::copy), static_cast<int>(ElementOp::exp),
      static_cast<int>(ElementOp::tanh), static_cast<int>(ElementOp::erf),
      static_cast<int>(ElementOp::gelu_erf), static_cast<int>(ElementOp::gelu_tanh),
      static_cast<int>(ElementOp::silu), static_cast<int>(ElementOp::log),
      static_cast<int>(ElementOp::sin)},
     {65536}});

// rows, columns, element bytes, threads
void transpose_2d(benchmark::State& state) {
  const ThreadScope scope(static_cast<int>(state.range(3)));
  const std::int64_t shape[] = {state.range(0), state.range(1)};
  const int perm[] = {1, 0};
  const auto bytes = static_cast<std::size_t>(state.range(2));
  const std::vector<std::byte> x(static_cast<std::size_t>(shape[0] * shape[1]) * bytes);
  std::vector<std::byte> out(x.size());
  measure(state, 0, static_cast<double>(x.size()) * 2,
          [&] { transpose(bytes, shape, perm, x.data(), out.data()); });
}
BENCHMARK(transpose_2d)->ArgsProduct({{768}, {768}, {1, 2, 4, 8}, {1, 2}})->UseRealTime();

// 0: own workers, 1: OpenMP's
void hand_over(benchmark::State& state) {
  const ThreadScope scope(2, state.range(0) == 0 ? Workers::own : Workers::openmp);
  measure(state, 0, 0, [&] { parallel_tasks(scope.threads(), [](int) {}); });
}
BENCHMARK(hand_over)->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace concord::cpu

BENCHMARK_MAIN();
