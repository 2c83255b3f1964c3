#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/quantization.h"
#include "backends/reference/rows.h"
#include "graph/elementwise_program.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

using Instr = graph::ElementwiseInstr;

// An operand as numbers: conditions are 0 or 1.
struct Operand {
  const double* numbers = nullptr;
  const std::uint8_t* conditions = nullptr;

  double at(std::int64_t i) const { return numbers != nullptr ? numbers[i] : conditions[i]; }
};

template <typename N>
N apply(const Instr& instr, const std::vector<N>& registers, double unit) {
  const auto reg = [&](int i) -> const N& { return registers[static_cast<std::size_t>(i)]; };
  switch (instr.kind) {
    case Instr::Kind::unary:
      return unary(instr.unary, reg(instr.a), instr.alpha, instr.beta, unit);
    case Instr::Kind::binary:
      return binary(instr.binary, reg(instr.a), reg(instr.b), unit);
    default:
      return select(reg(instr.a), reg(instr.b), reg(instr.c), unit);
  }
}

// Gives set(i, y) the program's result at every element.
template <typename N, typename Set>
void evaluate(const Call& call, const graph::ElementwiseProgram& program, const Rows& rows,
              const std::vector<Operand>& operands, std::int64_t count, const Set& set) {
  const std::size_t inputs = operands.size();
  const double unit = call.unit();
  const double cost = 10.0 * static_cast<double>(program.code.size());
  parallel_for(count, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
    std::vector<N> registers(inputs + program.code.size());
    rows.visit(
        begin, end,
        [&](std::int64_t first, std::int64_t n, const std::int64_t* at, const std::int64_t* step) {
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < inputs; ++k) {
              registers[k] = number<N>(operands[k].at(at[k] + i * step[k]));
            }
            for (std::size_t c = 0; c < program.code.size(); ++c) {
              registers[inputs + c] = apply(program.code[c], registers, unit);
            }
            set(first + i, registers.back());
          }
        });
  });
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const graph::ElementwiseProgram program = graph::load_elementwise(call.attrs());
  const auto inputs = static_cast<std::size_t>(program.inputs);
  std::vector<Shape> shapes;
  std::vector<Operand> operands;
  Shape shape;
  for (std::size_t k = 0; k < inputs; ++k) {
    const Tensor& t = call.input(k);
    Operand operand;
    if (t.dtype() == DataType::boolean) {
      operand.conditions = host::raw<std::uint8_t>(t).data();
    } else {
      operand.numbers = call.data(k);
    }
    operands.push_back(operand);
    shapes.push_back(t.shape());
    shape = host::broadcast_shapes(shape, t.shape());
  }
  if (program.quantised) {
    const graph::QuantisedResult q = *program.quantised;
    QuantisedOutput<N> y(call, shape, q.to, true);
    evaluate<N>(call, program, Rows(shape, shapes), operands, element_count(shape),
                [&](std::int64_t i, const N& result) {
                  y.set(i, result, q.scale, static_cast<double>(q.zero));
                });
    return {y.finish()};
  }
  Output<N> y(call, 0, shape);
  evaluate<N>(call, program, Rows(shape, shapes), operands, y.count(),
              [&](std::int64_t i, const N& result) { y.set(i, result); });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_elementwise{run};

}  // namespace concord::reference
