#include "backends/cpu/ops/conv_integer.h"

#include "backends/cpu/kernels/conv_int8.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/epilogue.h"
#include "backends/cpu/ops/image_plan.h"

namespace concord::cpu {
namespace {

enum : int { kX, kWeights, kBias, kXZero, kScale };

struct Form {
  const graph::Node* node;
  std::shared_ptr<const PackedByteFilter> filter;
  ActivationSpec activation;
};

// Whether elements that follow each other along an axis do so in memory, none twice.
bool goes_forward(const View& view) {
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] > 1 && view.strides[i] <= 0) return false;
  }
  return true;
}

void plan(Planner& p, const Form& form) {
  ConvInt8Args args;
  const Dims w_shape = p.shape(kWeights);
  set_extents(graph::conv_geometry(*form.node, p.shape(kX), w_shape), args.extents);
  const View given = goes_forward(p.view(kX)) ? p.view(kX) : p.dense_view(kX);
  const View x = form.filter->channels_last() ? channels_last(p, given) : given;
  args.x_signed = p.dtype(kX) == DataType::i8;
  args.batch_stride = x.strides[0];
  args.channel_stride = x.strides[1];
  const int axes = x.shape.rank() - 2;
  for (int i = 0; i < axes; ++i) args.spatial_stride[3 - axes + i] = x.strides[2 + i];
  const Ref flipped = args.x_signed ? p.scratch(args.span()) : Ref{};
  const auto fused = form.activation.fused();
  args.activation = fused.value_or(Activation::none);
  const Ref bias = p.in_f32(kBias);
  const Ref zero = p.in(kXZero);
  const Ref scale = p.in_f32(kScale);
  args.scale_stride = p.shape(kScale).count() == 1 ? 0 : 1;
  const ImageResult y = start_channels_last(p);
  p.precision({DataType::i8, DataType::i32, DataType::f32, false});
  const double operations = 2.0 * static_cast<double>(p.out_shape().count()) *
                            static_cast<double>(w_shape.product(1, w_shape.rank()));
  p.emit(
      "conv_integer", operations,
      [args, filter = form.filter, x = x.at, flipped, bias, zero, scale, y = y.at](const Frame& f) {
        ConvInt8Args now = args;
        now.x = f.at(x);
        now.flipped = f.at(flipped);
        now.bias = f.at<const float>(bias);
        now.x_zero = f.at(zero);
        now.scales = f.at<const float>(scale);
        now.y = f.at<float>(y);
        convolve_int8(*filter, now);
      });
  if (!fused) {
    const Afterwards afterwards(form.activation, false, false);
    afterwards.emit(p, Dims{y.shape.count()}, y.at, nullptr, nullptr);
  }
  finish_channels_last(p, y);
}

}  // namespace

std::optional<std::string> why_not_conv_integer(const graph::Graph& graph,
                                                const graph::Node& node) {
  const DataType x = input_dtype(graph, node, kX);
  if (x != DataType::u8 && x != DataType::i8) return type_reason(x);
  if (input_dtype(graph, node, kWeights) != DataType::i8) {
    return type_reason(input_dtype(graph, node, kWeights)) + " as weights";
  }
  if (!graph.value(node.input(kWeights)).constant) return "weights that are no constants";
  if (node.attrs.integer("group") != 1) return "a scaled convolution of integers in groups";
  return std::nullopt;
}

PlanFn prepare_conv_integer(Compiler& c) {
  const Tensor& w = *c.constant(kWeights);
  ConvExtents e;
  e.out_channels = w.shape()[0];
  e.in_channels = w.shape()[1];
  const std::size_t axes = w.shape().size() - 2;
  for (std::size_t i = 0; i < axes; ++i) e.kernel[3 - axes + i] = w.shape()[2 + i];
  auto filter = std::make_shared<const PackedByteFilter>(
      PackedByteFilter::pack(e, reinterpret_cast<const std::int8_t*>(w.data())));
  c.add_weight_bytes(static_cast<std::int64_t>(filter->bytes()));
  w.release_pages();
  const Form form{&c.node(), std::move(filter), activation_of(c.node(), "alpha", "beta")};
  return [form, graph = c.shared_graph()](Planner& p) { plan(p, form); };
}

}  // namespace concord::cpu
