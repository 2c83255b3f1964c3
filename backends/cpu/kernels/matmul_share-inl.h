// One thread's share of a product: which part of the operands meets when. Included once for each
// target.

#if defined(CONCORD_MATMUL_SHARE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_SHARE_INL_H
#undef CONCORD_MATMUL_SHARE_INL_H
#else
#define CONCORD_MATMUL_SHARE_INL_H
#endif

#include <algorithm>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/matmul_epilogue-inl.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/memory.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

// Steps of k whose part of a panel stays in L2 (192 KiB of it with 64 columns) while all rows pass.
constexpr std::int64_t kDepthSteps = 768;
// Bytes of the left operand that stay in L2 beside it.
constexpr std::int64_t kRowsBytes = 512 << 10;
// From this many rows on the next part of the panel is fetched by hand during the present one. With
// fewer, memory is what binds and the hardware's stream prefetch does better alone.
constexpr std::int64_t kPrefetchRows = 7;

// The left operand's rows as the kernels want them: f32, or bf16 with an even k.
struct LeftRows {
  const std::byte* data;
  std::int64_t stride;  // bytes
};

inline LeftRows prepare_rows(const MatmulShare& share, std::int64_t row, std::int64_t rows) {
  const MatmulArgs& args = *share.args;
  const bool want_bf16 = share.storage == Element::bf16;
  const Element wanted = want_bf16 ? Element::bf16 : Element::f32;
  const auto size = static_cast<std::int64_t>(element_size(args.a_type));
  const auto* source = static_cast<const std::byte*>(args.a) + row * args.lda * size;
  const std::int64_t k = padded_k(share.k, share.storage);
  if (args.a_type == wanted && k == share.k) return {source, args.lda * size};
  const std::int64_t stride = k * (want_bf16 ? 2 : 4);
  std::byte* copy = thread_scratch(static_cast<std::size_t>(rows * stride), 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    convert_serial(args.a_type, source + i * args.lda * size, wanted, copy + i * stride, share.k);
    if (k != share.k) std::fill_n(copy + i * stride + share.k * 2, 2, std::byte{0});
  }
  return {copy, stride};
}

// Panels as they were packed for Step.
template <class Step>
class PackedPanels {
 public:
  explicit PackedPanels(const MatmulShare& share)
      : panels_(share.panels), bytes_(padded_k(share.k, share.storage) / Step::kDepth * kStep) {}

  // Steps [begin, begin + count) of a panel.
  const std::byte* part(std::int64_t panel, std::int64_t begin, std::int64_t /*count*/) const {
    return panels_ + panel * bytes_ + begin * kStep;
  }
  // Whether the part that comes next lies behind the one at hand.
  static constexpr bool kInMemory = true;

 private:
  static constexpr std::int64_t kStep = kPanel * Step::kBytes;
  const std::byte* panels_;
  std::int64_t bytes_;  // of a panel
};

// `panels` gives the right operand, see PackedPanels.
template <class Step, class Panels>
void run_share(const MatmulShare& share, const Panels& panels) {
  const MatmulArgs& args = *share.args;
  const Epilogue& epilogue = args.epilogue;
  const std::int64_t steps = padded_k(share.k, share.storage) / Step::kDepth;
  const std::int64_t step_bytes = kPanel * Step::kBytes;
  const std::int64_t parts = std::max<std::int64_t>(1, (steps + kDepthSteps - 1) / kDepthSteps);
  const std::int64_t part_steps =
      std::max<std::int64_t>(4, ((steps + parts - 1) / parts + 31) / 32 * 32);
  const std::int64_t rows = share.row_end - share.row_begin;
  const std::int64_t most_rows =
      std::max<std::int64_t>(Step::kRows, kRowsBytes / std::max<std::int64_t>(1, 4 * part_steps));
  const RowBlocks chunks(rows, most_rows);
  const bool trivial = is_trivial(epilogue) && args.c_type == Element::f32;
  const TileWriter write = tile_writer(epilogue.activation);
  const std::int64_t c_size = static_cast<std::int64_t>(element_size(args.c_type));
  auto* scratch = reinterpret_cast<float*>(thread_scratch(
      static_cast<std::size_t>((parts > 1 ? chunks.base + 1 : Step::kRows) * kPanel) * 4, 0));

  std::int64_t row = share.row_begin;
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    const std::int64_t chunk_rows = chunks.height(chunk);
    const LeftRows left = prepare_rows(share, row, chunk_rows);
    const RowBlocks blocks(chunk_rows, Step::kRows);
    const bool prefetch = chunk_rows >= kPrefetchRows;
    for (std::int64_t panel = share.panel_begin; panel < share.panel_end; ++panel) {
      const std::int64_t column = panel * kPanel;
      const std::int64_t columns = std::min<std::int64_t>(kPanel, share.n - column);
      const int vectors = static_cast<int>((columns + kMatLanes - 1) / kMatLanes);
      const MicroKernel high = micro_kernel<Step>(blocks.height(0), vectors);
      const MicroKernel low = micro_kernel<Step>(static_cast<int>(blocks.base), vectors);
      const bool direct = trivial && columns == kPanel;
      for (std::int64_t begin = 0; begin < steps || begin == 0; begin += part_steps) {
        const std::int64_t count = std::min(part_steps, steps - begin);
        const std::byte* b = panels.part(panel, begin, count);
        const bool last = begin + part_steps >= steps;
        const bool more = !last || panel + 1 < share.panel_end;
        const std::int64_t next_lines =
            Panels::kInMemory && prefetch && more
                ? std::min(part_steps, last ? steps : steps - begin - part_steps) * step_bytes / 64
                : 0;
        const std::int64_t quarter = std::max<std::int64_t>(1, count / 4);
        const int lines_each =
            static_cast<int>((next_lines + blocks.count * quarter - 1) / (blocks.count * quarter));
        std::int64_t lines_left = next_lines;
        const std::byte* next = b + count * step_bytes;
        std::int64_t at = 0;
        for (std::int64_t block = 0; block < blocks.count; ++block) {
          const int height = blocks.height(block);
          MicroArgs micro;
          micro.steps = count;
          micro.a = left.data + at * left.stride + begin * 4;
          micro.lda = left.stride;
          micro.b = b;
          micro.b_step = step_bytes;
          micro.accumulate = begin > 0;
          micro.prefetch = next;
          micro.prefetch_lines = lines_left > 0 ? lines_each : 0;
          next += micro.prefetch_lines * quarter * 64;
          lines_left -= micro.prefetch_lines * quarter;
          std::byte* c =
              static_cast<std::byte*>(args.c) + ((row + at) * args.ldc + column) * c_size;
          if (direct) {
            micro.sums = reinterpret_cast<float*>(c);
            micro.ld_sums = args.ldc;
          } else {
            micro.sums = scratch + (parts > 1 ? at * kPanel : 0);
            micro.ld_sums = kPanel;
          }
          (block < blocks.extra ? high : low)(micro);
          if (last && !direct) {
            write(micro.sums, kPanel,
                  {&epilogue, row + at, column, height, columns, c, args.ldc, args.c_type});
          }
          at += height;
        }
      }
    }
    row += chunk_rows;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
