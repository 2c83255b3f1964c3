#include "backends/cpu/ops/elementwise_plan.h"

#include <algorithm>
#include <numeric>

namespace concord::cpu {
namespace {

using graph::BinaryFn;
using graph::UnaryFn;

std::optional<ElementOp> direct(UnaryFn fn) {
  switch (fn) {
    case UnaryFn::abs:
      return ElementOp::abs;
    case UnaryFn::acos:
      return ElementOp::acos;
    case UnaryFn::acosh:
      return ElementOp::acosh;
    case UnaryFn::asin:
      return ElementOp::asin;
    case UnaryFn::asinh:
      return ElementOp::asinh;
    case UnaryFn::atan:
      return ElementOp::atan;
    case UnaryFn::atanh:
      return ElementOp::atanh;
    case UnaryFn::ceil:
      return ElementOp::ceil;
    case UnaryFn::celu:
      return ElementOp::celu;
    case UnaryFn::cos:
      return ElementOp::cos;
    case UnaryFn::cosh:
      return ElementOp::cosh;
    case UnaryFn::elu:
      return ElementOp::elu;
    case UnaryFn::erf:
      return ElementOp::erf;
    case UnaryFn::exp:
      return ElementOp::exp;
    case UnaryFn::floor:
      return ElementOp::floor;
    case UnaryFn::gelu_erf:
      return ElementOp::gelu_erf;
    case UnaryFn::gelu_tanh:
      return ElementOp::gelu_tanh;
    case UnaryFn::hard_sigmoid:
      return ElementOp::hard_sigmoid;
    case UnaryFn::hard_swish:
      return ElementOp::hard_swish;
    case UnaryFn::identity:
      return ElementOp::copy;
    case UnaryFn::is_inf:
      return ElementOp::is_inf;
    case UnaryFn::is_nan:
      return ElementOp::is_nan;
    case UnaryFn::leaky_relu:
      return ElementOp::leaky_relu;
    case UnaryFn::log:
      return ElementOp::log;
    case UnaryFn::logical_not:
      return ElementOp::logical_not;
    case UnaryFn::mish:
      return ElementOp::mish;
    case UnaryFn::neg:
      return ElementOp::neg;
    case UnaryFn::reciprocal:
      return ElementOp::reciprocal;
    case UnaryFn::relu:
      return ElementOp::relu;
    case UnaryFn::round:
      return ElementOp::round;
    case UnaryFn::rsqrt:
      return ElementOp::rsqrt;
    case UnaryFn::selu:
      return ElementOp::selu;
    case UnaryFn::shrink:
      return ElementOp::shrink;
    case UnaryFn::sigmoid:
      return ElementOp::sigmoid;
    case UnaryFn::sign:
      return ElementOp::sign;
    case UnaryFn::silu:
      return ElementOp::silu;
    case UnaryFn::sin:
      return ElementOp::sin;
    case UnaryFn::sinh:
      return ElementOp::sinh;
    case UnaryFn::softplus:
      return ElementOp::softplus;
    case UnaryFn::softsign:
      return ElementOp::softsign;
    case UnaryFn::sqrt:
      return ElementOp::sqrt;
    case UnaryFn::square:
      return ElementOp::square;
    case UnaryFn::tan:
      return ElementOp::tan;
    case UnaryFn::tanh:
      return ElementOp::tanh;
    case UnaryFn::thresholded_relu:
      return ElementOp::thresholded_relu;
    case UnaryFn::bit_not:
    case UnaryFn::quick_gelu:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<ElementOp> direct(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::add:
      return ElementOp::add;
    case BinaryFn::div:
      return ElementOp::div;
    case BinaryFn::equal:
      return ElementOp::equal;
    case BinaryFn::fmod:
      return ElementOp::fmod;
    case BinaryFn::greater:
      return ElementOp::greater;
    case BinaryFn::greater_equal:
      return ElementOp::greater_equal;
    case BinaryFn::less:
      return ElementOp::less;
    case BinaryFn::less_equal:
      return ElementOp::less_equal;
    case BinaryFn::logical_and:
      return ElementOp::logical_and;
    case BinaryFn::logical_or:
      return ElementOp::logical_or;
    case BinaryFn::logical_xor:
      return ElementOp::logical_xor;
    case BinaryFn::max:
      return ElementOp::max;
    case BinaryFn::min:
      return ElementOp::min;
    case BinaryFn::mod:
      return ElementOp::floor_mod;
    case BinaryFn::mul:
      return ElementOp::mul;
    case BinaryFn::pow:
      return ElementOp::pow;
    case BinaryFn::prelu:
      return ElementOp::prelu;
    case BinaryFn::sub:
      return ElementOp::sub;
    default:
      return std::nullopt;
  }
}

ElementStep step_of(ElementOp op, int a, int b = 0, double p0 = 0, double p1 = 0) {
  ElementStep step;
  step.op = op;
  step.a = static_cast<std::uint8_t>(a);
  step.b = static_cast<std::uint8_t>(b);
  step.p0 = static_cast<float>(p0);
  step.p1 = static_cast<float>(p1);
  return step;
}

// The operands of one pass: addresses by area, strides by axis.
struct Pass {
  struct Operand {
    Ref at;
    Dims strides;
  };
  Dims shape;
  std::vector<Operand> inputs;
};

void run_pass(const Frame& f, const ElementProgram& program, const Pass& pass, Ref out) {
  std::array<ElementProgram::Input, ElementProgram::max_operands> inputs;
  for (std::size_t i = 0; i < pass.inputs.size(); ++i) {
    inputs[i].data = f.at(pass.inputs[i].at);
    std::copy(pass.inputs[i].strides.begin(), pass.inputs[i].strides.end(), inputs[i].stride);
  }
  void* const target = f.at(out);
  program.run(pass.shape, {inputs.data(), pass.inputs.size()}, {&target, 1});
}

Dims permuted(const Dims& dims, const std::vector<int>& order) {
  Dims result;
  for (int axis : order) result.push_back(dims[axis]);
  return result;
}

// Whether the innermost axis that counts is walked by steps of 0 or 1.
bool walks_inward(const Dims& shape, const Dims& strides) {
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1) return strides[i] == 0 || strides[i] == 1;
  }
  return true;
}

}  // namespace

bool append_unary(UnaryFn fn, double alpha, double beta, int a, int inputs,
                  std::vector<ElementStep>& steps) {
  if (fn == UnaryFn::quick_gelu) {
    if (std::abs(alpha - 1.702) < 1e-6) {
      steps.push_back(step_of(ElementOp::quick_gelu, a));
      return true;
    }
    const int scaled = inputs + static_cast<int>(steps.size());
    steps.push_back(step_of(ElementOp::affine, a, 0, alpha, 0));
    steps.push_back(step_of(ElementOp::sigmoid, scaled));
    steps.push_back(step_of(ElementOp::mul, a, scaled + 1));
    return true;
  }
  const auto op = direct(fn);
  if (!op) return false;
  steps.push_back(step_of(*op, a, 0, alpha, beta));
  return true;
}

bool append_binary(BinaryFn fn, int a, int b, int /*inputs*/, std::vector<ElementStep>& steps) {
  const auto op = direct(fn);
  if (!op) return false;
  steps.push_back(step_of(*op, a, b));
  return true;
}

bool readable(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::boolean:
      return true;
    default:
      return false;
  }
}

bool writable(DataType dtype) {
  return readable(dtype);
}

std::optional<std::vector<int>> permuted_order(const View& view) {
  if (view.dense()) return std::nullopt;
  std::vector<int> order(static_cast<std::size_t>(view.shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return view.strides[a] > view.strides[b]; });
  std::int64_t expected = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    if (view.shape[*axis] == 1) continue;
    if (view.strides[*axis] != expected) return std::nullopt;
    expected *= view.shape[*axis];
  }
  return order;
}

Dims broadcast_to(const View& view, const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 0);
  const int lead = shape.rank() - view.shape.rank();
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] != 1) strides[lead + i] = view.strides[i];
  }
  return strides;
}

void plan_elementwise(Planner& p, const std::shared_ptr<const ElementProgram>& program,
                      std::string_view name, double flops_per_element, std::vector<int> inputs) {
  if (inputs.empty()) {
    for (int i = 0; i < p.input_count(); ++i) inputs.push_back(i);
  }
  const Dims shape = p.out_shape();
  Pass pass;
  std::optional<std::vector<int>> order;
  if (p.output_may_be_strided(0)) {
    for (const int i : inputs) {
      if (!order && p.shape(i) == shape) order = permuted_order(p.view(i));
    }
  }
  pass.shape = order ? permuted(shape, *order) : shape;
  std::uint32_t reusable = 0;
  for (const int i : inputs) {
    View view = p.view(i);
    Dims strides = broadcast_to(view, shape);
    if (order) strides = permuted(strides, *order);
    if (!walks_inward(pass.shape, strides)) {
      view = p.dense_view(i);
      strides = broadcast_to(view, shape);
      if (order) strides = permuted(strides, *order);
    }
    const Ref at = view.at;
    pass.inputs.push_back({at, strides});
    if (!order && p.shape(i).count() == shape.count() &&
        element_bytes(p.dtype(i)) == element_bytes(p.out_dtype())) {
      reusable |= std::uint32_t{1} << i;
    }
  }
  Ref out;
  if (order) {
    Dims strides = Dims::filled(shape.rank(), 1);
    const Dims inner = dense_strides(pass.shape);
    for (std::size_t i = 0; i < order->size(); ++i) {
      strides[(*order)[i]] = inner[static_cast<int>(i)];
    }
    out = p.out_strided(0, strides).at;
  } else {
    out = p.out_over(0, reusable);
  }
  p.emit(
      name, flops_per_element * static_cast<double>(shape.count()),
      [program, pass = std::move(pass), out](const Frame& f) { run_pass(f, *program, pass, out); });
}

void plan_in_place(Planner& p, const std::shared_ptr<const ElementProgram>& program,
                   const Dims& shape, Ref target, const std::vector<Broadcast>& others) {
  Pass pass;
  pass.shape = shape;
  pass.inputs.push_back({target, dense_strides(shape)});
  for (const Broadcast& other : others) pass.inputs.push_back({other.at, other.strides});
  p.emit([program, pass = std::move(pass), target](const Frame& f) {
    run_pass(f, *program, pass, target);
  });
}

}  // namespace concord::cpu
