#include "backends/cpu/ops/norm_plan.h"

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"

namespace concord::cpu {
namespace {

// An operand of `shape`, expanded where it is smaller.
Ref expanded(Planner& p, int input, const Dims& shape) {
  if (input < 0 || !p.has(input)) return {};
  const Ref at = p.in_f32(input);
  if (p.shape(input).count() == shape.count()) return at;
  const View view = p.dense_view_f32(input);
  const Dims strides = broadcast_to(view, shape);
  const Ref to = p.scratch(shape.count() * 4);
  p.emit([shape, strides, at, to](const Frame& f) {
    copy_strided(4, shape, f.at(at), strides, f.at(to), dense_strides(shape));
  });
  return to;
}

}  // namespace

PlanFn prepare_norm(Compiler& c, const NormForm& form) {
  const auto axis = static_cast<int>(c.attrs().integer("axis"));
  const auto epsilon = static_cast<float>(c.attrs().number("epsilon"));
  return [form, axis, epsilon](Planner& p) {
    const Dims x_shape = p.out_shape();
    Dims inner;
    for (int i = axis; i < x_shape.rank(); ++i) inner.push_back(x_shape[i]);
    NormArgs args;
    args.n = inner.count();
    args.rows = x_shape.product(0, axis);
    args.epsilon = epsilon;
    args.x_stride = args.residual_stride = args.sum_stride = args.out_stride = args.n;
    const Ref x = expanded(p, 0, x_shape);
    const Ref gamma = expanded(p, form.gamma, inner);
    const Ref beta = expanded(p, form.beta, inner);
    const Ref residual = expanded(p, form.residual, x_shape);
    const bool wants_sum = p.has_output(1);
    const Ref sum = wants_sum ? p.out_f32(1) : Ref{};
    const Ref y = p.out_f32(0, 1);
    p.emit(form.name, 8.0 * static_cast<double>(x_shape.count()), [=](const Frame& f) {
      NormArgs now = args;
      now.x = f.at<const float>(x);
      now.residual = f.at<const float>(residual);
      now.gamma = f.at<const float>(gamma);
      now.beta = f.at<const float>(beta);
      now.sum = f.at<float>(sum);
      now.out = f.at<float>(y);
      form.kernel(now);
    });
  };
}

}  // namespace concord::cpu
