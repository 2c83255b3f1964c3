#include "backends/cpu/ops/image_plan.h"

#include "backends/cpu/kernels/copy.h"

namespace concord::cpu {

Dims channels_last_strides(const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  std::int64_t step = shape[1];
  for (int i = shape.rank() - 1; i >= 2; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  strides[0] = step;
  return strides;
}

bool is_channels_last(const View& view) {
  return view.strides[1] == 1 || view.shape[1] == 1;
}

View channels_last(Planner& p, const View& view) {
  if (is_channels_last(view)) return view;
  View turned = view;
  turned.strides = channels_last_strides(view.shape);
  turned.at = p.scratch(view.bytes());
  p.emit([view, turned, size = element_bytes(view.dtype)](const Frame& f) {
    copy_strided(size, view.shape, f.at(view.at), view.strides, f.at(turned.at), turned.strides);
  });
  return turned;
}

View channels_last_f32(Planner& p, int input) {
  return channels_last(p, p.view_f32(input));
}

ImageResult start_channels_last(Planner& p, int output) {
  ImageResult result;
  result.shape = p.out_shape(output);
  const Dims strides = channels_last_strides(result.shape);
  if (is_dense(result.shape, strides)) {
    result.at = p.out_f32(output);
  } else if (p.out_dtype(output) == DataType::f32 && p.output_may_be_strided(output)) {
    result.at = p.out_strided(output, strides).at;
  } else {
    result.at = p.scratch(result.shape.count() * 4);
    result.dense = p.out_f32(output);
  }
  return result;
}

void finish_channels_last(Planner& p, const ImageResult& result) {
  if (!result.dense) return;
  p.emit([result](const Frame& f) {
    copy_strided(4, result.shape, f.at(result.at), channels_last_strides(result.shape),
                 f.at(result.dense), dense_strides(result.shape));
  });
}

void set_extents(const graph::ConvGeometry& g, ConvExtents& e) {
  e.batch = g.batch;
  e.in_channels = g.in_channels;
  e.out_channels = g.out_channels;
  e.groups = g.group;
  const std::size_t axes = g.window.kernel.size();
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t to = 3 - axes + i;
    e.in[to] = g.window.input[i];
    e.out[to] = g.window.output[i];
    e.kernel[to] = g.window.kernel[i];
    e.stride[to] = g.window.strides[i];
    e.dilation[to] = g.window.dilations[i];
    e.pad[to] = g.window.pads_begin[i];
  }
}

}  // namespace concord::cpu
