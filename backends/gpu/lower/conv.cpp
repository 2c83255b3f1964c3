// Convolution as a matrix product: the input is padded where it must be, its windows are copied out
// into columns, and the weights multiply them. Where that is mostly copying (few channels to a
// group), or takes more axes than kernels walk, each result sums its own window.

#include <string>
#include <vector>

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/pad.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/window.h"
#include "graph/functions.h"
#include "graph/geometry.h"

namespace concord::gpu {
namespace {

using graph::ConvGeometry;
using graph::Window;

std::optional<std::string> why(const Query& query) {
  if (query.in(4) != DataType::undefined) return "a scaled convolution of integers";
  if (auto reason = why_no_windows(query, "conv_direct_")) return reason;
  const std::string activation = query.node.attrs.text("activation", "");
  if (!fused_activation(activation).has_value()) {
    if (auto reason = why_no_unary(query, *graph::parse_unary(activation), query.in(0))) {
      return reason;
    }
  }
  if (query.in(0) == DataType::undefined || query.in(0) == DataType::f64) return std::nullopt;
  if (auto reason = query.need_kernel(std::string("pad_") + move_suffix(query.in(0)))) {
    return reason;
  }
  return why_no_matmul(query, query.in(0));
}

// x with zeros around its spatial axes (or cropped).
Operand padded(NodeLowering& node, const Operand& x, const Window& window) {
  Shape shape = x.shape;
  Axes before{};
  bool changes = false;
  const std::size_t front = kMaxAxes - x.shape.size();
  for (std::size_t i = 0; i < window.input.size(); ++i) {
    shape[2 + i] += window.pads_begin[i] + window.pads_end[i];
    before[front + 2 + i] = static_cast<std::int32_t>(window.pads_begin[i]);
    changes = changes || window.pads_begin[i] != 0 || window.pads_end[i] != 0;
  }
  if (!changes) return x;
  Operand y = node.temporary(x.dtype, shape);
  using Params = kernels::PadParams;
  Axes y_extents{1, 1, 1, 1, 1, 1};
  Axes x_extents{1, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    y_extents[front + i] = to_i32(shape[i]);
    x_extents[front + i] = to_i32(x.shape[i]);
  }
  Params params{
      node.read(x), node.write(y), {}, to_i32(y.count()), static_cast<std::int32_t>(shape.size())};
  set_ints(params, &Params::d1, std::span(y_extents).subspan(1));
  set_ints(params, &Params::x0, x_extents);
  set_ints(params, &Params::before0, before);
  node.dispatch(node.kernel<Params>(std::string("pad_") + move_suffix(x.dtype)),
                flat_groups(y.count()), params);
  return y;
}

// Columns [N, output…, C, kernel…] of x [N, C, s…]: each row holds one window.
Operand columns(NodeLowering& node, const Operand& x, const ConvGeometry& geometry) {
  const Window& window = geometry.window;
  const Shape own = contiguous_strides(x.shape);
  StridedCopy how;
  how.extents = {geometry.batch};
  how.x_strides = {own[0]};
  for (std::size_t i = 0; i < window.output.size(); ++i) {
    how.extents.push_back(window.output[i]);
    how.x_strides.push_back(window.strides[i] * own[2 + i]);
  }
  how.extents.push_back(geometry.in_channels);
  how.x_strides.push_back(own[1]);
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    how.extents.push_back(window.kernel[i]);
    how.x_strides.push_back(window.dilations[i] * own[2 + i]);
  }
  how.y_strides = contiguous_strides(how.extents);
  Operand y = node.temporary(x.dtype, how.extents);
  emit_copy(node, x, y, how);
  return y;
}

// As elementwise functions on y, where no kernel has them in it.
void emit_activation(NodeLowering& node, const Operand& y) {
  const std::string activation = node.attrs().text("activation", "");
  if (activation.empty()) return;
  emit_unary(node, *graph::parse_unary(activation),
             static_cast<float>(node.attrs().number("alpha", 0.0)),
             static_cast<float>(node.attrs().number("beta", 0.0)), y, y);
}

bool goes_direct(const ConvGeometry& geometry, DataType storage) {
  constexpr std::int64_t kFewChannels = 4;
  constexpr std::size_t kColumnAxes = 2;  // spatial axes whose windows can be copied out
  if (geometry.window.output.size() > kColumnAxes || storage == DataType::f64) return true;
  return geometry.group > 1 && geometry.in_channels / geometry.group <= kFewChannels;
}

void lower_direct(NodeLowering& node, const ConvGeometry& geometry) {
  const Operand y = node.out();
  kernels::WindowParams params = conv_params(geometry);
  params.x = node.read(node.in(0));
  params.w = node.read(node.in(1));
  if (node.has(2)) params.bias = node.read(node.in(2));
  params.y = node.write(y);
  const std::string activation = node.attrs().text("activation", "");
  const std::string plain = std::string("conv_direct_") + type_suffix(y.dtype);
  const std::string activated = "conv_direct_" + activation + "_" + type_suffix(y.dtype);
  const bool in_kernel = !activation.empty() && find_kernel(activated) != nullptr;
  node.dispatch(node.kernel<kernels::WindowParams>(in_kernel ? activated : plain),
                flat_groups(y.count()), params);
  node.add_flops(2.0 * static_cast<double>(y.count()) * static_cast<double>(params.group_in) *
                 static_cast<double>(element_count(geometry.window.kernel)));
  if (!in_kernel) emit_activation(node, y);
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand w = node.in(1);  // [M, C/g, kernel…]
  const Operand y = node.out();  // [N, M, output…]
  if (y.count() == 0) return;
  const ConvGeometry geometry = graph::conv_geometry(node.node(), x.shape, w.shape);
  if (goes_direct(geometry, x.dtype)) return lower_direct(node, geometry);
  const std::int64_t taps = element_count(geometry.window.kernel);
  const std::int64_t places = element_count(geometry.window.output);
  const std::int64_t depth = geometry.in_channels / geometry.group * taps;
  MatmulProblem p;
  p.a = w;
  p.c = y;
  p.m = geometry.out_channels / geometry.group;
  p.n = places;
  p.k = depth;
  p.a_row = depth;
  p.c_row = places;
  p.batch = {geometry.batch, geometry.group};
  p.a_batch = {0, p.m * depth};
  p.c_batch = {geometry.out_channels * places, p.m * places};
  const bool pointwise = taps == 1 && places == x.count() / (x.shape[0] * x.shape[1]);
  if (pointwise) {  // x is the columns, channels first
    p.b = x;
    p.b_row = places;
    p.b_column = 1;
    p.b_batch = {geometry.in_channels * places, depth * places};
  } else {
    p.b = columns(node, padded(node, x, geometry.window), geometry);
    p.b_row = 1;
    p.b_column = geometry.in_channels * taps;
    p.b_batch = {places * geometry.in_channels * taps, depth};
  }
  const std::string activation = node.attrs().text("activation", "");
  const auto fused = fused_activation(activation);
  const bool bias_fits = !node.has(2) || geometry.group == 1;
  if (node.has(2) && bias_fits) {
    p.bias = node.in(2);
    p.bias_per_row = true;
  }
  const bool in_kernel = bias_fits && fused.has_value();
  if (in_kernel) p.activation = *fused;
  emit_matmul(node, p);
  if (!bias_fits) {
    Shape channels(y.shape.size() - 1, 1);
    channels[0] = geometry.out_channels;
    emit_binary(node, graph::BinaryFn::add, y, NodeLowering::view(node.in(2), channels), y);
  }
  if (!in_kernel) emit_activation(node, y);
}

}  // namespace

const Lowering gpu_conv{why, lower};

}  // namespace concord::gpu
