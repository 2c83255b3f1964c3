#include "backends/gpu/kernels/fill.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined || query.out() == DataType::undefined) return std::nullopt;
  if (auto reason = why_no_cast(query, query.in(0), DataType::i32)) return reason;
  return query.need_kernel(std::string("fill_one_hot_") + move_suffix(query.out()));
}

void lower(NodeLowering& node) {
  const Operand indices = emit_cast(node, node.in(0), DataType::i32);
  const Operand values = node.in(2);  // [off, on]
  const Operand y = node.out();
  if (y.count() == 0) return;
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int32_t inner = to_i32(element_count(std::span(indices.shape).subspan(axis)));
  node.dispatch(
      node.kernel<kernels::FillOneHotParams>(std::string("fill_one_hot_") + move_suffix(y.dtype)),
      flat_groups(y.count()),
      kernels::FillOneHotParams{node.read(indices), node.read(values), node.write(y),
                                to_i32(y.count()), to_i32(y.shape[axis]), inner});
}

}  // namespace

const Lowering gpu_one_hot{why, lower};

}  // namespace concord::gpu
