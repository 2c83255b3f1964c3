#include "backends/cpu/kernels/softmax.h"

#include <cmath>
#include <limits>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (input_dtype(graph, node, 0) == DataType::f64) return std::nullopt;
  return why_not_float(graph, node);
}

struct Form {
  int axis;
  bool log, nan_to_zero;
  double scale;
};

// float64, by plain loops: x and y [outer, n, inner].
void softmax_f64(const Form& form, std::int64_t outer, std::int64_t n, std::int64_t inner,
                 const double* x, double* y) {
  parallel_for(outer * inner, 1 + 250 / (n + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t first = line / inner * n * inner + line % inner;
      const double* from = x + first;
      double* to = y + first;
      double highest = -std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < n; ++i) {
        const double value = form.scale * from[i * inner];
        if (value != value || value > highest) highest = value;
      }
      double total = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double shifted = form.scale * from[i * inner] - highest;
        to[i * inner] = form.log ? shifted : std::exp(shifted);
        total += std::exp(shifted);
      }
      const double log_total = std::log(total);
      for (std::int64_t i = 0; i < n; ++i) {
        double& value = to[i * inner];
        value = form.log ? value - log_total : value / total;
        if (form.nan_to_zero && value != value) value = 0;
      }
    }
  });
}

// is_nan(x) ? 0 : x
std::shared_ptr<const ElementProgram> nan_to_zero_program() {
  ElementStep is_nan, zero, choose;
  is_nan.op = ElementOp::is_nan;
  zero.op = ElementOp::sub;  // the flag minus itself
  zero.a = zero.b = 1;
  choose.op = ElementOp::select;
  choose.a = 1;
  choose.b = 2;
  choose.c = 0;
  return std::make_shared<const ElementProgram>(std::vector{Element::f32},
                                                std::vector{is_nan, zero, choose}, std::vector{3},
                                                std::vector{Element::f32});
}

PlanFn prepare(Compiler& c) {
  const auto axis = static_cast<int>(c.attrs().integer("axis"));
  const bool log = c.attrs().integer("log", 0) != 0;
  const auto scale = static_cast<float>(c.attrs().number("scale", 1.0));
  const bool nan_to_zero = c.attrs().integer("nan_to_zero", 0) != 0;
  if (c.dtype(0) == DataType::f64) {
    const Form form{axis, log, nan_to_zero, c.attrs().number("scale", 1.0)};
    return [form](Planner& p) {
      const Dims shape = p.shape(0);
      const Ref x = p.in(0);
      const Ref y = p.out();
      p.emit("softmax plain", 5.0 * static_cast<double>(shape.count()), [=](const Frame& f) {
        softmax_f64(form, shape.product(0, form.axis), shape[form.axis],
                    shape.product(form.axis + 1, shape.rank()), f.at<const double>(x),
                    f.at<double>(y));
      });
    };
  }
  const auto clean = nan_to_zero ? nan_to_zero_program() : nullptr;
  return [=](Planner& p) {
    const Dims shape = p.shape(0);
    const std::int64_t inner = shape.product(axis + 1, shape.rank());
    const Ref x = p.in_f32(0);
    const Ref y = p.out_f32(0, 1);
    const double operations = 5.0 * static_cast<double>(shape.count());
    if (inner == 1) {
      SoftmaxArgs args;
      args.n = shape[axis];
      args.rows = shape.product(0, axis);
      args.x_stride = args.out_stride = args.n;
      args.scale = scale;
      args.log = log;
      p.emit("softmax", operations, [args, x, y](const Frame& f) {
        SoftmaxArgs now = args;
        now.x = f.at<const float>(x);
        now.out = f.at<float>(y);
        softmax(now);
      });
    } else {
      Ref source = x;
      if (scale != 1.0f) {
        source = y;
        p.emit([x, y, scale, count = shape.count()](const Frame& f) {
          unary(ElementOp::affine, count, f.at<const float>(x), f.at<float>(y), scale, 0.0f);
        });
      }
      p.emit(
          "softmax over an axis", operations,
          [source, y, outer = shape.product(0, axis), n = shape[axis], inner, log](const Frame& f) {
            softmax_axis(outer, n, inner, f.at<const float>(source), f.at<float>(y), log);
          });
    }
    if (clean != nullptr) plan_in_place(p, clean, shape, y, {});
  };
}

}  // namespace

const Lowering cpu_softmax{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
