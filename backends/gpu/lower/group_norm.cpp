#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/norm.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel("norm_group_" + row_width(query.properties, 1) + "_" +
                           type_suffix(query.in(0)));
}

// x [N, C, …]; a row is one group of channels of one n.
void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const std::int64_t channels = x.shape[1];
  const std::int64_t wanted = node.attrs().integer("groups");
  const std::int64_t groups = wanted == 0 ? channels : wanted;
  const std::int64_t rows = x.shape[0] * groups;
  const std::int64_t columns = x.count() / rows;
  kernels::NormGroupParams params{node.read(x)};
  if (node.has(1)) params.gamma = node.read(node.in(1));
  if (node.has(2)) params.beta = node.read(node.in(2));
  params.y = node.write(y);
  params.rows = to_i32(rows);
  params.columns = to_i32(columns);
  params.groups = to_i32(groups);
  params.channels = to_i32(channels / groups);
  params.epsilon = static_cast<float>(node.attrs().number("epsilon"));
  const std::string name =
      "norm_group_" + row_width(node.properties(), columns) + "_" + type_suffix(x.dtype);
  node.dispatch(node.kernel<kernels::NormGroupParams>(name), row_groups(rows), params);
  node.add_flops(8.0 * static_cast<double>(x.count()));
}

}  // namespace

const Lowering gpu_group_norm{why, lower};

}  // namespace concord::gpu
