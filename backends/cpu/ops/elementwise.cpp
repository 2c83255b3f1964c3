#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"
#include "graph/elementwise_program.h"

namespace concord::cpu {
namespace {

using graph::ElementwiseInstr;

// The kernel's steps, and the operand that holds the result. A function of several steps moves the
// operand numbers of those behind it, so results are mapped.
bool translate(const graph::ElementwiseProgram& program, std::vector<ElementStep>& steps) {
  std::vector<int> operand;  // by register
  for (int i = 0; i < program.inputs; ++i) operand.push_back(i);
  for (const ElementwiseInstr& instr : program.code) {
    const auto at = [&](int r) { return operand.at(static_cast<std::size_t>(r)); };
    switch (instr.kind) {
      case ElementwiseInstr::Kind::unary: {
        const bool swapped = instr.unary == graph::UnaryFn::is_inf;
        if (!append_unary(instr.unary, swapped ? instr.beta : instr.alpha,
                          swapped ? instr.alpha : instr.beta, at(instr.a), program.inputs, steps)) {
          return false;
        }
        break;
      }
      case ElementwiseInstr::Kind::binary:
        if (!append_binary(instr.binary, at(instr.a), at(instr.b), program.inputs, steps)) {
          return false;
        }
        break;
      case ElementwiseInstr::Kind::select: {
        ElementStep step;
        step.op = ElementOp::select;
        step.a = static_cast<std::uint8_t>(at(instr.a));
        step.b = static_cast<std::uint8_t>(at(instr.b));
        step.c = static_cast<std::uint8_t>(at(instr.c));
        steps.push_back(step);
        break;
      }
    }
    operand.push_back(program.inputs + static_cast<int>(steps.size()) - 1);
  }
  return program.inputs + static_cast<int>(steps.size()) <= ElementProgram::max_operands;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!readable(input_dtype(graph, node, i))) return type_reason(input_dtype(graph, node, i));
  }
  if (!writable(output_dtype(graph, node))) return type_reason(output_dtype(graph, node));
  std::vector<ElementStep> steps;
  if (!translate(graph::load_elementwise(node.attrs), steps)) {
    return "a chain with functions of integers, or of more than 64 operands";
  }
  return std::nullopt;
}

PlanFn prepare(Compiler& c) {
  const graph::ElementwiseProgram chain = graph::load_elementwise(c.attrs());
  std::vector<ElementStep> steps;
  translate(chain, steps);
  std::vector<Element> types;
  for (int i = 0; i < chain.inputs; ++i) types.push_back(element(c.dtype(i)));
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
