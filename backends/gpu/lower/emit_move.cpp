// Conversions and movement: the part of emit.h that computes nothing.

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/cast.h"
#include "backends/gpu/kernels/copy.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

const char* move_suffix(DataType storage) {
  switch (storage) {
    case DataType::f16:
      return "16";
    case DataType::f64:
      return "64";
    default:
      return "32";
  }
}

namespace {

bool integers(DataType a, DataType b) {
  return !is_float(a) && !is_float(b);
}

// Where no kernel converts at once, f32 lies between; nullopt where one does.
std::optional<DataType> cast_by_way_of(DataType from, DataType to, bool to_bool) {
  const bool halves = from == DataType::f16 || to == DataType::f16;
  if (!halves || from == to) return std::nullopt;
  if (!to_bool && (from == DataType::f32 || to == DataType::f32)) return std::nullopt;
  if (to_bool && from != DataType::f16) return std::nullopt;
  return DataType::f32;
}

// `odd`: rounded so that a second rounding does no harm.
std::string cast_kernel(DataType from, DataType to, bool to_bool, bool odd) {
  if (to_bool && from == DataType::u32) from = DataType::i32;  // zero has the same bits
  return std::string("cast_") + type_suffix(from) + "_" + (to_bool ? "bool" : type_suffix(to)) +
         (odd ? "odd" : "");
}

void dispatch_cast(NodeLowering& node, const std::string& name, const Operand& x,
                   const Operand& y) {
  const std::int32_t n = to_i32(y.count());
  // Kernels that write halves write them in pairs.
  const std::int64_t work = y.dtype == DataType::f16 ? (n + 1) / 2 : n;
  node.dispatch(node.kernel<kernels::CastParams>(name), flat_groups(work),
                kernels::CastParams{node.read(x), node.write(y), n});
}

}  // namespace

std::optional<std::string> why_no_cast(const Query& query, DataType from, DataType to) {
  if (from == to || integers(from, to)) return std::nullopt;
  if (const auto between = cast_by_way_of(from, to, false)) {
    if (auto reason = why_no_cast(query, from, *between)) return reason;
    return why_no_cast(query, *between, to);
  }
  return query.need_kernel(cast_kernel(from, to, false, false));
}

void emit_cast(NodeLowering& node, const Operand& x, const Operand& y, bool to_bool) {
  if (y.count() == 0) return;
  Operand from = x;
  if (const auto between = cast_by_way_of(x.dtype, y.dtype, to_bool)) {
    from = node.temporary(*between, x.shape);
    const bool odd = x.dtype == DataType::f64;
    dispatch_cast(node, cast_kernel(x.dtype, *between, false, odd), x, from);
  }
  if (!to_bool && (from.dtype == y.dtype || integers(from.dtype, y.dtype))) {
    return node.copy(from, y);
  }
  dispatch_cast(node, cast_kernel(from.dtype, y.dtype, to_bool, false), from, y);
}

Operand emit_cast(NodeLowering& node, const Operand& x, DataType storage) {
  if (x.dtype == storage) return x;
  if (integers(x.dtype, storage)) {
    Operand same = x;
    same.dtype = storage;
    return same;
  }
  Operand y = node.temporary(storage, x.shape);
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
  return why_no_move(query, query.in(0));
}

std::optional<std::string> why_no_move(const Query& query, DataType storage) {
  if (storage == DataType::undefined) return std::nullopt;  // the type is the reason
  return query.need_kernel(std::string("copy_strided_") + move_suffix(storage));
}

}  // namespace concord::gpu
