#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_float(graph, node);
}

struct Form {
  std::int64_t size;
  float alpha, beta, bias;
};

// y = x / (bias + alpha / size · Σ x²)^beta over `size` channels around each.
void normalise(const Form& form, std::int64_t channels, std::int64_t spatial, const float* x,
               float* y) {
  const std::int64_t before = (form.size - 1) / 2;
  const std::int64_t after = form.size - 1 - before;
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::int64_t first = std::max<std::int64_t>(0, c - before);
    const std::int64_t last = std::min(channels - 1, c + after);
    for (std::int64_t i = 0; i < spatial; ++i) {
      float sum = 0;
      for (std::int64_t k = first; k <= last; ++k) sum += x[k * spatial + i] * x[k * spatial + i];
      const float base = form.bias + form.alpha / static_cast<float>(form.size) * sum;
      y[c * spatial + i] = x[c * spatial + i] / std::pow(base, form.beta);
    }
  }
}

PlanFn prepare(Compiler& c) {
  const Form form{c.attrs().integer("size"), static_cast<float>(c.attrs().number("alpha")),
                  static_cast<float>(c.attrs().number("beta")),
                  static_cast<float>(c.attrs().number("bias"))};
  return [form](Planner& p) {
    const Dims shape = p.shape(0);
    const std::int64_t channels = shape[1];
    const std::int64_t spatial = shape.product(2, shape.rank());
    const Ref x = p.in_f32(0);
    const Ref y = p.out_f32(0);
    const double work = static_cast<double>(shape.count() * form.size) * 2;
    p.emit("lrn", work, [=, batch = shape[0]](const Frame& f) {
      parallel_for(batch, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
          const std::int64_t offset = b * channels * spatial;
          normalise(form, channels, spatial, f.at<const float>(x) + offset,
                    f.at<float>(y) + offset);
        }
      });
    });
  };
}

}  // namespace

const Lowering cpu_lrn{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
