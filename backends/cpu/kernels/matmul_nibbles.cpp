#include "backends/cpu/kernels/matmul_nibbles.h"

#include <algorithm>

#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/matmul_nibbles_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul_nibbles.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_nibbles_dot-inl.h"
#include "backends/cpu/kernels/matmul_nibbles_float-inl.h"
#include "backends/cpu/kernels/matmul_share-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

using WordTag = hn::RebindToUnsigned<MatTag>;
using CountTag = hn::RebindToSigned<MatTag>;

// Panels that are expanded to f32 just before they are used.
class ExpandedPanels {
 public:
  explicit ExpandedPanels(const NibbleShare& share)
      : share_(share), octets_((share.region.k + 7) / 8) {}
  static constexpr bool kInMemory = false;

  const std::byte* part(std::int64_t panel, std::int64_t begin, std::int64_t count) const {
    auto* out = reinterpret_cast<float*>(
        thread_scratch(static_cast<std::size_t>((count + 7) / 8 * 8 * kPanel) * 4, 2));
    const auto* words =
        reinterpret_cast<const std::uint32_t*>(share_.region.panels) + panel * octets_ * kPanel;
    for (std::int64_t l = begin; l < begin + count; l += 8) {
      const std::int64_t at = (panel * share_.blocks + l / share_.block) * kPanel;
      expand(words + l / 8 * kPanel, at, out + (l - begin) * kPanel);
    }
    return reinterpret_cast<const std::byte*>(out);
  }

 private:
  void expand(const std::uint32_t* words, std::int64_t at, float* out) const {
    const MatTag d;
    const WordTag bits;
    const CountTag whole;
    const auto mask = hn::Set(bits, 15);
    for (int j = 0; j < kPanel; j += kMatLanes) {
      const auto word = hn::LoadU(bits, words + j);
      const MatVec scale = hn::LoadU(d, share_.scales + at + j);
      auto zero = hn::Set(whole, share_.zero);
      if (share_.zeros != nullptr) {
        const hn::Rebind<std::uint8_t, CountTag> narrow;
        zero = hn::PromoteTo(whole, hn::LoadU(narrow, share_.zeros + at + j));
      }
      const auto store = [&](int row, auto shifted) HWY_ATTR {
        const auto value = hn::Sub(hn::BitCast(whole, hn::And(shifted, mask)), zero);
        hn::StoreU(hn::Mul(hn::ConvertTo(d, value), scale), d, out + row * kPanel + j);
      };
      store(0, word);
      store(1, hn::ShiftRight<8>(word));
      store(2, hn::ShiftRight<16>(word));
      store(3, hn::ShiftRight<24>(word));
      store(4, hn::ShiftRight<4>(word));
      store(5, hn::ShiftRight<12>(word));
      store(6, hn::ShiftRight<20>(word));
      store(7, hn::ShiftRight<28>(word));
    }
  }

  const NibbleShare& share_;
  std::int64_t octets_;
};

// Up to this many rows weights are decoded in registers for every few of them: an expansion into
// memory takes three times as long and pays from there on.
constexpr std::int64_t kFewRows = 8;

// One panel after the other, for all rows, by Dot's kernels; args_of(panel, row) is what they take.
template <class Dot, class ArgsOf>
void run_dots(const NibbleShare& share, const ArgsOf& args_of) {
  const MatmulArgs& args = *share.region.args;
  const TileWriter write = tile_writer(args.epilogue.activation);
  const std::int64_t c_size = static_cast<std::int64_t>(element_size(args.c_type));
  HWY_ALIGN float sums[Dot::kRows * kPanel];
  const RowBlocks blocks(share.region.row_end - share.region.row_begin, Dot::kRows);
  for (std::int64_t panel = share.region.panel_begin; panel < share.region.panel_end; ++panel) {
    const std::int64_t column = panel * kPanel;
    const std::int64_t columns = std::min<std::int64_t>(kPanel, share.region.n - column);
    std::int64_t row = share.region.row_begin;
    for (std::int64_t block = 0; block < blocks.count; ++block) {
      const int height = blocks.height(block);
      typename Dot::Args dot = args_of(panel, row);
      dot.sums = sums;
      const auto kernel = Dot::for_rows(height);
      for (int first = 0; first * kMatLanes < columns; first += Dot::vectors(height)) {
        kernel(dot, first);
      }
      auto* c = static_cast<std::byte*>(args.c) + (row * args.ldc + column) * c_size;
      write(sums, kPanel, {&args.epilogue, row, column, height, columns, c, args.ldc, args.c_type});
      row += height;
    }
  }
}

void run_float(const NibbleShare& share) {
  const MatmulArgs& args = *share.region.args;
  const std::int64_t words = (share.region.k + 7) / 8 * kPanel;
  run_dots<NibbleFloat>(share, [&](std::int64_t panel, std::int64_t row) {
    const std::int64_t at = panel * share.blocks * kPanel;
    NibbleFloat::Args dot;
    dot.a = static_cast<const float*>(args.a) + row * args.lda;
    dot.lda = args.lda;
    dot.k = share.region.k;
    dot.block = share.block;
    dot.words = reinterpret_cast<const std::uint32_t*>(share.region.panels) + panel * words;
    dot.scales = share.scales + at;
    dot.zeros = share.zeros == nullptr ? nullptr : share.zeros + at;
    dot.zero = static_cast<float>(share.zero);
    return dot;
  });
}

#if HWY_TARGET == HWY_AVX3
void run_quantised(const NibbleShare& share) {
  const std::int64_t octets = (share.region.k + 7) / 8;
  run_dots<NibbleDot>(share, [&](std::int64_t panel, std::int64_t row) {
    const std::int64_t at = panel * share.blocks * kPanel;
    NibbleDot::Args dot;
    dot.rows = share.rows;
    dot.row = row;
    dot.block_octets = share.block / 8;
    dot.octets = octets;
    dot.words =
        reinterpret_cast<const std::uint32_t*>(share.region.panels) + panel * octets * kPanel;
    dot.scales = share.scales + at;
    dot.zeros = share.zeros == nullptr ? nullptr : share.zeros + at;
    dot.zero = share.zero;
    return dot;
  });
}
#endif

}  // namespace

void matmul_nibbles_share(const NibbleShare& share) {
#if HWY_TARGET == HWY_AVX3
  if (share.rows != nullptr) return run_quantised(share);
#endif
  // By the whole product's rows: the threads' number must not choose the order of the sums.
  if (share.region.args->rows <= kFewRows) return run_float(share);
  run_share<StepF32>(share.region, ExpandedPanels(share));
}

void quantise_rows(const MatmulArgs& args, std::int64_t k, std::int64_t block, std::int64_t begin,
                   std::int64_t end, const QuantisedRows& out) {
  const MatTag d;
  const CountTag whole;
  const hn::Rebind<std::int8_t, CountTag> narrow;
  const auto* a = static_cast<const float*>(args.a);
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = a + row * args.lda;
    std::int8_t* y = out.values + row * out.stride;
    for (std::int64_t b = 0; b < out.blocks; ++b) {
      const std::int64_t first = b * block;
      const std::int64_t count = std::min(block, k - first);
      const auto load = [&](std::int64_t at) HWY_ATTR {
        if (at + kMatLanes <= count) return hn::LoadU(d, x + first + at);
        HWY_ALIGN float part[kMatLanes] = {};
        for (std::int64_t i = at; i < count; ++i) part[i - at] = x[first + i];
        return hn::Load(d, part);
      };
      MatVec largest = hn::Zero(d);
      for (std::int64_t i = 0; i < block; i += kMatLanes) {
        largest = hn::Max(largest, hn::Abs(load(i)));
      }
      const float magnitude = hn::GetLane(hn::MaxOfLanes(d, largest));
      const MatVec inverse = hn::Set(d, magnitude > 0 ? 127.0f / magnitude : 0.0f);
      auto sum = hn::Zero(whole);
      for (std::int64_t i = 0; i < block; i += kMatLanes) {
        const auto q = hn::NearestInt(hn::Mul(load(i), inverse));
        sum = hn::Add(sum, q);
        hn::StoreU(hn::DemoteTo(narrow, q), narrow, y + first + i);
      }
      out.scales[row * out.blocks + b] = magnitude / 127.0f;
      out.sums[row * out.blocks + b] = hn::GetLane(hn::SumOfLanes(whole, sum));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <stdexcept>

namespace concord::cpu {

HWY_EXPORT(matmul_nibbles_share);
HWY_EXPORT(quantise_rows);

PackedNibbles PackedNibbles::pack(const NibbleMatrix& m) {
  if (m.block <= 0 || m.block % 8 != 0) throw std::invalid_argument("blocks of 8 rows and more");
  PackedNibbles packed;
  packed.k_ = m.k;
  packed.n_ = m.n;
  packed.block_ = m.block;
  packed.panel_ = matmul_panel_width();
  const int width = packed.panel_;
  const std::int64_t panels = (m.n + width - 1) / width;
  const std::int64_t octets = (m.k + 7) / 8;
  const std::int64_t blocks = (m.k + m.block - 1) / m.block;
  packed.values_ = AlignedBuffer(static_cast<std::size_t>(panels * octets * width) * 4);
  packed.scales_ = AlignedBuffer(static_cast<std::size_t>(panels * blocks * width) * 4);
  packed.zeros_ = AlignedBuffer(static_cast<std::size_t>(panels * blocks * width));
  packed.zero_ = m.n > 0 && m.k > 0 ? m.zero(m.source, 0, 0) : std::uint8_t{0};
  auto* zeros = packed.zeros_.as<std::uint8_t>();
  parallel_for(panels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
      auto* words = packed.values_.as<std::uint32_t>() + panel * octets * width;
      for (int c = 0; c < width; ++c) {
        const std::int64_t column = panel * width + c;
        const bool there = column < m.n;
        for (std::int64_t b = 0; b < blocks; ++b) {
          const std::int64_t at = (panel * blocks + b) * width + c;
          packed.scales_.as<float>()[at] = there ? m.scale(m.source, column, b) : 0.0f;
          zeros[at] = there ? m.zero(m.source, column, b) : packed.zero_;
        }
        for (std::int64_t octet = 0; octet < octets; ++octet) {
          // Rows beyond k meet zeros of the left operand.
          const std::uint32_t values = there ? m.octet(m.source, column, octet * 8) : 0;
          std::uint32_t word = 0;
          for (int i = 0; i < 4; ++i) {
            word |= (values >> (4 * i) & 15u) << (8 * i);
            word |= (values >> (4 * i + 16) & 15u) << (8 * i + 4);
          }
          words[octet * width + c] = word;
        }
      }
    }
  });
  const bool uniform = std::all_of(zeros, zeros + packed.zeros_.size(),
                                   [&](std::uint8_t zero) { return zero == packed.zero_; });
  if (uniform) packed.zeros_ = AlignedBuffer();
  return packed;
}

std::int64_t QuantisedRows::bytes(std::int64_t rows, std::int64_t k, std::int64_t block) {
  const std::int64_t blocks = (k + block - 1) / block;
  return (rows * blocks * block + 63) / 64 * 64 + rows * blocks * 8;
}

QuantisedRows QuantisedRows::in(std::byte* memory, std::int64_t rows, std::int64_t k,
                                std::int64_t block) {
  QuantisedRows result;
  result.blocks = (k + block - 1) / block;
  result.stride = result.blocks * block;
  result.values = reinterpret_cast<std::int8_t*>(memory);
  memory += (rows * result.stride + 63) / 64 * 64;
  result.scales = reinterpret_cast<float*>(memory);
  result.sums = reinterpret_cast<std::int32_t*>(memory + rows * result.blocks * 4);
  return result;
}

// Keeps PackedNibbles' insides out of other files.
struct MatmulNibblesAccess {
  static void run(const PackedNibbles& w, const MatmulArgs& args, std::byte* quantised) {
    const int width = matmul_panel_width();
    if (w.panel_ != width) {
      throw std::logic_error("weights were packed for another instruction set");
    }
    const std::int64_t panels = (w.n() + width - 1) / width;
    NibbleShare whole;
    whole.region = {&args, w.values_.data(), w.k(), w.n(), Element::f32, 0, 0, 0, 0};
    whole.scales = w.scales_.as<float>();
    if (w.zeros_.size() != 0) whole.zeros = w.zeros_.as<std::uint8_t>();
    whole.zero = w.zero_;
    whole.block = w.block();
    whole.blocks = (w.k() + w.block() - 1) / w.block();
    QuantisedRows rows;
    if (quantised != nullptr) {
      rows = QuantisedRows::in(quantised, args.rows, w.k(), w.block());
      parallel_for(args.rows, 1 + 20000 / (1 + w.k()), [&](std::int64_t begin, std::int64_t end) {
        HWY_DYNAMIC_DISPATCH(quantise_rows)(args, w.k(), w.block(), begin, end, rows);
      });
      whole.rows = &rows;
    }
    const auto multiplies = static_cast<double>(args.rows) * static_cast<double>(w.n() * w.k());
    const double nanoseconds = std::max(multiplies / (quantised != nullptr ? 150 : 50),
                                        static_cast<double>(w.bytes()) / 25);
    run_regions(cut_product(args.rows, panels, nanoseconds), [&](const MatmulRegion& region) {
      NibbleShare share = whole;
      share.region.row_begin = region.row_begin;
      share.region.row_end = region.row_end;
      share.region.panel_begin = region.panel_begin;
      share.region.panel_end = region.panel_end;
      HWY_DYNAMIC_DISPATCH(matmul_nibbles_share)(share);
    });
  }
};

bool can_quantise_rows(const PackedNibbles& weights) {
  return has_int8_dot() && weights.block() % 16 == 0;
}

void matmul_nibbles(const PackedNibbles& weights, const MatmulArgs& args, std::byte* quantised) {
  if (args.rows == 0 || weights.n() == 0) return;
  MatmulNibblesAccess::run(weights, args, can_quantise_rows(weights) ? quantised : nullptr);
}

}  // namespace concord::cpu
#endif
