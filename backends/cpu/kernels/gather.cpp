#include "backends/cpu/kernels/gather.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

constexpr std::size_t kMaxRank = 16;

std::int64_t read_index(const Indices& indices, std::int64_t i) {
  return indices.type == Element::i32 ? static_cast<const std::int32_t*>(indices.data)[i]
                                      : static_cast<const std::int64_t*>(indices.data)[i];
}

// The bad index that comes first in order, whichever thread finds it.
class BadIndex {
 public:
  void found(std::int64_t position, std::int64_t index) {
    std::int64_t first = position_.load();
    while (position < first) {
      if (position_.compare_exchange_weak(first, position)) {
        index_.store(index);  // may be overtaken by one found earlier in order: both are bad
        return;
      }
    }
  }
  bool report(std::int64_t* bad) const {
    if (position_.load() == kNone) return true;
    if (bad != nullptr) *bad = index_.load();
    return false;
  }

 private:
  static constexpr std::int64_t kNone = INT64_MAX;
  std::atomic<std::int64_t> position_{kNone};
  std::atomic<std::int64_t> index_{0};
};

// In [0, extent), or -1.
std::int64_t resolve(std::int64_t index, std::int64_t extent) {
  const std::int64_t place = index < 0 ? index + extent : index;
  return place >= 0 && place < extent ? place : -1;
}

// Copies of a size known when compiled become single moves.
template <typename Body>
void with_element(std::size_t bytes, Body body) {
  switch (bytes) {
    case 1:
      return body(std::integral_constant<std::size_t, 1>());
    case 2:
      return body(std::integral_constant<std::size_t, 2>());
    case 4:
      return body(std::integral_constant<std::size_t, 4>());
    case 8:
      return body(std::integral_constant<std::size_t, 8>());
    default:
      return body(std::integral_constant<std::size_t, 16>());
  }
}

// Of an index tensor inside a data tensor, both dense: walks positions in order.
struct AxisWalk {
  std::size_t rank;
  std::array<std::int64_t, kMaxRank> extent{}, data_stride{};
  std::int64_t axis_stride = 1, axis_extent = 1;
  std::size_t axis;

  AxisWalk(std::span<const std::int64_t> stride, std::span<const std::int64_t> data,
           std::span<const std::int64_t> index, int along)
      : rank(index.size()), axis(static_cast<std::size_t>(along)) {
    for (std::size_t i = 0; i < rank; ++i) {
      extent[i] = index[i];
      data_stride[i] = stride[i];
    }
    axis_stride = data_stride[axis];
    axis_extent = data[axis];
  }
  // Offset in the data of position i of the index tensor, its axis' coordinate left out.
  std::int64_t base(std::int64_t i) const {
    std::int64_t offset = 0;
    for (std::size_t a = rank; a-- > 0;) {
      if (a != axis) offset += i % extent[a] * data_stride[a];
      i /= extent[a];
    }
    return offset;
  }
  // Positions that follow each other in the index tensor and, for one index, in the data.
  std::int64_t row() const {
    const bool follows = rank > 0 && axis + 1 != rank && data_stride[rank - 1] == 1;
    return follows ? std::max<std::int64_t>(1, extent[rank - 1]) : 1;
  }
};

std::int64_t product(std::span<const std::int64_t> shape) {
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) total *= extent;
  return total;
}

// The offset that an index tuple names in a tensor of these axes, in units of its inner part, or
// -1.
std::int64_t tuple_offset(const Indices& indices, std::int64_t tuple,
                          std::span<const std::int64_t> axes, std::int64_t* bad) {
  std::int64_t offset = 0;
  const auto depth = static_cast<std::int64_t>(axes.size());
  for (std::int64_t i = 0; i < depth; ++i) {
    const std::int64_t extent = axes[static_cast<std::size_t>(i)];
    const std::int64_t index = read_index(indices, tuple * depth + i);
    const std::int64_t place = resolve(index, extent);
    if (place < 0) {
      *bad = index;
      return -1;
    }
    offset = offset * extent + place;
  }
  return offset;
}

template <typename T>
T widen(T x) {
  return x;
}
float widen(Half x) {
  return to_float(x);
}
float widen(BFloat16 x) {
  return to_float(x);
}
template <typename T, typename W>
T narrow(W x) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(x);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(x);
  } else {
    return static_cast<T>(x);
  }
}

template <typename T>
T combine(ScatterOp op, T current, T update) {
  const auto a = widen(current);
  const auto b = widen(update);
  switch (op) {
    case ScatterOp::none:
      return update;
    case ScatterOp::add:
      return narrow<T>(a + b);
    case ScatterOp::mul:
      return narrow<T>(a * b);
    case ScatterOp::max:
      return b > a || b != b ? update : current;
    case ScatterOp::min:
      return b < a || b != b ? update : current;
  }
  return update;
}

// Applies n updates of a run.
template <typename T>
void apply_run(ScatterOp op, std::int64_t n, const void* updates, std::int64_t from, void* dst,
               std::int64_t to) {
  const T* u = static_cast<const T*>(updates) + from;
  T* d = static_cast<T*>(dst) + to;
  if (op == ScatterOp::none) {
    std::memcpy(d, u, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) d[i] = combine(op, d[i], u[i]);
}

using ApplyRun = void (*)(ScatterOp, std::int64_t, const void*, std::int64_t, void*, std::int64_t);

ApplyRun apply_for(Element type) {
  switch (type) {
    case Element::f32:
      return apply_run<float>;
    case Element::f16:
      return apply_run<Half>;
    case Element::bf16:
      return apply_run<BFloat16>;
    case Element::f64:
      return apply_run<double>;
    case Element::i8:
      return apply_run<std::int8_t>;
    case Element::i16:
      return apply_run<std::int16_t>;
    case Element::i32:
      return apply_run<std::int32_t>;
    case Element::i64:
      return apply_run<std::int64_t>;
    case Element::boolean:
    case Element::u8:
      return apply_run<std::uint8_t>;
    case Element::u16:
      return apply_run<std::uint16_t>;
    case Element::u32:
      return apply_run<std::uint32_t>;
    case Element::u64:
      return apply_run<std::uint64_t>;
  }
  return nullptr;
}

}  // namespace

bool gather(std::size_t element_bytes, std::int64_t outer, std::int64_t axis, std::int64_t inner,
            const void* src, Indices indices, void* dst, std::int64_t* bad) {
  BadIndex failure;
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  const auto run = static_cast<std::size_t>(inner) * element_bytes;
  const double nanoseconds = 2 + static_cast<double>(run) / 8;
  parallel_for(outer * indices.count, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 const auto copy = [&](auto move) {
                   for (std::int64_t item = begin; item < end; ++item) {
                     const std::int64_t index = read_index(indices, item % indices.count);
                     const std::int64_t place = resolve(index, axis);
                     if (place < 0) return failure.found(item, index);
                     const std::int64_t row = item / indices.count * axis + place;
                     move(to + static_cast<std::size_t>(item) * run,
                          from + static_cast<std::size_t>(row) * run);
                   }
                 };
                 if (inner == 1) {
                   with_element(element_bytes, [&](auto size) {
                     copy([](std::byte* d, const std::byte* s) {
                       std::memcpy(d, s, decltype(size)::value);
                     });
                   });
                 } else {
                   copy([run](std::byte* d, const std::byte* s) { std::memcpy(d, s, run); });
                 }
               });
  return failure.report(bad);
}

bool gather_elements(std::size_t element_bytes, std::span<const std::int64_t> src_shape,
                     std::span<const std::int64_t> index_shape, int axis, const void* src,
                     Indices indices, void* dst, std::int64_t* bad) {
  std::array<std::int64_t, kMaxRank> stride{};
  std::int64_t dense = 1;
  for (std::size_t i = src_shape.size(); i-- > 0;) {
    stride[i] = dense;
    dense *= src_shape[i];
  }
  const AxisWalk walk(stride, src_shape, index_shape, axis);
  BadIndex failure;
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  parallel_for(product(index_shape), 1000, [&](std::int64_t begin, std::int64_t end) {
    with_element(element_bytes, [&](auto size) {
      constexpr std::size_t bytes = decltype(size)::value;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t index = read_index(indices, i);
        const std::int64_t place = resolve(index, walk.axis_extent);
        if (place < 0) return failure.found(i, index);
        const std::int64_t offset = walk.base(i) + place * walk.axis_stride;
        std::memcpy(to + static_cast<std::size_t>(i) * bytes,
                    from + static_cast<std::size_t>(offset) * bytes, bytes);
      }
    });
  });
  return failure.report(bad);
}

bool gather_nd(std::size_t element_bytes, std::int64_t batch, std::int64_t count,
               std::span<const std::int64_t> axes, std::int64_t inner, const void* src,
               Indices indices, void* dst, std::int64_t* bad) {
  BadIndex failure;
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  const auto run = static_cast<std::size_t>(inner) * element_bytes;
  const std::int64_t block = product(axes);
  const double nanoseconds = 4 + static_cast<double>(run) / 8;
  parallel_for(batch * count, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   std::int64_t index = 0;
                   const std::int64_t offset = tuple_offset(indices, item, axes, &index);
                   if (offset < 0) return failure.found(item, index);
                   std::memcpy(to + static_cast<std::size_t>(item) * run,
                               from + static_cast<std::size_t>(item / count * block + offset) * run,
                               run);
                 }
               });
  return failure.report(bad);
}

bool scatter_elements(Element type, ScatterOp op, std::span<const std::int64_t> data_shape,
                      std::span<const std::int64_t> index_shape, int axis, Indices indices,
                      const void* updates, void* dst, std::span<const std::int64_t> dst_stride,
                      std::int64_t* bad) {
  const AxisWalk walk(dst_stride, data_shape, index_shape, axis);
  const ApplyRun apply = apply_for(type);
  const std::int64_t total = product(index_shape);
  const std::int64_t width = walk.row();
  // In order and by one thread: equal indices are applied one after the other. Those that follow
  // each other along a row make one run.
  for (std::int64_t row = 0; row < total; row += width) {
    const std::int64_t base = walk.base(row);
    for (std::int64_t begin = 0; begin < width;) {
      const std::int64_t index = read_index(indices, row + begin);
      std::int64_t end = begin + 1;
      while (end < width && read_index(indices, row + end) == index) ++end;
      const std::int64_t place = resolve(index, walk.axis_extent);
      if (place < 0) {
        if (bad != nullptr) *bad = index;
        return false;
      }
      apply(op, end - begin, updates, row + begin, dst, base + begin + place * walk.axis_stride);
      begin = end;
    }
  }
  return true;
}

bool scatter_nd(Element type, ScatterOp op, std::int64_t count, std::span<const std::int64_t> axes,
                std::int64_t inner, Indices indices, const void* updates, void* dst,
                std::int64_t* bad) {
  const ApplyRun apply = apply_for(type);
  for (std::int64_t item = 0; item < count; ++item) {
    std::int64_t index = 0;
    const std::int64_t offset = tuple_offset(indices, item, axes, &index);
    if (offset < 0) {
      if (bad != nullptr) *bad = index;
      return false;
    }
    apply(op, inner, updates, item * inner, dst, offset * inner);
  }
  return true;
}

}  // namespace concord::cpu
