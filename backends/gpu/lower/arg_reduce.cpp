#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/scan.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel("scan_" + query.node.attrs.text("fn") + "_" + type_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int64_t length = x.shape[axis];
  if (length == 0) {
    throw Error(ErrorKind::invalid, "the largest or smallest element of an empty axis");
  }
  using Params = kernels::ScanArgmaxParams;
  Params params;
  params.x = node.read(x);
  params.y = node.write(y);
  params.n = to_i32(x.count() / length);
  params.length = to_i32(length);
  params.inner = to_i32(element_count(std::span(x.shape).subspan(axis + 1)));
  params.select_last = static_cast<std::int32_t>(node.attrs().integer("select_last"));
  const std::string name = "scan_" + node.attrs().text("fn") + "_" + type_suffix(x.dtype);
  node.dispatch(node.kernel<Params>(name), flat_groups(params.n, 64), params);
}

}  // namespace

const Lowering gpu_arg_reduce{why, lower};

}  // namespace concord::gpu
