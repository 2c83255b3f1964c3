#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/epilogue.h"
#include "backends/cpu/ops/image_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (auto why = why_not_float(graph, node, {0, 1, 2})) return why;
  const auto& x = graph.value(node.input(0)).shape;
  if (x && x->size() > 5) return "more than three spatial axes";
  return why_not_activation(activation_of(node, "alpha", "beta"));
}

// The weights [C, M/g, k…] as one matrix per group: [C/g, taps · M/g].
using Packed = std::vector<PackedWeights>;

Packed pack(const float* w, std::int64_t channels, std::int64_t columns, std::int64_t taps,
            std::int64_t groups, Element storage) {
  Packed packed;
  const std::int64_t depth = channels / groups;
  std::vector<float> turned(static_cast<std::size_t>(depth * columns * taps));
  for (std::int64_t g = 0; g < groups; ++g) {
    const float* from = w + g * depth * columns * taps;
    for (std::int64_t c = 0; c < depth; ++c) {
      for (std::int64_t m = 0; m < columns; ++m) {
        for (std::int64_t t = 0; t < taps; ++t) {
          turned[static_cast<std::size_t>((c * taps + t) * columns + m)] =
              from[(c * columns + m) * taps + t];
        }
      }
    }
    packed.push_back(PackedWeights::pack(
        MatrixView{turned.data(), Element::f32, depth, taps * columns, taps * columns, 1},
        storage));
  }
  return packed;
}

struct Form {
  const graph::Node* node;
  std::shared_ptr<const Packed> weights;  // null: they come with the run
  ActivationSpec activation;
};

void plan(Planner& p, const Form& form) {
  ConvExtents e;
  set_extents(graph::conv_transpose_geometry(*form.node, p.shape(0), p.shape(1)), e);
  View x = channels_last_f32(p, 0);
  const Dims nhwc = channels_last_strides(x.shape);
  if (!(x.strides == nhwc) && x.shape.count() > 0) {
    View packed = x;
    packed.strides = nhwc;
    packed.at = p.scratch(x.bytes());
    p.emit([x, packed](const Frame& f) {
      copy_strided(4, x.shape, f.at(x.at), x.strides, f.at(packed.at), packed.strides);
    });
    x = packed;
  }
  const std::int64_t columns = e.out_channels / e.groups;
  const std::int64_t pixels = e.batch * e.in_pixels();
  const Ref products = p.scratch(pixels * e.taps() * columns * 4);
  const Ref weights = form.weights ? Ref{} : p.in_f32(1);
  const Ref bias = p.in_f32(2);
  const ImageResult y = start_channels_last(p);
  const bool bf16 = form.weights && (*form.weights)[0].storage() == Element::bf16;
  p.precision({bf16 ? DataType::bf16 : DataType::f32, DataType::f32, p.out_dtype(), false});
  const double flops =
      2.0 * static_cast<double>(pixels * e.in_channels) * static_cast<double>(e.taps() * columns);
  p.emit("conv_transpose", flops, [=, packed = form.weights, x = x.at, y = y.at](const Frame& f) {
    Packed own;
    if (packed == nullptr) {
      own = pack(f.at<const float>(weights), e.in_channels, columns, e.taps(), e.groups,
                 Element::f32);
    }
    const Packed& groups = packed == nullptr ? own : *packed;
    for (std::int64_t g = 0; g < e.groups; ++g) {
      MatmulArgs m;
      m.rows = pixels;
      m.a = f.at<const float>(x) + g * (e.in_channels / e.groups);
      m.lda = e.in_channels;
      m.c = f.at(products);
      m.ldc = e.taps() * columns;
      matmul(groups[static_cast<std::size_t>(g)], m);
      const float* group_bias = bias ? f.at<const float>(bias) + g * columns : nullptr;
      sum_columns(e, f.at<const float>(products), columns, group_bias, f.at<float>(y) + g * columns,
                  e.out_channels);
    }
  });
  const Afterwards afterwards(form.activation, false, false);
  afterwards.emit(p, Dims{y.shape.count()}, y.at, nullptr, nullptr);
  finish_channels_last(p, y);
}

PlanFn prepare(Compiler& c) {
  Form form{&c.node(), nullptr, activation_of(c.node(), "alpha", "beta")};
  if (const Tensor* w = c.constant(1)) {
    const Shape& shape = w->shape();
    std::int64_t taps = 1;
    for (std::size_t i = 2; i < shape.size(); ++i) taps *= shape[i];
    auto packed = std::make_shared<const Packed>(pack(c.constant_f32(*w), shape[0], shape[1], taps,
                                                      c.attrs().integer("group"),
                                                      c.weight_storage(w->dtype())));
    for (const PackedWeights& m : *packed) {
      c.add_weight_bytes(static_cast<std::int64_t>(m.bytes()));
    }
    form.weights = std::move(packed);
    w->release_pages();
  }
  return [form, graph = c.shared_graph()](Planner& p) { plan(p, form); };
}

}  // namespace

const Lowering cpu_conv_transpose{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
