#include "backends/gpu/lower/cumulative.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/scan.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

// The axis is known when the plan is made.
void lower_along(NodeLowering& node, const std::string& kernel, std::size_t axis) {
  const Operand x = node.in(0);
  const std::int64_t length = x.shape[axis];
  kernels::ScanParams params;
  params.x = node.read(x);
  params.y = node.write(node.out());
  params.n = to_i32(x.count() / length);
  params.length = to_i32(length);
  params.inner = to_i32(element_count(std::span(x.shape).subspan(axis + 1)));
  params.exclusive = static_cast<std::int32_t>(node.attrs().integer("exclusive"));
  params.reverse = static_cast<std::int32_t>(node.attrs().integer("reverse"));
  node.dispatch(node.kernel<kernels::ScanParams>(kernel + "_" + type_suffix(x.dtype)),
                flat_groups(params.n, 64), params);
}

// The axis is data.
void lower_any(NodeLowering& node, const std::string& kernel) {
  using Params = kernels::ScanSumAnyParams;
  const Operand x = node.in(0);
  Axes extents{1, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    extents[kMaxAxes - x.shape.size() + i] = to_i32(x.shape[i]);
  }
  Params params{node.read(x), node.write(node.out()), node.read(node.in(1)), node.fault()};
  params.n = to_i32(x.count());
  params.rank = static_cast<std::int32_t>(x.rank());
  set_ints(params, &Params::d0, extents);
  params.exclusive = static_cast<std::int32_t>(node.attrs().integer("exclusive"));
  params.reverse = static_cast<std::int32_t>(node.attrs().integer("reverse"));
  node.dispatch(node.kernel<Params>(kernel + "_any_" + type_suffix(x.dtype)),
                flat_groups(params.n, 64), params);
}

}  // namespace

std::optional<std::string> why_no_cumulative(const Query& query, const std::string& kernel) {
  if (query.in_rank(0) > static_cast<std::int64_t>(kMaxAxes)) return "more than 6 axes";
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(kernel + "_" + query.in_suffix(0));
}

void lower_cumulative(NodeLowering& node, const std::string& kernel) {
  if (node.out().count() == 0) return;
  if (!node.attrs().has("axis")) return lower_any(node, kernel);
  lower_along(node, kernel, static_cast<std::size_t>(node.attrs().integer("axis")));
}

}  // namespace concord::gpu
