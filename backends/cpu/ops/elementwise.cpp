#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"
#include "graph/elementwise_program.h"

namespace concord::cpu {
namespace {

using graph::ElementwiseInstr;

using Constants = std::vector<std::optional<float>>;  // by input: its one element, where known

// A function of one operand and a number, which then needs no register: same bits as the
// two-operand form. −0 is what added changes nothing.
std::optional<ElementStep> with_number(graph::BinaryFn fn, bool number_first, float number) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ElementStep step;
  step.op = ElementOp::affine;
  step.p0 = 1;
  step.p1 = -0.0f;
  switch (fn) {
    case graph::BinaryFn::mul:
      step.p0 = number;
      return step;
    case graph::BinaryFn::add:
      step.p1 = number;
      return step;
    case graph::BinaryFn::sub:
      step.p0 = number_first ? -1.0f : 1.0f;
      step.p1 = number_first ? number : -number;
      return step;
    case graph::BinaryFn::max:
    case graph::BinaryFn::min:
      if (std::isnan(number)) return std::nullopt;
      step.op = ElementOp::clamp;
      step.p0 = fn == graph::BinaryFn::max ? number : -kInfinity;
      step.p1 = fn == graph::BinaryFn::min ? number : kInfinity;
      return step;
    default:
      return std::nullopt;
  }
}

// How often each register is read; the last is the result.
std::vector<int> reads_of(const graph::ElementwiseProgram& program) {
  std::vector<int> reads(static_cast<std::size_t>(program.inputs) + program.code.size(), 0);
  for (const ElementwiseInstr& instr : program.code) {
    ++reads.at(static_cast<std::size_t>(instr.a));
    if (instr.kind != ElementwiseInstr::Kind::unary) ++reads.at(static_cast<std::size_t>(instr.b));
    if (instr.kind == ElementwiseInstr::Kind::select) ++reads.at(static_cast<std::size_t>(instr.c));
  }
  return reads;
}

// The kernel's steps. A function of several steps moves the operand numbers of those behind it, so
// results are mapped.
class Translation {
 public:
  Translation(const graph::ElementwiseProgram& program, const Constants& constants)
      : program_(program), constants_(constants), reads_(reads_of(program)) {}

  // False where the kernels have no such function.
  bool run() {
    for (int i = 0; i < program_.inputs; ++i) operand_.push_back(i);
    for (const ElementwiseInstr& instr : program_.code) {
      if (!translate(instr)) return false;
      operand_.push_back(last());
    }
    return program_.inputs + static_cast<int>(steps.size()) <= ElementProgram::max_operands;
  }

  std::vector<ElementStep> steps;

 private:
  int at(int reg) const { return operand_.at(static_cast<std::size_t>(reg)); }
  int last() const { return program_.inputs + static_cast<int>(steps.size()) - 1; }
  std::optional<float> number(int reg) const {
    const auto i = static_cast<std::size_t>(reg);
    return i < constants_.size() ? constants_[i] : std::nullopt;
  }

  bool translate(const ElementwiseInstr& instr) {
    switch (instr.kind) {
      case ElementwiseInstr::Kind::unary: {
        const bool swapped = instr.unary == graph::UnaryFn::is_inf;
        return append_unary(instr.unary, swapped ? instr.beta : instr.alpha,
                            swapped ? instr.alpha : instr.beta, at(instr.a), program_.inputs,
                            steps);
      }
      case ElementwiseInstr::Kind::binary:
        return add_number(instr) ||
               append_binary(instr.binary, at(instr.a), at(instr.b), program_.inputs, steps);
      case ElementwiseInstr::Kind::select: {
        ElementStep step;
        step.op = ElementOp::select;
        step.a = static_cast<std::uint8_t>(at(instr.a));
        step.b = static_cast<std::uint8_t>(at(instr.b));
        step.c = static_cast<std::uint8_t>(at(instr.c));
        steps.push_back(step);
        return true;
      }
    }
    return false;
  }

  bool add_number(const ElementwiseInstr& instr) {
    const auto left = number(instr.a);
    const auto right = number(instr.b);
    if (left.has_value() == right.has_value()) return false;
    auto step = with_number(instr.binary, left.has_value(), left ? *left : *right);
    if (!step) return false;
    const int x = left ? instr.b : instr.a;
    // The other bound of a range.
    const bool joins = step->op == ElementOp::clamp && !steps.empty() && at(x) == last() &&
                       steps.back().op == ElementOp::clamp &&
                       reads_.at(static_cast<std::size_t>(x)) == 1 &&
                       instr.binary == graph::BinaryFn::min;
    if (joins) {
      steps.back().p1 = std::min(steps.back().p1, step->p1);
      return true;
    }
    step->a = static_cast<std::uint8_t>(at(x));
    steps.push_back(*step);
    return true;
  }

  const graph::ElementwiseProgram& program_;
  const Constants& constants_;
  std::vector<int> reads_;
  std::vector<int> operand_;  // by register
};

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!readable(input_dtype(graph, node, i))) return type_reason(input_dtype(graph, node, i));
  }
  if (!writable(output_dtype(graph, node))) return type_reason(output_dtype(graph, node));
  const graph::ElementwiseProgram program = graph::load_elementwise(node.attrs);
  if (!Translation(program, {}).run()) {
    return "a chain with functions of integers, or of more than 64 operands";
  }
  return std::nullopt;
}

PlanFn prepare(Compiler& c) {
  const graph::ElementwiseProgram chain = graph::load_elementwise(c.attrs());
  std::vector<Element> types;
  Constants constants;
  for (int i = 0; i < chain.inputs; ++i) {
    types.push_back(element(c.dtype(i)));
    const Tensor* tensor = c.constant(i);
    const bool single = tensor != nullptr && tensor->count() == 1 && types.back() == Element::f32;
    constants.push_back(single ? std::optional(tensor->as<float>()[0]) : std::nullopt);
  }
  Translation translation(chain, constants);
  translation.run();
  std::vector<ElementStep> steps = std::move(translation.steps);
  const int result = chain.inputs + static_cast<int>(steps.size()) - 1;
  const auto operations = static_cast<double>(steps.size());
  auto program = std::make_shared<const ElementProgram>(
      types, std::move(steps), std::vector{result}, std::vector{element(c.out_value().dtype)});
  return [program, operations](Planner& p) {
    plan_elementwise(p, program, "elementwise chain", operations);
  };
}

}  // namespace

const Lowering cpu_elementwise{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = kAllInputs};

}  // namespace concord::cpu
