#include "backends/gpu/kernels/gather.h"

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/indices.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("gather_") + move_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);  // [outer…, length, inner…]
  const Operand indices = node.in(1);
  const Operand y = node.out();
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int32_t n = to_i32(y.count());
  if (n == 0) return;
  require_elements(x);
  const std::int32_t length = to_i32(x.shape[axis]);
  const std::int32_t inner = to_i32(element_count(std::span(x.shape).subspan(axis + 1)));
  node.dispatch(node.kernel<kernels::GatherParams>(std::string("gather_") + move_suffix(x.dtype)),
                flat_groups(n),
                kernels::GatherParams{node.read(x), node.read(indices), node.write(y), node.fault(),
                                      n, length, to_i32(indices.count()), inner});
}

}  // namespace

const Lowering gpu_gather{why, lower};

}  // namespace concord::gpu
