#include "backends/gpu/kernels/scatter.h"
#include "backends/gpu/lower/indices.h"
#include "backends/gpu/lower/scatter.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  return why_no_scatter(query, "scatter_elements");
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand indices = node.in(1);
  const Operand updates = node.in(2);  // of the indices' shape
  const Operand y = node.out();
  node.copy(x, y);
  if (updates.count() == 0) return;
  require_elements(x);
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const Shape y_own = contiguous_strides(x.shape);
  const Shape u_own = contiguous_strides(indices.shape);
  Shape y_strides = y_own;
  y_strides[axis] = 0;
  const std::string reduction = node.attrs().text("reduction", "none");
  const std::string name = scatter_kernel("scatter_elements", reduction, x.dtype);
  if (reduction == "none") {
    // The updates' own strides keep axes from being joined that only y could join.
    const Shape strides[] = {y_strides, u_own};
    const Walk walk = make_walk(indices.shape, strides);
    using Params = kernels::ScatterElementsParams;
    Params params{node.read(updates), node.read(indices), node.update(y),
                  node.fault(),       walk.count,         walk.rank};
    set_ints(params, &Params::d1, std::span(walk.extents).subspan(1));
    set_ints(params, &Params::y_stride0, walk.strides[0]);
    params.axis_stride = to_i32(y_own[axis]);
    params.length = to_i32(x.shape[axis]);
    node.dispatch(node.kernel<Params>(name), flat_groups(walk.count), params);
    return;
  }
  // One invocation goes along the axis, in order.
  Shape extents = indices.shape;
  extents[axis] = 1;
  const Shape strides[] = {u_own, y_strides};
  const Walk walk = make_walk(extents, strides);
  using Params = kernels::ScatterElementsAddParams;
  Params params{node.read(updates), node.read(indices), node.update(y), node.fault(), walk.count};
  set_ints(params, &Params::d1, std::span(walk.extents).subspan(1));
  set_ints(params, &Params::u_stride0, walk.strides[0]);
  set_ints(params, &Params::y_stride0, walk.strides[1]);
  params.u_axis_stride = to_i32(u_own[axis]);
  params.y_axis_stride = to_i32(y_own[axis]);
  params.u_length = to_i32(indices.shape[axis]);
  params.y_length = to_i32(x.shape[axis]);
  node.dispatch(node.kernel<Params>(name), flat_groups(walk.count, 64), params);
}

}  // namespace

const Lowering gpu_scatter_elements{why, lower};

}  // namespace concord::gpu
