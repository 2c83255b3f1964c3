#include "backends/cpu/kernels/conv.h"

#include "backends/cpu/kernels/conv_patches.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/conv_f64.h"
#include "backends/cpu/ops/conv_integer.h"
#include "backends/cpu/ops/epilogue.h"
#include "backends/cpu/ops/image_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (node.has_input(4)) {
    if (auto why = why_not_conv_integer(graph, node)) return why;
  } else if (input_dtype(graph, node, 0) == DataType::f64) {
    if (node.attrs.has("activation")) return "an activation on float64 tensors";
  } else if (auto why = why_not_float(graph, node, {0, 1, 2})) {
    return why;
  }
  const auto& x = graph.value(node.input(0)).shape;
  if (x && x->size() > 5) return "more than three spatial axes";
  return why_not_activation(activation_of(node, "alpha", "beta"));
}

// Weights known when the program is made; their extents as a convolution over no input.
std::shared_ptr<const PackedFilter> pack_constant(Compiler& c) {
  const Tensor* w = c.constant(1);
  if (w == nullptr) return nullptr;
  ConvExtents e;
  e.groups = c.attrs().integer("group");
  e.out_channels = w->shape()[0];
  e.in_channels = w->shape()[1] * e.groups;
  const std::size_t axes = w->shape().size() - 2;
  for (std::size_t i = 0; i < axes; ++i) e.kernel[3 - axes + i] = w->shape()[2 + i];
  auto filter = std::make_shared<const PackedFilter>(
      PackedFilter::pack(e, c.constant_f32(*w), c.weight_storage(w->dtype())));
  c.add_weight_bytes(filter->bytes());
  w->release_pages();
  return filter;
}

// What PackedFilter will say of itself, where it is packed by the run.
bool would_be_channels_last(const ConvExtents& e) {
  return e.depthwise() || gathers_channels_last(e);
}

struct Form {
  const graph::Node* node;
  std::shared_ptr<const PackedFilter> filter;  // null: the weights come with the run
  ActivationSpec activation;
};

void plan(Planner& p, const Form& form) {
  const Dims x_shape = p.shape(0);
  const Dims w_shape = p.shape(1);
  ConvArgs args;
  set_extents(graph::conv_geometry(*form.node, x_shape, w_shape), args.extents);
  const bool last =
      form.filter ? form.filter->channels_last() : would_be_channels_last(args.extents);
  const View x = last ? channels_last_f32(p, 0) : p.view_f32(0);
  args.batch_stride = x.strides[0];
  args.channel_stride = x.strides[1];
  const int axes = x_shape.rank() - 2;
  for (int i = 0; i < axes; ++i) args.spatial_stride[3 - axes + i] = x.strides[2 + i];
  const auto fused = form.activation.fused();
  args.activation = fused.value_or(Activation::none);
  const Ref weights = form.filter ? Ref{} : p.in_f32(1);
  const Ref bias = p.in_f32(2);
  const ImageResult y = start_channels_last(p);
  const bool bf16 = form.filter && form.filter->storage() == Element::bf16;
  p.precision({bf16 ? DataType::bf16 : DataType::f32, DataType::f32, p.out_dtype(), false});
  const double flops = 2.0 * static_cast<double>(p.out_shape().count()) *
                       static_cast<double>(w_shape.product(1, w_shape.rank()));
  p.emit(args.extents.depthwise() ? "conv depthwise" : "conv", flops,
         [args, filter = form.filter, x = x.at, weights, bias, y = y.at](const Frame& f) {
           ConvArgs now = args;
           now.x = f.at<const float>(x);
           now.bias = f.at<const float>(bias);
           now.y = f.at<float>(y);
           if (filter != nullptr) {
             convolve(*filter, now);
           } else {
             convolve(PackedFilter::pack(now.extents, f.at<const float>(weights), Element::f32),
                      now);
           }
         });
  if (!fused) {
    const Afterwards afterwards(form.activation, false, false);
    afterwards.emit(p, Dims{y.shape.count()}, y.at, nullptr, nullptr);
  }
  finish_channels_last(p, y);
}

void plan_f64(Planner& p, const graph::Node& node) {
  ConvExtents e;
  set_extents(graph::conv_geometry(node, p.shape(0), p.shape(1)), e);
  const Ref x = p.in(0);
  const Ref w = p.in(1);
  const Ref bias = p.in(2);
  const Ref y = p.out();
  const std::int64_t terms_per_output = e.in_channels / e.groups * e.taps();
  const auto terms = static_cast<double>(terms_per_output);
  p.emit("conv plain", 2 * terms * static_cast<double>(p.out_shape().count()), [=](const Frame& f) {
    convolve_f64(e, f.at<const double>(x), f.at<const double>(w), f.at<const double>(bias),
                 f.at<double>(y));
  });
}

PlanFn prepare(Compiler& c) {
  if (c.has(4)) return prepare_conv_integer(c);
  if (c.dtype(0) == DataType::f64) {
    return [node = &c.node(), graph = c.shared_graph()](Planner& p) { plan_f64(p, *node); };
  }
  Form form{&c.node(), pack_constant(c), activation_of(c.node(), "alpha", "beta")};
  return [form, graph = c.shared_graph()](Planner& p) { plan(p, form); };
}

}  // namespace

const Lowering cpu_conv{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
