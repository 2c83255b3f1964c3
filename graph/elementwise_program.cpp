#include "graph/elementwise_program.h"

namespace concord::graph {

void store(const ElementwiseProgram& program, Attributes& attrs) {
  std::vector<std::int64_t> code;
  std::vector<double> params;
  for (const ElementwiseInstr& i : program.code) {
    const auto fn = i.kind == ElementwiseInstr::Kind::unary ? static_cast<std::int64_t>(i.unary)
                                                            : static_cast<std::int64_t>(i.binary);
    code.insert(code.end(), {static_cast<std::int64_t>(i.kind), fn, i.a, i.b, i.c, 0});
    params.insert(params.end(), {i.alpha, i.beta});
  }
  attrs.set("code", std::move(code));
  attrs.set("params", std::move(params));
  attrs.set("operands", std::int64_t{program.inputs});
  if (program.quantised) {
    attrs.set("to", program.quantised->to);
    attrs.set("scale", program.quantised->scale);
    attrs.set("zero", program.quantised->zero);
  }
}

ElementwiseProgram load_elementwise(const Attributes& attrs) {
  ElementwiseProgram program;
  program.inputs = static_cast<int>(attrs.integer("operands"));
  const auto& code = attrs.integers("code");
  const auto& params = attrs.numbers("params");
  for (std::size_t i = 0; i * 6 < code.size(); ++i) {
    ElementwiseInstr instr;
    instr.kind = static_cast<ElementwiseInstr::Kind>(code[i * 6]);
    if (instr.kind == ElementwiseInstr::Kind::unary) {
      instr.unary = static_cast<UnaryFn>(code[i * 6 + 1]);
    } else {
      instr.binary = static_cast<BinaryFn>(code[i * 6 + 1]);
    }
    instr.a = static_cast<int>(code[i * 6 + 2]);
    instr.b = static_cast<int>(code[i * 6 + 3]);
    instr.c = static_cast<int>(code[i * 6 + 4]);
    instr.alpha = params[i * 2];
    instr.beta = params[i * 2 + 1];
    program.code.push_back(instr);
  }
  if (attrs.has("to")) {
    program.quantised = {attrs.dtype("to"), attrs.number("scale"), attrs.integer("zero")};
  }
  return program;
}

}  // namespace concord::graph
