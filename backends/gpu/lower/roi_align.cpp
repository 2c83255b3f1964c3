#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/sample.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "backends/gpu/lower/wide.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(std::string("sample_regions_") +
                           type_suffix(computed_float(query.in(0))));
}

void require_fitting(NodeLowering& node) {
  const Shape regions = node.in_shape(1);
  if (node.in_shape(0).size() == 4 && regions.size() == 2 && regions[1] == 4 &&
      node.in_shape(2) == Shape{regions[0]}) {
    return;
  }
  throw Error(ErrorKind::invalid, "regions of shape " + to_string(regions) +
                                      " do not fit a tensor of shape " +
                                      to_string(node.in_shape(0)) + " and batch indices of shape " +
                                      to_string(node.in_shape(2)));
}

void lower(NodeLowering& node) {
  using Params = kernels::SampleRegionsParams;
  require_fitting(node);
  const Operand out = node.out();
  if (out.count() == 0) return;
  const DataType type = computed_float(node.in_type(0));
  const Operand x = emit_cast(node, node.in(0), type);
  const Operand regions = emit_cast(node, node.in(1), type);
  const Operand y = out.dtype == type ? out : node.temporary(type, out.shape);
  if (x.count() == 0) return node.fill(out, 0);
  Params params{node.read(x), node.read(regions), node.read(node.in(2)), node.write(y),
                node.fault()};
  params.n = to_i32(out.count());
  params.batches = to_i32(x.shape[0]);
  params.channels = to_i32(x.shape[1]);
  params.height = to_i32(x.shape[2]);
  params.width = to_i32(x.shape[3]);
  params.out_height = to_i32(out.shape[2]);
  params.out_width = to_i32(out.shape[3]);
  params.ratio = to_i32(node.attrs().integer("sampling_ratio"));
  params.half_pixel = node.attrs().integer("half_pixel") != 0 ? 1 : 0;
  params.average = node.attrs().text("mode") == "avg" ? 1 : 0;
  params.scale = static_cast<float>(node.attrs().number("scale"));
  node.dispatch(node.kernel<Params>(std::string("sample_regions_") + type_suffix(type)),
                flat_groups(params.n, 64), params);
  if (out.dtype != type) emit_cast(node, y, out, false);
  node.add_flops(static_cast<double>(out.count()) * 40);
}

}  // namespace

const Lowering gpu_roi_align{why, lower};

}  // namespace concord::gpu
