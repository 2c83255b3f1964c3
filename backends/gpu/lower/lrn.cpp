#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/resample.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lowering.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel("resample_lrn_" + query.in_suffix(0));
}

// x [N, C, …]: over neighbouring channels.
void lower(NodeLowering& node) {
  using Params = kernels::ResampleLrnParams;
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const double size = static_cast<double>(node.attrs().integer("size"));
  Params params;
  params.x = node.read(x);
  params.y = node.write(y);
  params.n = to_i32(y.count());
  params.length = to_i32(x.shape[1]);
  params.inner = to_i32(element_count(std::span(x.shape).subspan(2)));
  params.size = static_cast<std::int32_t>(size);
  params.factor = static_cast<float>(node.attrs().number("alpha") / size);
  params.bias = static_cast<float>(node.attrs().number("bias"));
  params.power = static_cast<float>(node.attrs().number("beta"));
  node.dispatch(node.kernel<Params>(std::string("resample_lrn_") + type_suffix(x.dtype)),
                flat_groups(y.count()), params);
  node.add_flops(static_cast<double>(y.count()) * (2.0 * size + 10.0));
}

}  // namespace

const Lowering gpu_lrn{why, lower};

}  // namespace concord::gpu
