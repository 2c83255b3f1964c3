#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/window.h"
#include "graph/functions.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (auto reason = why_no_windows(query, "conv_transpose_")) return reason;
  const std::string activation = query.node.attrs.text("activation", "");
  if (activation.empty()) return std::nullopt;
  return why_no_unary(query, *graph::parse_unary(activation), query.in(0));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand w = node.in(1);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const graph::ConvGeometry geometry =
      graph::conv_transpose_geometry(node.node(), x.shape, w.shape);
  kernels::WindowParams params = conv_params(geometry);
  params.x = node.read(x);
  params.w = node.read(w);
  if (node.has(2)) params.bias = node.read(node.in(2));
  params.y = node.write(y);
  node.dispatch(
      node.kernel<kernels::WindowParams>(std::string("conv_transpose_") + type_suffix(x.dtype)),
      flat_groups(y.count()), params);
  node.add_flops(2.0 * static_cast<double>(x.count()) * static_cast<double>(params.group_out) *
                 static_cast<double>(element_count(geometry.window.kernel)));
  const std::string activation = node.attrs().text("activation", "");
  if (activation.empty()) return;
  emit_unary(node, *graph::parse_unary(activation),
             static_cast<float>(node.attrs().number("alpha", 0.0)),
             static_cast<float>(node.attrs().number("beta", 0.0)), y, y);
}

}  // namespace

const Lowering gpu_conv_transpose{why, lower};

}  // namespace concord::gpu
