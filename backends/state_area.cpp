#include "backends/state_area.h"

#include <bit>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

namespace concord {
namespace {

void copy_rows(std::int64_t count, std::int64_t bytes, const std::byte* from,
               std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  if (bytes == 0) return;
  for (std::int64_t row = 0; row < count; ++row) {
    std::memcpy(to + row * to_stride, from + row * from_stride, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

std::int64_t state_capacity(std::int64_t length) {
  constexpr std::int64_t smallest = 64;
  if (length <= smallest) return smallest;
  const auto below = std::bit_floor(static_cast<std::uint64_t>(length - 1));
  const auto step = static_cast<std::int64_t>(below / 2);
  return (length + step - 1) / step * step;
}

StateArea::Rows StateArea::rows() const {
  const std::span<const std::int64_t> shape = shape_;
  const std::int64_t step = storage_bytes(whole_.dtype(), element_count(shape.subspan(axis_ + 1)));
  return {element_count(shape.first(axis_)), shape_[axis_] * step, whole_.shape()[axis_] * step};
}

void StateArea::assign(const Tensor& value) {
  whole_ = value.clone();
  axis_ = 0;
  shape_ = value.shape();
  filled_.reset();
}

void StateArea::accept() {
  if (!filled_) throw std::logic_error("a state was accepted that no run had room made for");
  shape_[axis_] = *filled_;
  filled_.reset();
}

Tensor StateArea::read() const {
  Tensor tensor(whole_.dtype(), shape_);
  const Rows used = rows();
  copy_rows(used.count, used.bytes, whole_.data(), used.bytes_of_room, tensor.mutable_data(),
            used.bytes);
  return tensor;
}

void StateArea::make_room(int axis, std::int64_t room, std::int64_t length) {
  const auto along = static_cast<std::size_t>(axis);
  filled_ = length;
  if (axis_ == along && whole_.shape()[axis_] == room) return;
  const Tensor used = read();
  Shape shape = shape_;
  shape[along] = room;
  whole_ = Tensor(used.dtype(), std::move(shape));
  axis_ = along;
  const Rows now = rows();
  copy_rows(now.count, now.bytes, used.data(), now.bytes, whole_.mutable_data(), now.bytes_of_room);
}

}  // namespace concord
