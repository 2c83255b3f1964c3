#include <array>

#include "backends/gpu/kernels/gather.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/indices.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

using Params = kernels::GatherNdParams;

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("gather_nd_") + move_suffix(query.in(0)));
}

// x [batch…, indexed…, inner…], indices [batch…, tuples…, depth] → y [batch…, tuples…, inner…]
void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand indices = node.in(1);
  const Operand y = node.out();
  if (y.count() == 0) return;
  require_elements(x);
  const auto batch_dims = static_cast<std::size_t>(node.attrs().integer("batch_dims", 0));
  const auto depth = static_cast<std::size_t>(indices.shape.back());
  if (depth > kMaxAxes) {
    throw Error(ErrorKind::unsupported, "index tuples of more than 6 coordinates",
                "use the cpu backend");
  }
  const std::span<const std::int64_t> shape(x.shape);
  const std::int64_t batches = element_count(shape.first(batch_dims));
  const std::int64_t inner = element_count(shape.subspan(batch_dims + depth));
  const Shape own = contiguous_strides(x.shape);
  Axes lengths{};
  Axes strides{};
  for (std::size_t i = 0; i < depth; ++i) {
    lengths[i] = to_i32(x.shape[batch_dims + i]);
    strides[i] = to_i32(own[batch_dims + i]);
  }
  Params params{node.read(x), node.read(indices), node.write(y), node.fault()};
  params.n = to_i32(y.count());
  params.inner = to_i32(inner);
  params.count = to_i32(y.count() / (batches * inner));
  params.batch_stride = to_i32(x.count() / batches);
  params.depth = to_i32(indices.shape.back());
  set_ints(params, &Params::l0, lengths);
  set_ints(params, &Params::s0, strides);
  node.dispatch(node.kernel<Params>(std::string("gather_nd_") + move_suffix(x.dtype)),
                flat_groups(y.count()), params);
}

}  // namespace

const Lowering gpu_gather_nd{why, lower};

}  // namespace concord::gpu
