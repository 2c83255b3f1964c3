#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/scan.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (!query.node.attrs.has("axis")) return "the axis depends on data";
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("scan_sum_") + type_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int64_t length = x.shape[axis];
  kernels::ScanParams params;
  params.x = node.read(x);
  params.y = node.write(y);
  params.n = to_i32(x.count() / length);
  params.length = to_i32(length);
  params.inner = to_i32(element_count(std::span(x.shape).subspan(axis + 1)));
  params.exclusive = static_cast<std::int32_t>(node.attrs().integer("exclusive"));
  params.reverse = static_cast<std::int32_t>(node.attrs().integer("reverse"));
  node.dispatch(node.kernel<kernels::ScanParams>(std::string("scan_sum_") + type_suffix(x.dtype)),
                flat_groups(params.n, 64), params);
}

}  // namespace

const Lowering gpu_cum_sum{why, lower};

}  // namespace concord::gpu
