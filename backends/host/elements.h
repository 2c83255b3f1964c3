#pragma once

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

// Walks `shape` in row-major order over N strided operands at once: calls
// row(offsets, count, steps), each row as long as the strides allow.
template <std::size_t N, typename F>
void for_each_row(std::span<const std::int64_t> shape, const std::array<Shape, N>& strides,
                  F&& row) {
  // Extents of 1 go, and a dimension joins its inner neighbour where all operands run on.
  std::vector<std::int64_t> extents;
  std::vector<std::array<std::int64_t, N>> steps;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return;
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
  std::array<std::int64_t, N> offsets{};
  if (extents.empty()) {
    row(offsets, std::int64_t{1}, std::array<std::int64_t, N>{});
    return;
  }
  const std::size_t outer = extents.size() - 1;
  std::vector<std::int64_t> index(outer, 0);
  while (true) {
    row(offsets, extents[outer], steps[outer]);
    for (std::size_t d = outer;;) {
      if (d == 0) return;
      --d;
      for (std::size_t n = 0; n < N; ++n) offsets[n] += steps[d][n];
      if (++index[d] < extents[d]) break;
      for (std::size_t n = 0; n < N; ++n) offsets[n] -= steps[d][n] * extents[d];
      index[d] = 0;
    }
  }
}

// to[…] = from[…] over `shape`, strides in elements.
template <typename T>
void copy_strided(T* to, const Shape& to_strides, const T* from, const Shape& from_strides,
                  std::span<const std::int64_t> shape) {
  for_each_row<2>(shape, {to_strides, from_strides},
                  [&](const auto& offset, std::int64_t count, const auto& step) {
                    T* out = to + offset[0];
                    const T* in = from + offset[1];
                    if (step[0] == 1 && step[1] == 1) {
                      std::copy(in, in + count, out);
                    } else {
                      for (std::int64_t i = 0; i < count; ++i) out[i * step[0]] = in[i * step[1]];
                    }
                  });
}

}  // namespace concord::host
