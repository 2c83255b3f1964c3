#include "backends/gpu/kernels/cast.h"

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/narrow.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

bool is_unsigned(DataType dtype) {
  return is_integer(dtype) && !is_signed_integer(dtype);
}

// 64-bit integers lie in 32 bits, signed or not: what the other kind could not tell apart.
std::optional<std::string> why_not_exact(DataType from, DataType to) {
  const bool wide_unsigned = from == DataType::u32 || from == DataType::u64;
  if (wide_unsigned && to == DataType::i64) return "integers of 32 bits unsigned to int64";
  const bool into_u64 = to == DataType::u64 && !is_unsigned(from) && from != DataType::boolean;
  if (into_u64) return "numbers that may be negative or large to uint64";
  return std::nullopt;
}

std::optional<std::string> why(const Query& query) {
  if (auto reason = why_not_exact(query.in_dtype(0), query.out_dtype())) return reason;
  if (query.in(0) == DataType::undefined || query.out() == DataType::undefined) return std::nullopt;
  return why_no_cast(query, query.in(0), query.out());
}

// Whether all numbers of integer type `from` are of type `to` as well.
bool holds(DataType to, DataType from) {
  if (from == DataType::boolean) return true;
  if (is_signed_integer(from)) return is_signed_integer(to) && bits(to) >= bits(from);
  return bits(to) > bits(from) || (bits(to) == bits(from) && is_unsigned(to));
}

// x in the storage type of `to`, which is narrower: floats to odd, as they are rounded again.
Operand to_narrow_storage(NodeLowering& node, const Operand& x, DataType storage) {
  if (x.dtype != DataType::f64 || storage != DataType::f32) return emit_cast(node, x, storage);
  Operand y = node.temporary(storage, x.shape);
  const std::int32_t n = to_i32(x.count());
  node.dispatch(node.kernel<kernels::CastParams>("cast_f64_f32odd"), flat_groups(n),
                kernels::CastParams{node.read(x), node.write(y), n});
  return y;
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const DataType from = node.in_dtype(0);
  const DataType to = node.out_dtype();
  const DataType storage = node.out_type();
  if (to == DataType::boolean && from != DataType::boolean) {
    return emit_cast(node, x, node.out(), true);
  }
  const bool from_integers = !is_float(from);
  const bool exact = from == to || (from_integers && !is_float(to) && holds(to, from));
  if (exact || !lies_wider(to, storage)) {
    if (x.dtype == storage || (from_integers && !is_float(to))) {
      return node.alias(0, emit_cast(node, x, storage));
    }
    return emit_cast(node, x, node.out(), false);
  }
  // Floats saturate to integers of a byte and more; below, ONNX's data has the low bits.
  const bool saturates =
      is_float(to) ? node.attrs().integer("saturate", 1) != 0 : !from_integers && !is_sub_byte(to);
  emit_narrow(node, to_narrow_storage(node, x, storage), node.out(), to,
              saturates ? Overflow::saturate : Overflow::wrap);
}

}  // namespace

const Lowering gpu_cast{why, lower};

}  // namespace concord::gpu
