#include "backends/gpu/kernels/softmax.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel("softmax_" + row_width(query.properties, 1) + "_" +
                           type_suffix(query.in(0)));
}

// x [outer…, columns, inner…]
void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int64_t columns = x.rank() == 0 ? 1 : x.shape[axis];
  const std::int64_t inner =
      x.rank() == 0 ? 1 : element_count(std::span(x.shape).subspan(axis + 1));
  const std::int64_t rows = x.count() / columns;
  kernels::SoftmaxParams params{node.read(x),    node.write(y), to_i32(rows),
                                to_i32(columns), to_i32(inner), 1.0F};
  params.scale = static_cast<float>(node.attrs().number("scale", 1.0));
  params.log = static_cast<std::int32_t>(node.attrs().integer("log", 0));
  params.nan_to_zero = static_cast<std::int32_t>(node.attrs().integer("nan_to_zero", 0));
  const std::string name =
      "softmax_" + row_width(node.properties(), columns) + "_" + type_suffix(x.dtype);
  node.dispatch(node.kernel<kernels::SoftmaxParams>(name), row_groups(rows), params);
  node.add_flops(8.0 * static_cast<double>(x.count()));
}

}  // namespace

const Lowering gpu_softmax{why, lower};

}  // namespace concord::gpu
