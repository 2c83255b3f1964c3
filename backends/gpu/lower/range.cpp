#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/fill.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.out() == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("fill_range_") + type_suffix(query.out()));
}

// An operand that lives here, or whose value is known: uploaded then, the input may be no tensor of
// the device.
Operand scalar(NodeLowering& node, std::size_t i) {
  if (node.in_type(i) == DataType::i32 && !node.is_constant(i)) {
    if (const auto known = node.known(i)) {
      return node.plan_constant(Tensor::from_ints(*known));
    }
  }
  return node.in(i);
}

void lower(NodeLowering& node) {
  const Operand start = scalar(node, 0);
  const Operand delta = scalar(node, 2);
  const Operand y = node.out();
  const std::int32_t n = to_i32(y.count());
  node.dispatch(
      node.kernel<kernels::FillRangeParams>(std::string("fill_range_") + type_suffix(y.dtype)),
      flat_groups(n),
      kernels::FillRangeParams{node.read(start), node.read(delta), node.write(y), n});
}

}  // namespace

const Lowering gpu_range{why, lower};

}  // namespace concord::gpu
