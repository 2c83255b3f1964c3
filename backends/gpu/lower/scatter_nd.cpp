#include "backends/gpu/kernels/scatter.h"
#include "backends/gpu/lower/indices.h"
#include "backends/gpu/lower/scatter.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  return why_no_scatter(query, "scatter_nd");
}

// x [indexed…, inner…], indices [tuples…, depth], updates [tuples…, inner…]
void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand indices = node.in(1);
  const Operand updates = node.in(2);
  const Operand y = node.out();
  node.copy(x, y);
  if (updates.count() == 0) return;
  require_elements(x);
  const auto depth = static_cast<std::size_t>(indices.shape.back());
  if (depth > kMaxAxes) {
    throw Error(ErrorKind::unsupported, "index tuples of more than 6 coordinates",
                "use the cpu backend");
  }
  const Shape own = contiguous_strides(x.shape);
  Axes lengths{};
  Axes strides{};
  for (std::size_t i = 0; i < depth; ++i) {
    lengths[i] = to_i32(x.shape[i]);
    strides[i] = to_i32(own[i]);
  }
  const std::int32_t inner = to_i32(element_count(std::span(x.shape).subspan(depth)));
  const std::string reduction = node.attrs().text("reduction", "none");
  const std::string name = scatter_kernel("scatter_nd", reduction, x.dtype);
  const auto common = [&](auto params) {
    using Params = decltype(params);
    params.updates = node.read(updates);
    params.indices = node.read(indices);
    params.y = node.update(y);
    params.fault = node.fault();
    params.depth = static_cast<std::int32_t>(depth);
    set_ints(params, &Params::l0, lengths);
    set_ints(params, &Params::s0, strides);
    return params;
  };
  if (reduction == "none") {
    auto params = common(kernels::ScatterParams{});
    params.n = to_i32(updates.count());
    params.inner = inner;
    node.dispatch(node.kernel<kernels::ScatterParams>(name), flat_groups(params.n), params);
  } else {
    auto params = common(kernels::ScatterNdAddParams{});
    params.n = inner;
    params.count = to_i32(updates.count() / inner);
    node.dispatch(node.kernel<kernels::ScatterNdAddParams>(name), flat_groups(inner, 64), params);
  }
}

}  // namespace

const Lowering gpu_scatter_nd{why, lower};

}  // namespace concord::gpu
