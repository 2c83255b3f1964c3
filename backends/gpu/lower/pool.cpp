#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/window.h"

namespace concord::gpu {
namespace {

// Integers of up to 16 bits are exact in f32, where the largest is found.
DataType computed_type(DataType storage, DataType dtype) {
  const bool small = is_integer(dtype) && bits(dtype) <= 16;
  return small ? DataType::f32 : storage;
}

std::string stem(const graph::Attributes& attrs) {
  return "pool_" + attrs.text("fn") + "_";
}

std::optional<std::string> why(const Query& query) {
  if (query.in_rank(0) > 2 + kMaxSpatialAxes) return "more than three spatial axes";
  const DataType type = computed_type(query.in(0), query.in_dtype(0));
  if (type == DataType::undefined) return std::nullopt;
  return query.need_kernel(stem(query.node.attrs) + type_suffix(type));
}

void lower(NodeLowering& node) {
  using Params = kernels::PoolMaxParams;
  const Operand x = emit_cast(node, node.in(0), computed_type(node.in_type(0), node.in_dtype(0)));
  const Operand out = node.out();
  if (out.count() == 0) return;
  const Operand y = x.dtype == out.dtype ? out : node.temporary(x.dtype, out.shape);
  const graph::ConvGeometry geometry = graph::pool_geometry(node.node(), x.shape);
  const graph::Window& window = geometry.window;
  Params params;
  params.x = node.read(x);
  params.y = node.write(y);
  if (node.has_out(1)) params.indices = node.write(node.out(1));
  params.n = to_i32(y.count());
  set_ints(params, &Params::in_d, spatial(window.input, 1));
  set_ints(params, &Params::out_d, spatial(window.output, 1));
  set_ints(params, &Params::kernel_d, spatial(window.kernel, 1));
  set_ints(params, &Params::stride_d, spatial(window.strides, 1));
  set_ints(params, &Params::dilation_d, spatial(window.dilations, 1));
  set_ints(params, &Params::pad_d, spatial(window.pads_begin, 0));
  set_ints(params, &Params::end_pad_d, spatial(window.pads_end, 0));
  params.count_pad = node.attrs().integer("count_include_pad", 0) != 0 ? 1 : 0;
  params.column_major = node.attrs().integer("storage_order", 0) != 0 ? 1 : 0;
  params.power = static_cast<float>(node.attrs().integer("p", 2));
  node.dispatch(node.kernel<Params>(stem(node.attrs()) + type_suffix(x.dtype)),
                flat_groups(y.count()), params);
  if (x.dtype != out.dtype) emit_cast(node, y, out, false);
  node.add_flops(static_cast<double>(y.count() * element_count(window.kernel)));
}

}  // namespace

const Lowering gpu_pool{why, lower};

}  // namespace concord::gpu
