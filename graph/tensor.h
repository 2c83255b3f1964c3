#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/dtype.h"

namespace concord {

using Shape = std::vector<std::int64_t>;

// Product of the extents; throws Error(invalid) on a negative extent or overflow.
std::int64_t element_count(std::span<const std::int64_t> shape);
std::string to_string(std::span<const std::int64_t> shape);  // "[2, 3]"
// Row-major strides in elements.
Shape contiguous_strides(std::span<const std::int64_t> shape);

// Memory that tensors share: heap, a mapped file, strings, or a container's items.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::byte* data() = 0;  // null for strings and items
  // The same bytes where they lie, perhaps at an address that does not fit their type (a weight
  // inside a protobuf). data() makes an aligned copy of such memory on first use.
  virtual const std::byte* in_place() { return data(); }
  virtual std::size_t size() const = 0;
  virtual bool writable() const { return true; }
  // Tells the system that these bytes will not be read soon; mapped storage lets its pages go.
  virtual void release(std::size_t /*offset*/, std::size_t /*bytes*/) {}
};

std::shared_ptr<Storage> allocate_storage(std::size_t bytes);  // 64-byte aligned, uninitialised

// Dense row-major host memory with a type and a shape. Copies share the memory; a tensor whose
// memory is not writable (a mapped file) is read only. Sub-byte types are packed, low bits first.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DataType dtype, Shape shape);  // uninitialised; strings are empty, items undefined
  Tensor(DataType dtype, Shape shape, std::shared_ptr<Storage> storage, std::size_t byte_offset);

  template <typename T>
  static Tensor of(Shape shape, std::span<const T> values);
  template <typename T>
  static Tensor scalar(T value) {
    return of<T>({}, std::span<const T>(&value, 1));
  }
  static Tensor from_ints(std::span<const std::int64_t> values);  // int64, rank 1
  static Tensor zeros(DataType dtype, Shape shape);

  bool defined() const { return dtype_ != DataType::undefined; }
  DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t count() const { return count_; }
  std::int64_t bytes() const { return storage_bytes(dtype_, count_); }

  const std::byte* data() const;
  // For memcpy, uploads and repacking: may be unaligned, but never copies a weight that lies
  // unaligned in its file, as data() and as() do (once, on first use).
  const std::byte* in_place() const;
  std::byte* mutable_data();  // throws if the memory is read only
  // Typed view; throws if T is not the tensor's type (f16 and bf16 are read as uint16_t, bool as
  // bool or uint8_t, and u8 as uint8_t).
  template <typename T>
  std::span<const T> as() const;
  template <typename T>
  std::span<T> as_mutable();
  std::span<const std::string> strings() const;
  std::span<std::string> mutable_strings();
  // Of a container, see dtype.h.
  std::span<const Tensor> items() const;
  std::span<Tensor> mutable_items();
  static Tensor container(DataType dtype, std::vector<Tensor> items);

  // Element as a number, whatever the real type (slow; for printing, small tensors and tests).
  double at_double(std::int64_t index) const;
  std::int64_t at_int(std::int64_t index) const;
  // All elements of an integer or bool tensor.
  std::vector<std::int64_t> ints() const;

  // Same memory under another shape of equal count.
  Tensor reshaped(Shape shape) const;
  Tensor clone() const;
  void release_pages() const;
  const std::shared_ptr<Storage>& storage() const { return storage_; }

 private:
  void check_type(DataType wanted) const;
  // Elements of a typed view: for packed sub-byte types the view is over bytes.
  std::size_t view_size() const {
    return static_cast<std::size_t>(is_sub_byte(dtype_) ? bytes() : count_);
  }

  DataType dtype_ = DataType::undefined;
  Shape shape_;
  std::int64_t count_ = 0;
  std::shared_ptr<Storage> storage_;
  std::size_t offset_ = 0;
};

// Same type, shape and bits (strings compared as strings, containers item by item).
bool identical(const Tensor& a, const Tensor& b);

template <typename T>
std::span<const T> Tensor::as() const {
  check_type(dtype_of<T>());
  return {reinterpret_cast<const T*>(data()), view_size()};
}

template <typename T>
std::span<T> Tensor::as_mutable() {
  check_type(dtype_of<T>());
  return {reinterpret_cast<T*>(mutable_data()), view_size()};
}

template <typename T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
  Tensor result(dtype_of<T>(), std::move(shape));
  std::span<T> target = result.as_mutable<T>();
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = values[i];
  return result;
}

}  // namespace concord
