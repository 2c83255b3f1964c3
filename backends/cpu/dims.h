#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "graph/error.h"
#include "graph/tensor.h"

namespace concord::cpu {

// Extents or strides of a tensor, kept inline: plans are made without a heap allocation per shape.
class Dims {
 public:
  static constexpr int max_rank = 8;

  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) { assign({values.begin(), values.size()}); }
  explicit Dims(std::span<const std::int64_t> values) { assign(values); }
  static Dims filled(int rank, std::int64_t value) {
    Dims dims;
    for (int i = 0; i < rank; ++i) dims.push_back(value);
    return dims;
  }

  int rank() const { return rank_; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return (*this)[rank_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::int64_t* data() { return values_.data(); }
  std::span<const std::int64_t> span() const { return {begin(), end()}; }
  operator std::span<const std::int64_t>() const { return span(); }  // NOLINT

  void push_back(std::int64_t value) {
    if (rank_ == max_rank) {
      throw Error(ErrorKind::unsupported, "the cpu backend takes tensors of at most 8 axes");
    }
    values_[static_cast<std::size_t>(rank_++)] = value;
  }
  void insert(int at, std::int64_t value) {
    push_back(value);
    for (int i = rank_ - 1; i > at; --i) (*this)[i] = (*this)[i - 1];
    (*this)[at] = value;
  }
  void erase(int at) {
    for (int i = at; i + 1 < rank_; ++i) (*this)[i] = (*this)[i + 1];
    --rank_;
  }
  void pop_back() { --rank_; }

  std::int64_t count() const { return product(0, rank_); }
  // Product of the extents of axes [begin, end).
  std::int64_t product(int begin, int end) const {
    std::int64_t result = 1;
    for (int i = begin; i < end; ++i) result *= (*this)[i];
    return result;
  }
  Shape shape() const { return {begin(), end()}; }
  std::string text() const { return to_string(span()); }

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  void assign(std::span<const std::int64_t> values) {
    for (std::int64_t v : values) push_back(v);
  }

  int rank_ = 0;
  std::array<std::int64_t, max_rank> values_{};
};

// Row-major strides in elements.
inline Dims dense_strides(const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * (shape[i + 1] > 1 ? shape[i + 1] : 1);
  }
  return strides;
}

// Strides that are row-major but for axes of extent 1, whose stride does not matter.
inline bool is_dense(const Dims& shape, const Dims& strides) {
  std::int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace concord::cpu
