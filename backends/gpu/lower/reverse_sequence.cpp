#include "backends/gpu/kernels/gather.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::string kernel_name(DataType storage) {
  return std::string("gather_reversed_") + move_suffix(storage);
}

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(kernel_name(query.in(0)));
}

void lower(NodeLowering& node) {
  using Params = kernels::GatherReversedParams;
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const Shape strides = contiguous_strides(x.shape);
  const auto batch = static_cast<std::size_t>(node.attrs().integer("batch_axis"));
  const auto time = static_cast<std::size_t>(node.attrs().integer("time_axis"));
  Params params{node.read(x), node.read(node.in(1)), node.write(y), node.fault()};
  params.n = to_i32(y.count());
  params.batches = to_i32(x.shape[batch]);
  params.batch_stride = to_i32(strides[batch]);
  params.times = to_i32(x.shape[time]);
  params.time_stride = to_i32(strides[time]);
  node.dispatch(node.kernel<Params>(kernel_name(x.dtype)), flat_groups(y.count()), params);
}

}  // namespace

const Lowering gpu_reverse_sequence{why, lower};

}  // namespace concord::gpu
