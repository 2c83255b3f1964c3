#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/sample.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/wide.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

constexpr std::int64_t kMostAxes = 3;

std::optional<std::string> why(const Query& query) {
  if (query.in_rank(0) > kMostAxes + 2) return "samples of more than 3 axes";
  if (query.in(0) == DataType::undefined) return std::nullopt;
  if (query.in(1) == DataType::f64 && query.in(0) != DataType::f64) {
    return "positions of float64 for numbers that are not";
  }
  return query.need_kernel(std::string("sample_grid_") + type_suffix(computed_float(query.in(0))));
}

std::int32_t mode_of(const std::string& mode) {
  return mode == "nearest" ? 0 : mode == "linear" ? 1 : 2;
}

std::int32_t padding_of(const std::string& padding) {
  return padding == "zeros" ? 0 : padding == "border" ? 1 : 2;
}

void require_fitting(const Shape& x, const Shape& grid) {
  if (x.size() >= 3 && grid.size() == x.size() && grid[0] == x[0] &&
      grid.back() == static_cast<std::int64_t>(x.size()) - 2) {
    return;
  }
  throw Error(ErrorKind::invalid, "a grid of shape " + to_string(grid) +
                                      " does not fit a tensor of shape " + to_string(x));
}

void lower(NodeLowering& node) {
  require_fitting(node.in_shape(0), node.in_shape(1));
  const Operand out = node.out();
  if (out.count() == 0) return;
  const DataType type = computed_float(node.in_type(0));
  const Operand x = emit_cast(node, node.in(0), type);
  const Operand grid = emit_cast(node, node.in(1), type);
  if (x.count() == 0) {
    throw Error(ErrorKind::invalid,
                "there is nothing to sample in a tensor of shape " + to_string(x.shape));
  }
  const Operand y = out.dtype == type ? out : node.temporary(type, out.shape);
  const std::int64_t axes = x.rank() - 2;
  std::int32_t extents[] = {1, 1, 1};
  for (std::int64_t d = 0; d < axes; ++d) {
    extents[kMostAxes - axes + d] = to_i32(x.shape[static_cast<std::size_t>(d + 2)]);
  }
  kernels::SampleParams params{node.read(x), node.read(grid), node.write(y)};
  params.n = to_i32(out.count());
  params.channels = to_i32(x.shape[1]);
  params.places = to_i32(element_count(std::span(out.shape).subspan(2)));
  params.axes = static_cast<std::int32_t>(axes);
  params.e0 = extents[0];
  params.e1 = extents[1];
  params.e2 = extents[2];
  params.mode = mode_of(node.attrs().text("mode"));
  params.padding = padding_of(node.attrs().text("padding"));
  params.align_corners = node.attrs().integer("align_corners") != 0 ? 1 : 0;
  params.pixels = node.attrs().integer("pixels") != 0 ? 1 : 0;
  node.dispatch(node.kernel<kernels::SampleParams>(std::string("sample_grid_") + type_suffix(type)),
                flat_groups(params.n, 64), params);
  if (out.dtype != type) emit_cast(node, y, out, false);
  node.add_flops(static_cast<double>(out.count()) * 20);
}

}  // namespace

const Lowering gpu_grid_sample{why, lower};

}  // namespace concord::gpu
