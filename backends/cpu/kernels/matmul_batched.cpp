#include <algorithm>
#include <array>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul_batched.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_epilogue-inl.h"

#ifndef CONCORD_MATMUL_BATCHED_SHARED
#define CONCORD_MATMUL_BATCHED_SHARED
namespace concord::cpu {

// One matrix of the batch: its corner's addresses, and the panels [begin, end) to compute.
struct BatchedShare {
  const BatchedMatmulArgs* args;
  MatrixView a, b;
  std::byte* c;
  std::int64_t panel_begin, panel_end;
};

}  // namespace concord::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kDepth = 768;
constexpr std::int64_t kDotRows = 3;  // up to here a transposed operand is read where it lies

struct Left {
  const std::byte* data;
  std::int64_t stride;  // bytes
};

// Rows [row, row + count) and columns [k0, k0 + depth) of a, f32 (or bf16 pairs), rows contiguous.
Left left_rows(const MatrixView& a, std::int64_t row, std::int64_t count, std::int64_t k0,
               std::int64_t depth, bool bf16) {
  const auto size = static_cast<std::int64_t>(element_size(a.type));
  const auto* base =
      static_cast<const std::byte*>(a.data) + (row * a.row_stride + k0 * a.col_stride) * size;
  const std::int64_t padded = bf16 ? (depth + 1) / 2 * 2 : depth;
  const bool dense = a.col_stride == 1;
  if (dense && !bf16 && a.type == Element::f32) return {base, a.row_stride * 4};
  if (dense && bf16 && a.type == Element::bf16 && padded == depth) return {base, a.row_stride * 2};
  auto* copy = reinterpret_cast<float*>(
      thread_scratch(static_cast<std::size_t>(count * padded + padded) * 4, 1));
  for (std::int64_t i = 0; i < count; ++i) {
    float* line = copy + (bf16 ? count * padded : i * padded);
    load_floats(a.type, base + i * a.row_stride * size, a.col_stride, line, depth);
    if (padded != depth) line[depth] = 0.0f;
    if (bf16) {
      convert_serial(Element::f32, line, Element::bf16,
                     reinterpret_cast<BFloat16*>(copy) + i * padded, padded);
    }
  }
  return {reinterpret_cast<const std::byte*>(copy), padded * (bf16 ? 2 : 4)};
}

template <class Step>
void run_panels(const BatchedShare& share, bool bf16) {
  const BatchedMatmulArgs& args = *share.args;
  const Epilogue epilogue{.scale = args.scale, .bias = args.bias};
  const bool direct_type = is_trivial(epilogue) && args.c_type == Element::f32;
  const TileWriter write = tile_writer(Activation::none);
  const auto c_size = static_cast<std::int64_t>(element_size(args.c_type));
  const Element storage = bf16 ? Element::bf16 : Element::f32;
  const std::int64_t parts = std::max<std::int64_t>(1, (args.k + kDepth - 1) / kDepth);
  const std::int64_t depth = std::max<std::int64_t>(8, ((args.k + parts - 1) / parts + 7) / 8 * 8);
  constexpr std::int64_t kChunk = 168;  // rows whose sums wait in L2 between parts of k
  const RowBlocks chunks(args.m, kChunk);
  const std::int64_t sum_rows = chunks.base + 1;
  auto* sums = reinterpret_cast<float*>(
      thread_scratch(static_cast<std::size_t>((sum_rows + depth) * kPanel) * 4, 0));
  auto* packed = reinterpret_cast<std::byte*>(sums + sum_rows * kPanel);
  // Few rows do not repay packing an operand whose rows are contiguous.
  const bool in_place =
      !bf16 && share.b.type == Element::f32 && share.b.col_stride == 1 && args.m <= 2 * Step::kRows;
  std::int64_t row = 0;
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    const std::int64_t rows = chunks.height(chunk);
    const RowBlocks blocks(rows, Step::kRows);
    for (std::int64_t panel = share.panel_begin; panel < share.panel_end; ++panel) {
      const std::int64_t column = panel * kPanel;
      const std::int64_t columns = std::min<std::int64_t>(kPanel, args.n - column);
      const int vectors = static_cast<int>((columns + kMatLanes - 1) / kMatLanes);
      const bool direct = direct_type && columns == kPanel;
      for (std::int64_t k0 = 0; k0 < args.k || k0 == 0; k0 += depth) {
        const std::int64_t count = std::min(depth, args.k - k0);
        const bool last = k0 + depth >= args.k;
        MicroArgs micro;
        micro.prefetch = nullptr;
        micro.prefetch_lines = 0;
        micro.steps = (count + Step::kDepth - 1) / Step::kDepth;
        micro.accumulate = k0 > 0;
        if (in_place && columns == kPanel) {
          micro.b =
              static_cast<const std::byte*>(share.b.data) + (k0 * share.b.row_stride + column) * 4;
          micro.b_step = share.b.row_stride * 4;
        } else {
          pack_panel(share.b, k0, count, column, static_cast<int>(columns), kPanel, storage,
                     packed);
          micro.b = packed;
          micro.b_step = kPanel * Step::kBytes;
        }
        const Left left = left_rows(share.a, row, rows, k0, count, bf16);
        std::int64_t at = 0;
        for (std::int64_t block = 0; block < blocks.count; ++block) {
          const int height = blocks.height(block);
          micro.a = left.data + at * left.stride;
          micro.lda = left.stride;
          std::byte* c = share.c + ((row + at) * args.ldc + column) * c_size;
          micro.sums = direct ? reinterpret_cast<float*>(c) : sums + at * kPanel;
          micro.ld_sums = direct ? args.ldc : kPanel;
          micro_kernel<Step>(height, vectors)(micro);
          if (last && !direct) {
            write(micro.sums, kPanel,
                  {&epilogue, row + at, column, height, columns, c, args.ldc, args.c_type});
          }
          at += height;
        }
      }
    }
    row += rows;
  }
}

// Few rows times the transpose of a matrix with contiguous rows: dot products.
void run_dots(const BatchedShare& share) {
  const BatchedMatmulArgs& args = *share.args;
  const MatTag d;
  const auto* a = static_cast<const float*>(share.a.data);
  const auto* b = static_cast<const float*>(share.b.data);
  auto* c = reinterpret_cast<float*>(share.c);
  const std::int64_t end = std::min(args.n, share.panel_end * kPanel);
  for (std::int64_t n = share.panel_begin * kPanel; n < end; ++n) {
    const float* column = b + n * share.b.col_stride;
    for (std::int64_t m = 0; m < args.m; ++m) {
      const float* row = a + m * share.a.row_stride;
      MatVec even = hn::Zero(d);
      MatVec odd = hn::Zero(d);
      std::int64_t k = 0;
      for (; k + 2 * kMatLanes <= args.k; k += 2 * kMatLanes) {
        even = hn::MulAdd(hn::LoadU(d, row + k), hn::LoadU(d, column + k), even);
        odd = hn::MulAdd(hn::LoadU(d, row + k + kMatLanes), hn::LoadU(d, column + k + kMatLanes),
                         odd);
      }
      for (; k + kMatLanes <= args.k; k += kMatLanes) {
        even = hn::MulAdd(hn::LoadU(d, row + k), hn::LoadU(d, column + k), even);
      }
      float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
      for (; k < args.k; ++k) sum += row[k] * column[k];
      sum *= args.scale;
      c[m * args.ldc + n] = args.bias != nullptr ? sum + args.bias[n] : sum;
    }
  }
}

}  // namespace

void batched_share(const BatchedShare& share) {
  const BatchedMatmulArgs& args = *share.args;
  const bool plain = share.a.type == Element::f32 && share.b.type == Element::f32 &&
                     args.c_type == Element::f32 && !args.round_to_bf16;
  if (plain && args.m <= kDotRows && share.a.col_stride == 1 && share.b.row_stride == 1 &&
      share.b.col_stride != 1) {
    return run_dots(share);
  }
  if (!args.round_to_bf16) return run_panels<StepF32>(share, false);
#if HWY_TARGET == HWY_AVX3
  if (has_bf16_dot()) return run_panels<StepBf16Dot>(share, true);
#endif
  run_panels<StepBf16Portable>(share, true);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(batched_share);

void matmul_batched(const BatchedMatmulArgs& args) {
  std::int64_t batches = 1;
  for (int i = 0; i < args.batch_rank; ++i) batches *= args.batch[i];
  if (batches * args.m * args.n == 0) return;
  const int width = matmul_panel_width();
  const std::int64_t panels = (args.n + width - 1) / width;
  const double nanoseconds = static_cast<double>(args.m * std::min<std::int64_t>(args.n, width)) *
                                 static_cast<double>(args.k) / 40 +
                             static_cast<double>(args.k * width) / 20 + 30;
  const auto a_size = static_cast<std::int64_t>(element_size(args.a.type));
  const auto b_size = static_cast<std::int64_t>(element_size(args.b.type));
  const auto c_size = static_cast<std::int64_t>(element_size(args.c_type));
  parallel_for(batches * panels, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end;) {
                   const std::int64_t batch = item / panels;
                   const std::int64_t until = std::min(end, (batch + 1) * panels);
                   BatchedShare share{&args,
                                      args.a,
                                      args.b,
                                      static_cast<std::byte*>(args.c),
                                      item - batch * panels,
                                      until - batch * panels};
                   std::int64_t index = batch;
                   std::int64_t a = 0;
                   std::int64_t b = 0;
                   std::int64_t c = 0;
                   for (int i = args.batch_rank - 1; i >= 0; --i) {
                     a += index % args.batch[i] * args.a_batch_stride[i];
                     b += index % args.batch[i] * args.b_batch_stride[i];
                     c += index % args.batch[i] * args.c_batch_stride[i];
                     index /= args.batch[i];
                   }
                   share.a.data = static_cast<const std::byte*>(args.a.data) + a * a_size;
                   share.b.data = static_cast<const std::byte*>(args.b.data) + b * b_size;
                   share.c += c * c_size;
                   HWY_DYNAMIC_DISPATCH(batched_share)(share);
                   item = until;
                 }
               });
}

}  // namespace concord::cpu
#endif
