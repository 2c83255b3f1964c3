#include <algorithm>

#include "backends/cpu/kernels/grid_sample.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  if (!is_kernel_float(dtype) && dtype != DataType::f64) return type_reason(dtype);
  if (input_dtype(graph, node, 1) != dtype) return "regions of another type than the tensor's";
  if (input_dtype(graph, node, 2) != DataType::i64) {
    return type_reason(input_dtype(graph, node, 2)) + " as batch indices";
  }
  return std::nullopt;
}

template <typename T>
void plan(Planner& p, RoiAlignArgs<T> args) {
  const Dims shape = p.shape(0);
  const Dims rois = p.shape(1);
  if (rois[1] != 4 || p.shape(2)[0] != rois[0]) {
    throw Error(ErrorKind::invalid,
                "regions of " + rois.text() + " for " + p.shape(2).text() + " batch indices");
  }
  args.batch = shape[0];
  args.channels = shape[1];
  args.height = shape[2];
  args.width = shape[3];
  args.regions = rois[0];
  const Ref x = std::is_same_v<T, float> ? p.in_f32(0) : p.in(0);
  const Ref at = std::is_same_v<T, float> ? p.in_f32(1) : p.in(1);
  const Ref item = p.in(2);
  const Ref y = std::is_same_v<T, float> ? p.out_f32() : p.out();
  const double samples = static_cast<double>(std::max<std::int64_t>(1, args.sampling_ratio));
  const double work = static_cast<double>(p.out_shape().count()) * samples * samples * 12;
  if (p.out_shape().count() == 0) return;
  p.emit("roi_align", work, [=](const Frame& f) {
    RoiAlignArgs<T> now = args;
    now.x = f.at<const T>(x);
    now.rois = f.at<const T>(at);
    now.item = f.at<const std::int64_t>(item);
    now.y = f.at<T>(y);
    std::int64_t region = 0;
    switch (check_regions(now, &region)) {
      case RoiFault::item:
        throw Error(ErrorKind::invalid, "batch index " + std::to_string(now.item[region]) +
                                            " of region " + std::to_string(region) +
                                            " is outside a batch of " + std::to_string(args.batch));
      case RoiFault::size:
        throw Error(ErrorKind::invalid,
                    "region " + std::to_string(region) + " is too large to be sampled");
      case RoiFault::none:
        roi_align(now);
    }
  });
}

template <typename T>
RoiAlignArgs<T> form_of(const graph::Attributes& attrs) {
  RoiAlignArgs<T> args;
  args.average = attrs.text("mode") == "avg";
  args.half_pixel = attrs.integer("half_pixel") != 0;
  args.scale = attrs.number("scale");
  args.sampling_ratio = attrs.integer("sampling_ratio");
  args.out_height = attrs.integer("height");
  args.out_width = attrs.integer("width");
  return args;
}

PlanFn prepare(Compiler& c) {
  if (c.dtype(0) == DataType::f64) {
    return [args = form_of<double>(c.attrs())](Planner& p) { plan(p, args); };
  }
  return [args = form_of<float>(c.attrs())](Planner& p) { plan(p, args); };
}

}  // namespace

const Lowering cpu_roi_align{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
