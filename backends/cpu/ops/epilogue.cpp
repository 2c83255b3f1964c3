#include "backends/cpu/ops/epilogue.h"

#include <cmath>

namespace concord::cpu {

using graph::UnaryFn;

std::optional<Activation> ActivationSpec::fused() const {
  if (!present) return Activation::none;
  switch (fn) {
    case UnaryFn::identity:
      return Activation::none;
    case UnaryFn::relu:
      return Activation::relu;
    case UnaryFn::gelu_erf:
      return Activation::gelu_erf;
    case UnaryFn::gelu_tanh:
      return Activation::gelu_tanh;
    case UnaryFn::silu:
      return Activation::silu;
    case UnaryFn::tanh:
      return Activation::tanh;
    case UnaryFn::sigmoid:
      return Activation::sigmoid;
    case UnaryFn::quick_gelu:
      if (std::abs(alpha - 1.702) < 1e-6) return Activation::quick_gelu;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

ActivationSpec activation_of(const graph::Node& node, const char* alpha, const char* beta) {
  ActivationSpec spec;
  if (!node.attrs.has("activation")) return spec;
  const auto fn = graph::parse_unary(node.attrs.text("activation"));
  if (!fn) {
    throw Error(ErrorKind::failed, "internal: unknown activation " + node.attrs.text("activation"));
  }
  spec.present = *fn != UnaryFn::identity;
  spec.fn = *fn;
  spec.alpha = node.attrs.number(alpha, 0.0);
  spec.beta = node.attrs.number(beta, 0.0);
  return spec;
}

std::optional<std::string> why_not_activation(const ActivationSpec& activation) {
  std::vector<ElementStep> steps;
  if (!activation.present || append_unary(activation.fn, 0, 0, 0, 1, steps)) return std::nullopt;
  return "the activation " + std::string(to_string(activation.fn));
}

Afterwards::Afterwards(const ActivationSpec& activation, bool bias, bool residual) {
  std::vector<Element> types{Element::f32};
  if (bias) types.push_back(Element::f32);
  if (residual) types.push_back(Element::f32);
  const int inputs = static_cast<int>(types.size());
  std::vector<ElementStep> steps;
  int value = 0;
  const auto result = [&] { return inputs + static_cast<int>(steps.size()) - 1; };
  if (bias) {
    append_binary(graph::BinaryFn::add, value, 1, inputs, steps);
    value = result();
  }
  if (activation.present) {
    append_unary(activation.fn, activation.alpha, activation.beta, value, inputs, steps);
    value = result();
  }
  if (residual) {
    append_binary(graph::BinaryFn::add, value, inputs - 1, inputs, steps);
    value = result();
  }
  if (steps.empty()) return;
  program_ = std::make_shared<const ElementProgram>(std::move(types), std::move(steps),
                                                    std::vector{value}, std::vector{Element::f32});
}

void Afterwards::emit(Planner& p, const Dims& shape, Ref sums, const View* bias,
                      const View* residual) const {
  if (empty()) return;
  std::vector<Broadcast> others;
  for (const View* view : {bias, residual}) {
    if (view != nullptr) others.push_back({view->at, broadcast_to(*view, shape)});
  }
  plan_in_place(p, program_, shape, sums, others);
}

}  // namespace concord::cpu
