#include "backends/gpu/kernels/det.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/wide.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("det_") + type_suffix(computed_float(query.in(0))));
}

void lower(NodeLowering& node) {
  const Operand out = node.out();
  if (out.count() == 0) return;
  const Operand x = node.in(0);
  if (x.shape.back() != x.shape[x.shape.size() - 2]) {
    throw Error(ErrorKind::invalid,
                "a tensor of shape " + to_string(x.shape) + " holds no square matrices");
  }
  const DataType type = computed_float(x.dtype);
  // The elimination writes over it.
  const Operand a = node.temporary(type, x.count() > 0 ? x.shape : Shape{1});
  if (x.count() > 0 && x.dtype == type) node.copy(x, a);
  if (x.count() > 0 && x.dtype != type) emit_cast(node, x, a, false);
  const Operand y = out.dtype == type ? out : node.temporary(type, out.shape);
  const std::int64_t size = x.shape.back();
  node.dispatch(
      node.kernel<kernels::DetParams>(std::string("det_") + type_suffix(type)),
      flat_groups(out.count(), 64),
      kernels::DetParams{node.update(a), node.write(y), to_i32(out.count()), to_i32(size)});
  if (out.dtype != type) emit_cast(node, y, out, false);
  const auto n = static_cast<double>(size);
  node.add_flops(static_cast<double>(out.count()) * n * n * n * 2 / 3);
}

}  // namespace

const Lowering gpu_det{why, lower};

}  // namespace concord::gpu
