#include <algorithm>

#include "backends/gpu/kernels/fill.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("fill_trilu_") + move_suffix(query.in(0)));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  const std::int64_t diagonal = node.attrs().integer("k", 0);
  const DevicePtr from_data = node.has(1) ? node.read(node.in(1)) : DevicePtr{};
  const std::int32_t n = to_i32(y.count());
  const std::int32_t rows = to_i32(y.shape[y.shape.size() - 2]);
  const std::int32_t columns = to_i32(y.shape.back());
  const auto bounded = std::clamp<std::int64_t>(diagonal, -rows - 1, columns + 1);
  node.dispatch(
      node.kernel<kernels::FillTriluParams>(std::string("fill_trilu_") + move_suffix(x.dtype)),
      flat_groups(n),
      kernels::FillTriluParams{node.read(x), node.write(y), from_data, n, rows, columns,
                               static_cast<std::int32_t>(bounded),
                               static_cast<std::int32_t>(node.attrs().integer("upper"))});
}

}  // namespace

const Lowering gpu_trilu{why, lower};

}  // namespace concord::gpu
