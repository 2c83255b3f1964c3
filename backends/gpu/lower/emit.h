#pragma once

// Elementwise dispatches that several lowerings need.

#include <optional>
#include <string>

#include "backends/gpu/lowering.h"
#include "graph/functions.h"

namespace concord::gpu {

// The shape of a numpy broadcast.
Shape broadcast_shape(const Shape& a, const Shape& b);

// "64", "32" or "16": how kernels that only move elements are named.
const char* move_suffix(DataType storage);

// The kernel for y = fn(x) on `storage`; empty where there is none by one dispatch.
std::string unary_kernel(graph::UnaryFn fn, DataType storage);
std::string binary_kernel(graph::BinaryFn fn, DataType storage, bool strided);

// Reasons why the functions below could not be used.
std::optional<std::string> why_no_unary(const Query& query, graph::UnaryFn fn, DataType storage);
std::optional<std::string> why_no_binary(const Query& query, graph::BinaryFn fn, DataType storage);

// What a function makes of elements of `storage`: i32 for those that yield bool.
DataType result_type(graph::UnaryFn fn, DataType storage);
DataType result_type(graph::BinaryFn fn, DataType storage);

// y = fn(x); y has x's count. x and y may be the same.
void emit_unary(NodeLowering& node, graph::UnaryFn fn, double alpha, double beta, const Operand& x,
                const Operand& y);
// y = fn(a, b), broadcast to y's shape.
void emit_binary(NodeLowering& node, graph::BinaryFn fn, const Operand& a, const Operand& b,
                 const Operand& y);
// y = fn(a) b, broadcast to y's shape, for the functions and types of which there are kernels.
bool can_gate(graph::UnaryFn fn, DataType storage);
void emit_gate(NodeLowering& node, graph::UnaryFn fn, const Operand& a, const Operand& b,
               const Operand& y);
// y = condition ? a : b, broadcast to y's shape.
void emit_select(NodeLowering& node, const Operand& condition, const Operand& a, const Operand& b,
                 const Operand& y);
// y = x converted to y's storage type; `to_bool` makes 0 and 1 of x.
void emit_cast(NodeLowering& node, const Operand& x, const Operand& y, bool to_bool);
// x converted, or x itself where it has that type.
Operand emit_cast(NodeLowering& node, const Operand& x, DataType storage);
// Why elements cannot be converted between these storage types.
std::optional<std::string> why_no_cast(const Query& query, DataType from, DataType to);

// y[c·y_strides] = x[c·x_strides] for all c below `extents`; strides in elements, x and y are moved
// by the offsets (elements) first. Whole copies become plain ones.
struct StridedCopy {
  Shape extents;
  Shape x_strides;
  Shape y_strides;
  std::int64_t x_offset = 0;
  std::int64_t y_offset = 0;
};
void emit_copy(NodeLowering& node, const Operand& x, const Operand& y, const StridedCopy& how);
// y = x broadcast to y's shape.
void emit_broadcast(NodeLowering& node, const Operand& x, const Operand& y);
// Why elements of input 0, or of a storage type, cannot be copied.
std::optional<std::string> why_no_move(const Query& query);
std::optional<std::string> why_no_move(const Query& query, DataType storage);

}  // namespace concord::gpu
