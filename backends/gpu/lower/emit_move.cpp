// Conversions and movement: the part of emit.h that computes nothing.

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/cast.h"
#include "backends/gpu/kernels/copy.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

const char* move_suffix(DataType storage) {
  return storage == DataType::f16 ? "16" : "32";
}

void emit_cast(NodeLowering& node, const Operand& x, const Operand& y, bool to_bool) {
  Operand from = x;
  if (from.dtype == DataType::f16 && (to_bool || y.dtype != DataType::f32)) {
    from = node.temporary(DataType::f32, x.shape);
    emit_cast(node, x, from, false);
  }
  if (y.dtype == DataType::f16 && from.dtype == DataType::i32) {
    const Operand wide = node.temporary(DataType::f32, x.shape);
    emit_cast(node, from, wide, false);
    from = wide;
  }
  const std::int32_t n = to_i32(y.count());
  const std::string name = std::string("cast_") + type_suffix(from.dtype) + "_" +
                           (to_bool ? "bool" : type_suffix(y.dtype));
  // Kernels that write halves write them in pairs.
  const std::int64_t work = y.dtype == DataType::f16 ? (n + 1) / 2 : n;
  node.dispatch(node.kernel<kernels::CastParams>(name), flat_groups(work),
                kernels::CastParams{node.read(from), node.write(y), n});
}

Operand emit_cast(NodeLowering& node, const Operand& x, DataType dtype) {
  if (x.dtype == dtype) return x;
  Operand y = node.temporary(dtype, x.shape);
  emit_cast(node, x, y, false);
  return y;
}

namespace {

Operand moved(Operand operand, std::int64_t elements) {
  operand.offset += storage_bytes(operand.dtype, elements);
  return operand;
}

bool dense(const Walk& walk, std::size_t operand) {
  return walk.rank == 0 || (walk.rank == 1 && walk.strides[operand][kMaxAxes - 1] == 1);
}

}  // namespace

void emit_copy(NodeLowering& node, const Operand& x, const Operand& y, const StridedCopy& how) {
  const Shape strides[] = {how.x_strides, how.y_strides};
  const Walk walk = make_walk(how.extents, strides);
  if (walk.count == 0) return;
  const Operand from = moved(x, how.x_offset);
  const Operand to = moved(y, how.y_offset);
  if (dense(walk, 0) && dense(walk, 1)) {
    Operand part = from;
    part.shape = how.extents;
    Operand whole = to;
    whole.shape = how.extents;
    return node.copy(part, whole);
  }
  using Params = kernels::CopyStridedParams;
  Params params{node.read(from), node.write(to), walk.count, walk.rank};
  set_ints(params, &Params::d1, std::span(walk.extents).subspan(1));
  set_ints(params, &Params::x_stride0, walk.strides[0]);
  set_ints(params, &Params::y_stride0, walk.strides[1]);
  node.dispatch(node.kernel<Params>(std::string("copy_strided_") + move_suffix(x.dtype)),
                flat_groups(walk.count), params);
}

void emit_broadcast(NodeLowering& node, const Operand& x, const Operand& y) {
  emit_copy(node, x, y,
            {y.shape, broadcast_strides(x.shape, y.shape), contiguous_strides(y.shape), 0, 0});
}

std::optional<std::string> why_no_move(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;  // the type is the reason
  return query.need_kernel(std::string("copy_strided_") + move_suffix(query.in(0)));
}

}  // namespace concord::gpu
