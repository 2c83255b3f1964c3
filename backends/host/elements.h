#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/dtype.h"
#include "graph/error.h"
#include "graph/tensor.h"

namespace concord::host {

// --- Elements as raw memory: what only moves them need not know their type
// ------------------------

struct Bits128 {
  std::uint64_t low, high;
};

template <typename T>
std::span<const T> raw(const Tensor& t) {
  if constexpr (std::is_same_v<T, std::string>) {
    return t.strings();
  } else {
    return {reinterpret_cast<const T*>(t.data()), static_cast<std::size_t>(t.count())};
  }
}

template <typename T>
std::span<T> raw_mutable(Tensor& t) {
  if constexpr (std::is_same_v<T, std::string>) {
    return t.mutable_strings();
  } else {
    return {reinterpret_cast<T*>(t.mutable_data()), static_cast<std::size_t>(t.count())};
  }
}

template <typename T>
struct Tag {
  using type = T;
};

// f(Tag<T>{}) with T an unsigned integer, Bits128 or std::string as wide as an element.
template <typename F>
auto with_raw(DataType dtype, F&& f) {
  if (dtype == DataType::string) return f(Tag<std::string>{});
  switch (bits(dtype)) {
    case 8:
      return f(Tag<std::uint8_t>{});
    case 16:
      return f(Tag<std::uint16_t>{});
    case 32:
      return f(Tag<std::uint32_t>{});
    case 64:
      return f(Tag<std::uint64_t>{});
    case 128:
      return f(Tag<Bits128>{});
    default:
      throw Error(ErrorKind::failed,
                  "internal: elements of " + std::string(to_string(dtype)) + " cannot be moved");
  }
}

// Sub-byte elements one per byte (a u8 tensor of raw bits, zero-extended), and back.
Tensor unpacked(const Tensor& packed);
Tensor packed_as(DataType dtype, const Tensor& bytes);

// --- Elements as numbers
// --------------------------------------------------------------------------

// f(Tag<T>{}) for the integer types of a byte and more, and bool (as std::uint8_t).
template <typename F>
auto with_integer(DataType dtype, F&& f) {
  switch (dtype) {
    case DataType::boolean:
    case DataType::u8:
      return f(Tag<std::uint8_t>{});
    case DataType::i8:
      return f(Tag<std::int8_t>{});
    case DataType::u16:
      return f(Tag<std::uint16_t>{});
    case DataType::i16:
      return f(Tag<std::int16_t>{});
    case DataType::u32:
      return f(Tag<std::uint32_t>{});
    case DataType::i32:
      return f(Tag<std::int32_t>{});
    case DataType::u64:
      return f(Tag<std::uint64_t>{});
    case DataType::i64:
      return f(Tag<std::int64_t>{});
    default:
      throw Error(ErrorKind::failed,
                  "internal: " + std::string(to_string(dtype)) + " is no integer type here");
  }
}

// Floats of any type, exactly; integers up to 2^53.
std::vector<double> doubles(const Tensor& t);
// A tensor of a float type from numbers, each rounded to it; what is too large becomes infinity, or
// NaN, or the largest number, whichever the type has first.
Tensor from_doubles(DataType dtype, Shape shape, std::span<const double> values);

// f(span) over the elements as something that compares: integers as they are, bool as
// std::uint8_t, floats of any type as double.
template <typename F>
auto with_values(const Tensor& t, F&& f) {
  if (is_float(t.dtype())) {
    if (t.dtype() == DataType::f64) return f(raw<double>(t));
    const std::vector<double> values = doubles(t);
    return f(std::span<const double>(values));
  }
  if (is_sub_byte(t.dtype())) {
    const std::vector<std::int64_t> values = t.ints();
    return f(std::span<const std::int64_t>(values));
  }
  return with_integer(t.dtype(), [&](auto tag) { return f(raw<typename decltype(tag)::type>(t)); });
}

// --- Walking
// --------------------------------------------------------------------------------------

// The multi-index of a flat position.
Shape position_of(std::int64_t flat, std::span<const std::int64_t> shape);

// Shape of a numpy broadcast; Error(invalid) naming both shapes if they do not fit.
Shape broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
// Strides in elements with which a dense tensor of `shape` is read as one of shape `wide`: 0 where
// it is repeated.
Shape broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> wide);

// Product of the extents [from, to).
std::int64_t extent_product(std::span<const std::int64_t> shape, std::size_t from, std::size_t to);

// A shape over which N strided operands are walked at once: extents of 1 are gone, and a dimension
// has joined its inner neighbour where all operands run on. At least one dimension is left.
template <std::size_t N>
struct MergedShape {
  std::vector<std::int64_t> extents;
  std::vector<std::array<std::int64_t, N>> steps;
  bool empty = false;  // an extent is 0

  MergedShape(std::span<const std::int64_t> shape, const std::array<Shape, N>& strides) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      empty = empty || shape[d] == 0;
      if (shape[d] == 1) continue;
      std::array<std::int64_t, N> s;
      for (std::size_t n = 0; n < N; ++n) s[n] = strides[n][d];
      bool joins = !extents.empty();
      for (std::size_t n = 0; n < N && joins; ++n) joins = steps.back()[n] == s[n] * shape[d];
      if (joins) {
        extents.back() *= shape[d];
        steps.back() = s;
      } else {
        extents.push_back(shape[d]);
        steps.push_back(s);
      }
    }
    if (extents.empty()) {
      extents.push_back(1);
      steps.push_back({});
    }
  }

  // Calls each(offsets) for every index of the dimensions that are not `skipped`, in row-major
  // order.
  template <typename F>
  void for_each_outer(const std::vector<bool>& skipped, F&& each) const {
    std::array<std::int64_t, N> offsets{};
    std::vector<std::int64_t> index(extents.size(), 0);
    while (!empty) {
      each(offsets);
      for (std::size_t d = extents.size();;) {
        if (d == 0) return;
        --d;
        if (skipped[d]) continue;
        for (std::size_t n = 0; n < N; ++n) offsets[n] += steps[d][n];
        if (++index[d] < extents[d]) break;
        for (std::size_t n = 0; n < N; ++n) offsets[n] -= steps[d][n] * extents[d];
        index[d] = 0;
      }
    }
  }
};

// Walks `shape` in row-major order over N strided operands at once: calls
// row(offsets, count, steps), each row as long as the strides allow.
template <std::size_t N, typename F>
void for_each_row(std::span<const std::int64_t> shape, const std::array<Shape, N>& strides,
                  F&& row) {
  const MergedShape<N> merged(shape, strides);
  std::vector<bool> skipped(merged.extents.size(), false);
  skipped.back() = true;
  merged.for_each_outer(skipped, [&](const auto& offsets) {
    row(offsets, merged.extents.back(), merged.steps.back());
  });
}

// to[…] = from[…] over `shape`, strides in elements.
template <typename T>
void copy_strided(T* to, const Shape& to_strides, const T* from, const Shape& from_strides,
                  std::span<const std::int64_t> shape) {
  const MergedShape<2> merged(shape, {to_strides, from_strides});
  const std::size_t last = merged.extents.size() - 1;
  const auto step = merged.steps[last];
  const std::int64_t count = merged.extents[last];
  std::vector<bool> skipped(merged.extents.size(), false);
  skipped[last] = true;
  // Where the source runs on along another dimension, squares of both keep to the cache.
  std::size_t run = last;
  for (std::size_t d = 0; d < last && step[1] != 1; ++d) {
    if (merged.steps[d][1] == 1) run = d;
  }
  if (run == last) {
    merged.for_each_outer(skipped, [&](const auto& offset) {
      T* out = to + offset[0];
      const T* in = from + offset[1];
      if (step[0] == 1 && step[1] == 1) {
        std::copy(in, in + count, out);
      } else {
        for (std::int64_t i = 0; i < count; ++i) out[i * step[0]] = in[i * step[1]];
      }
    });
    return;
  }
  skipped[run] = true;
  constexpr std::int64_t square = 16;
  const std::int64_t run_count = merged.extents[run];
  const std::int64_t run_step = merged.steps[run][0];
  merged.for_each_outer(skipped, [&](const auto& offset) {
    for (std::int64_t r = 0; r < run_count; r += square) {
      const std::int64_t run_end = std::min(run_count, r + square);
      for (std::int64_t c = 0; c < count; c += square) {
        const std::int64_t end = std::min(count, c + square);
        for (std::int64_t i = r; i < run_end; ++i) {
          T* out = to + offset[0] + i * run_step;
          const T* in = from + offset[1] + i;
          for (std::int64_t j = c; j < end; ++j) out[j * step[0]] = in[j * step[1]];
        }
      }
    }
  });
}

}  // namespace concord::host
