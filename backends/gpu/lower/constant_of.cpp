#include <array>
#include <cstring>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  return query.out() == DataType::f64 ? why_no_move(query, query.out()) : std::nullopt;
}

void lower(NodeLowering& node) {
  const Operand y = node.out();
  const Tensor& value = node.attrs().tensor("value");
  if (y.dtype == DataType::f64) {  // fills repeat 32 bits
    return emit_broadcast(node, NodeLowering::view(node.plan_constant(value), {}), y);
  }
  std::uint32_t bits = 0;
  std::array<std::byte, 4> element{};
  to_storage(value, y.dtype, element);
  std::memcpy(&bits, element.data(), sizeof bits);
  if (y.dtype == DataType::f16) bits |= bits << 16;
  node.fill(y, bits);
}

}  // namespace

const Lowering gpu_constant_of{why, lower};

}  // namespace concord::gpu
