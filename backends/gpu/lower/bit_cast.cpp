#include "backends/gpu/lower/narrow.h"

namespace concord::gpu {
namespace {

bool has_32_bits(DataType dtype, DataType storage) {
  return bits(dtype) == 32 && bits(storage) == 32;
}

// Narrower integers lie extended: their low bits are those of the other type.
bool extended(DataType dtype) {
  return (is_integer(dtype) && bits(dtype) < 32) || dtype == DataType::boolean;
}

std::optional<std::string> why(const Query& query) {
  const DataType from = query.in_dtype(0);
  const DataType to = query.out_dtype();
  if (has_32_bits(from, query.in(0)) && has_32_bits(to, query.out())) return std::nullopt;
  if (extended(from) && is_integer(to) && bits(to) == bits(from)) {
    return query.need_kernel("narrow_wrap_i32");
  }
  return "bits of types that lie in others";
}

void lower(NodeLowering& node) {
  Operand x = node.in(0);
  if (extended(node.in_dtype(0))) {
    return emit_narrow(node, x, node.out(), node.out_dtype(), Overflow::wrap);
  }
  x.dtype = node.out_type();
  node.alias(0, x);
}

}  // namespace

const Lowering gpu_bit_cast{why, lower};

}  // namespace concord::gpu
