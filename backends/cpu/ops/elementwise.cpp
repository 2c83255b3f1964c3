#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/elementwise_ops.h"
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
      operand_[static_cast<std::size_t>(x)] = kGone;
      return true;
    }
    step->a = static_cast<std::uint8_t>(at(x));
    steps.push_back(*step);
    join_grid();
    return true;
  }

  // Whether steps are this long a line of which each but the first reads the one before it, and
  // nothing else does.
  bool is_line(std::size_t count) const {
    if (steps.size() < count) return false;
    for (std::size_t i = steps.size() - count; i + 1 < steps.size(); ++i) {
      const auto made = static_cast<std::size_t>(program_.inputs) + i;
      if (steps[i + 1].a != made) return false;
      std::size_t readers = 0;
      for (std::size_t reg = 0; reg < operand_.size(); ++reg) {
        if (static_cast<std::size_t>(operand_[reg]) == made) {
          readers += static_cast<std::size_t>(reads_[reg]);
        }
      }
      if (readers > 1) return false;
    }
    return true;
  }

  // Rounding to integers of 8 or 16 bits and back, as fuse_requantised spells it: one step for
  // four.
  void join_grid() {
    if (!is_line(4)) return;
    const ElementStep* line = &steps[steps.size() - 4];
    const float scale = line[3].p0;
    const bool scales = line[0].op == ElementOp::affine && line[3].op == ElementOp::affine &&
                        line[0].p1 == 0 && line[3].p1 == 0 &&
                        line[0].p0 == static_cast<float>(1.0 / static_cast<double>(scale));
    if (!scales || line[1].op != ElementOp::round || line[2].op != ElementOp::clamp) return;
    const float width = line[2].p1 - line[2].p0;
    if (width != 255 && width != 65535) return;
    ElementStep grid;
    grid.op = width == 255 ? ElementOp::grid8 : ElementOp::grid16;
    grid.a = line[0].a;
    grid.p0 = scale;
    grid.p1 = line[2].p0;
    steps.resize(steps.size() - 4);
    steps.push_back(grid);
    for (int& operand : operand_) {
      if (operand >= last()) operand = kGone;
    }
  }

  const graph::ElementwiseProgram& program_;
  const Constants& constants_;
  std::vector<int> reads_;
  static constexpr int kGone = -1;
  std::vector<int> operand_;  // by register; kGone where a step took in what made it
};

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!readable(input_dtype(graph, node, i))) return type_reason(input_dtype(graph, node, i));
  }
  const graph::ElementwiseProgram program = graph::load_elementwise(node.attrs);
  if (!program.quantised && !writable(output_dtype(graph, node))) {
    return type_reason(output_dtype(graph, node));
  }
  if (!Translation(program, {}).run()) {
    return "a chain with functions of integers, or of more than 64 operands";
  }
  return std::nullopt;
}

// Leaves only inputs that a step reads, in their order, and returns which those are: a number that
// became part of a step needs no register.
std::vector<int> drop_unread(int inputs, std::vector<ElementStep>& steps) {
  std::vector<bool> read(static_cast<std::size_t>(inputs), false);
  const auto each = [&](auto&& visit) {
    for (ElementStep& step : steps) {
      const int count = operand_count(step.op);
      visit(step.a);
      if (count > 1) visit(step.b);
      if (count > 2) visit(step.c);
    }
  };
  each([&](std::uint8_t operand) {
    if (operand < inputs) read[operand] = true;
  });
  std::vector<int> kept;
  std::vector<std::uint8_t> number;
  for (int i = 0; i < inputs; ++i) {
    number.push_back(static_cast<std::uint8_t>(kept.size()));
    if (read[static_cast<std::size_t>(i)]) kept.push_back(i);
  }
  const auto gone = static_cast<std::uint8_t>(inputs - static_cast<int>(kept.size()));
  each([&](std::uint8_t& operand) {
    operand = operand < inputs ? number[operand] : static_cast<std::uint8_t>(operand - gone);
  });
  return kept;
}

PlanFn prepare(Compiler& c) {
  const graph::ElementwiseProgram chain = graph::load_elementwise(c.attrs());
  Constants constants;
  for (int i = 0; i < chain.inputs; ++i) {
    const Tensor* tensor = c.constant(i);
    const bool single =
        tensor != nullptr && tensor->count() == 1 && tensor->dtype() == DataType::f32;
    constants.push_back(single ? std::optional(tensor->as<float>()[0]) : std::nullopt);
  }
  Translation translation(chain, constants);
  translation.run();
  std::vector<ElementStep> steps = std::move(translation.steps);
  std::vector<int> inputs = drop_unread(chain.inputs, steps);
  std::vector<Element> types;
  for (const int i : inputs) types.push_back(element(c.dtype(i)));
  const int result = static_cast<int>(inputs.size() + steps.size()) - 1;
  const auto operations = static_cast<double>(steps.size());
  std::optional<ElementProgram::Quantisation> quantisation;
  if (chain.quantised) {
    quantisation = {static_cast<float>(chain.quantised->scale),
                    static_cast<std::int32_t>(chain.quantised->zero)};
  }
  auto program = std::make_shared<const ElementProgram>(
      types, std::move(steps), std::vector{result}, std::vector{element(c.out_value().dtype)},
      quantisation);
  return [program, operations, inputs = std::move(inputs)](Planner& p) {
    plan_elementwise(p, program, "elementwise chain", operations, inputs);
  };
}

}  // namespace

const Lowering cpu_elementwise{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = kAllInputs};

}  // namespace concord::cpu
