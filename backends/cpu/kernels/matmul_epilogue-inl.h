// What is done to a tile of sums before it is written. Included once for each target.

#if defined(CONCORD_MATMUL_EPILOGUE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_EPILOGUE_INL_H
#undef CONCORD_MATMUL_EPILOGUE_INL_H
#else
#define CONCORD_MATMUL_EPILOGUE_INL_H
#endif

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/matmul_kernels-inl.h"
#include "backends/cpu/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

struct TileOutput {
  const Epilogue* epilogue;
  std::int64_t row, column;  // of the tile's corner
  std::int64_t rows, columns;
  std::byte* c;      // the corner
  std::int64_t ldc;  // elements
  Element c_type;
};

inline bool is_trivial(const Epilogue& e) {
  return e.scale == 1.0f && e.bias == nullptr && e.activation == Activation::none &&
         e.multiplier == nullptr && e.residual == nullptr;
}

template <Activation kActivation>
HWY_INLINE MatVec activate(MatVec x) {
  const MatTag d;
  switch (kActivation) {
    case Activation::relu:
      return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x);
    case Activation::gelu_erf:
      return vec_gelu_erf(d, x);
    case Activation::gelu_tanh:
      return vec_gelu_tanh(d, x);
    case Activation::quick_gelu:
      return vec_quick_gelu(d, x);
    case Activation::silu:
      return vec_silu(d, x);
    case Activation::tanh:
      return vec_tanh(d, x);
    case Activation::sigmoid:
      return vec_sigmoid(d, x);
    case Activation::none:
      break;
  }
  return x;
}

HWY_INLINE void store_bf16(MatVec x, std::uint16_t* out) {
  const hn::Rebind<std::uint32_t, MatTag> bits;
  const hn::Rebind<std::uint16_t, MatTag> narrow;
  const auto v = hn::BitCast(bits, x);
  const auto high = hn::ShiftRight<16>(v);
  const auto odd = hn::And(high, hn::Set(bits, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(v, hn::Set(bits, 0x7fff)), odd));
  const auto nan = hn::RebindMask(bits, hn::IsNaN(x));
  const auto result = hn::IfThenElse(nan, hn::Or(high, hn::Set(bits, 0x40)), rounded);
  hn::StoreU(hn::TruncateTo(narrow, result), narrow, out);
}

template <Activation kActivation>
HWY_NOINLINE void write_tile(const float* sums, std::int64_t ld_sums, const TileOutput& out) {
  const MatTag d;
  const Epilogue& e = *out.epilogue;
  const MatVec scale = hn::Set(d, e.scale);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const float* sum = sums + i * ld_sums;
    const std::int64_t row = out.row + i;
    const float* bias = e.bias != nullptr ? e.bias + out.column : nullptr;
    const float* multiplier =
        e.multiplier != nullptr ? e.multiplier + row * e.multiplier_stride + out.column : nullptr;
    const float* residual =
        e.residual != nullptr ? e.residual + row * e.residual_stride + out.column : nullptr;
    const std::int64_t offset = i * out.ldc;
    const auto finish = [&](std::int64_t j, auto load) HWY_ATTR {
      MatVec x = hn::LoadU(d, sum + j);
      x = bias != nullptr ? hn::MulAdd(x, scale, load(bias + j)) : hn::Mul(x, scale);
      x = activate<kActivation>(x);
      if (multiplier != nullptr) x = hn::Mul(x, load(multiplier + j));
      if (residual != nullptr) x = hn::Add(x, load(residual + j));
      return x;
    };
    std::int64_t j = 0;
    for (; j + kMatLanes <= out.columns; j += kMatLanes) {
      const MatVec x = finish(j, [](const float* p) HWY_ATTR { return hn::LoadU(MatTag(), p); });
      if (out.c_type == Element::f32) {
        hn::StoreU(x, d, reinterpret_cast<float*>(out.c) + offset + j);
      } else {
        store_bf16(x, reinterpret_cast<std::uint16_t*>(out.c) + offset + j);
      }
    }
    if (j == out.columns) continue;
    // The sums are padded to whole vectors; nothing else is.
    const auto left = static_cast<std::size_t>(out.columns - j);
#if HWY_TARGET == HWY_AVX3
    if (out.c_type == Element::f32) {
      const auto mask = hn::FirstN(d, left);
      const MatVec x =
          finish(j, [mask](const float* p) HWY_ATTR { return hn::MaskedLoad(mask, MatTag(), p); });
      hn::BlendedStore(x, mask, d, reinterpret_cast<float*>(out.c) + offset + j);
      continue;
    }
#endif
    HWY_ALIGN float lanes[kMatLanes];
    const MatVec x = finish(j, [left](const float* p) HWY_ATTR {
      HWY_ALIGN float part[kMatLanes] = {};
      for (std::size_t lane = 0; lane < left; ++lane) part[lane] = p[lane];
      return hn::Load(MatTag(), part);
    });
    hn::Store(x, d, lanes);
    for (std::size_t lane = 0; lane < left; ++lane) {
      const auto at = static_cast<std::size_t>(offset + j) + lane;
      if (out.c_type == Element::f32) {
        reinterpret_cast<float*>(out.c)[at] = lanes[lane];
      } else {
        reinterpret_cast<BFloat16*>(out.c)[at] = to_bfloat16(lanes[lane]);
      }
    }
  }
}

using TileWriter = void (*)(const float*, std::int64_t, const TileOutput&);

inline TileWriter tile_writer(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return write_tile<Activation::relu>;
    case Activation::gelu_erf:
      return write_tile<Activation::gelu_erf>;
    case Activation::gelu_tanh:
      return write_tile<Activation::gelu_tanh>;
    case Activation::quick_gelu:
      return write_tile<Activation::quick_gelu>;
    case Activation::silu:
      return write_tile<Activation::silu>;
    case Activation::tanh:
      return write_tile<Activation::tanh>;
    case Activation::sigmoid:
      return write_tile<Activation::sigmoid>;
    case Activation::none:
      break;
  }
  return write_tile<Activation::none>;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
