#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graph/tensor.h"

namespace concord {

// Room along the axis on which a state grows: steps of half a power of two, so that a state that
// grows one by one moves seldom. It follows from the length alone, so that a plan, made for one
// length, knows the strides.
std::int64_t state_capacity(std::int64_t length);

// Where a state of a session lies: a dense tensor whose extent along one axis is its capacity, of
// which only a beginning is in use. Appending along that axis writes nothing but what is new.
class StateArea {
 public:
  bool is_set() const { return whole_.defined(); }
  void clear() { *this = StateArea(); }  // as before the first value
  void assign(const Tensor& value);
  Tensor read() const;  // a dense copy of what is in use

  const Shape& shape() const { return shape_; }  // in use
  // A tensor of the extents in use, for those alone: its elements do not lie as it says.
  Tensor outline() const { return {whole_.dtype(), shape_, whole_.storage(), 0}; }
  std::byte* data() { return whole_.mutable_data(); }
  // Lays the area out for a run that leaves `length` along this axis. What is in use stays as it
  // is. `room` is the capacity: at least the larger one of both lengths.
  void make_room(int axis, std::int64_t room, std::int64_t length);
  // The run that room was made for succeeded: what it wrote is in use from now on. Throws
  // std::logic_error if no room was made.
  void accept();

 private:
  struct Rows {  // of the axes before the one that grows
    std::int64_t count, bytes, bytes_of_room;
  };
  Rows rows() const;

  Tensor whole_;
  std::size_t axis_ = 0;
  Shape shape_;
  std::optional<std::int64_t> filled_;  // the length that the run leaves
};

}  // namespace concord
