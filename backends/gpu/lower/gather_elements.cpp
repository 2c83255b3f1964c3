#include "backends/gpu/kernels/gather.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/indices.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

using Params = kernels::GatherElementsParams;

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("gather_elements_") + move_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand indices = node.in(1);
  const Operand y = node.out();
  if (y.count() == 0) return;
  require_elements(x);
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const Shape own = contiguous_strides(x.shape);
  Shape x_strides = own;
  x_strides[axis] = 0;
  // The indices' strides keep axes from being joined wrongly.
  const Shape strides[] = {x_strides, contiguous_strides(indices.shape)};
  const Walk walk = make_walk(indices.shape, strides);
  Params params{node.read(x), node.read(indices), node.write(y),
                node.fault(), walk.count,         walk.rank};
  set_ints(params, &Params::d1, std::span(walk.extents).subspan(1));
  set_ints(params, &Params::x_stride0, walk.strides[0]);
  params.axis_stride = to_i32(own[axis]);
  params.length = to_i32(x.shape[axis]);
  node.dispatch(node.kernel<Params>(std::string("gather_elements_") + move_suffix(x.dtype)),
                flat_groups(walk.count), params);
}

}  // namespace

const Lowering gpu_gather_elements{why, lower};

}  // namespace concord::gpu
