#include "graph/elementwise_program.h"
#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

using graph::BinaryFn;
using graph::ElementwiseInstr;
using graph::ElementwiseProgram;
using graph::UnaryFn;

ElementwiseInstr unary(UnaryFn fn, int a, double alpha = 0, double beta = 0) {
  ElementwiseInstr instr;
  instr.unary = fn;
  instr.a = a;
  instr.alpha = alpha;
  instr.beta = beta;
  return instr;
}
ElementwiseInstr binary(BinaryFn fn, int a, int b) {
  ElementwiseInstr instr;
  instr.kind = ElementwiseInstr::Kind::binary;
  instr.binary = fn;
  instr.a = a;
  instr.b = b;
  return instr;
}
ElementwiseInstr select(int condition, int a, int b) {
  ElementwiseInstr instr;
  instr.kind = ElementwiseInstr::Kind::select;
  instr.a = condition;
  instr.b = a;
  instr.c = b;
  return instr;
}

OpCase chain(const std::string& name, int inputs, std::vector<ElementwiseInstr> code) {
  OpCase op_case(name);
  graph::store(ElementwiseProgram{inputs, std::move(code), std::nullopt}, op_case.attrs);
  return op_case;
}

OpCase quantised(const std::string& name, DataType to, double scale, std::int64_t zero) {
  OpCase op_case(name);
  const ElementwiseProgram program{2,
                                   {binary(BinaryFn::add, 0, 1), unary(UnaryFn::tanh, 2)},
                                   graph::QuantisedResult{to, scale, zero}};
  graph::store(program, op_case.attrs);
  return op_case;
}

}  // namespace

OpCases cases_elementwise() {
  using enum DataType;
  OpCases list;
  const auto multiply_add = [](const std::string& name) {
    return chain(name, 3, {binary(BinaryFn::mul, 0, 1), binary(BinaryFn::add, 3, 2)});
  };
  list.push_back(multiply_add("a·b + c").in(f32, {3, 17}).in(f32, {3, 17}).in(f32, {3, 17}));
  list.push_back(multiply_add("broadcast").in(f32, {2, 3, 17}).in(f32, {17}).in(f32, {3, 1}));
  list.push_back(multiply_add("f16").in(f16, {3, 17}).in(f16, {17}).in(f16, {}));
  list.push_back(multiply_add("bf16").in(bf16, {3, 17}).in(bf16, {17}).in(bf16, {}));
  list.push_back(multiply_add("empty").in(f32, {0, 17}).in(f32, {17}).in(f32, {}));
  list.push_back(chain("gate", 2, {unary(UnaryFn::silu, 0), binary(BinaryFn::mul, 2, 1)})
                     .in(f32, {5, 33})
                     .in(f32, {5, 33}));
  list.push_back(
      chain("gate on the right", 2, {unary(UnaryFn::gelu_tanh, 1), binary(BinaryFn::mul, 0, 2)})
          .in(f16, {5, 33})
          .in(f16, {5, 1}));
  list.push_back(
      chain("gate that is read again", 2,
            {unary(UnaryFn::sigmoid, 0), binary(BinaryFn::mul, 2, 1), binary(BinaryFn::add, 3, 2)})
          .in(f32, {5, 33})
          .in(f32, {33}));
  list.push_back(quantised("quantised to i8", i8, 0.01, -3).in(f32, {5, 33}).in(f32, {33}));
  list.push_back(quantised("quantised to u8", u8, 0.004, 128).in(f32, {7, 300}).in(f32, {7, 1}));
  list.push_back(quantised("quantised and empty", u8, 0.004, 0).in(f32, {0, 3}).in(f32, {3}));
  list.push_back(
      chain("gate of itself", 1, {unary(UnaryFn::gelu_erf, 0), binary(BinaryFn::mul, 1, 1)})
          .in(f32, {5, 33}));
  list.push_back(chain("quick gelu, then add", 2,
                       {unary(UnaryFn::quick_gelu, 0, 1.5), binary(BinaryFn::add, 2, 1)})
                     .in(f32, {5, 33})
                     .in(f32, {5, 33}));
  list.push_back(chain("masked", 3, {select(0, 1, 2), unary(UnaryFn::tanh, 3)})
                     .in(boolean, {5, 1}, integers(0, 1))
                     .in(f32, {5, 33})
                     .in(f32, {}));
  list.push_back(chain("compare and choose", 2,
                       {binary(BinaryFn::less, 0, 1), select(2, 0, 1), unary(UnaryFn::exp, 3)})
                     .in(f32, {5, 33})
                     .in(f32, {33}));
  list.push_back(multiply_add("edges")
                     .in(f32, {13, 1}, extremes())
                     .in(f32, {13}, extremes())
                     .in(f32, {}, values({1})));
  // Numbers become parameters of the kernels' steps; what one step reads twice stays.
  list.push_back(
      chain("numbers", 5,
            {binary(BinaryFn::mul, 0, 1), binary(BinaryFn::sub, 2, 5), unary(UnaryFn::round, 6),
             binary(BinaryFn::max, 7, 3), binary(BinaryFn::min, 8, 4), binary(BinaryFn::add, 9, 8),
             binary(BinaryFn::min, 10, 4), binary(BinaryFn::sub, 11, 1)})
          .in(f32, {5, 33}, normal(0, 3))
          .weight(f32, {}, values({2.5}))
          .weight(f32, {1}, values({0.75}))
          .weight(f32, {}, values({-3}))
          .weight(f32, {}, values({2})));
  list.push_back(multiply_add("scalars").in(f32, {}).in(f32, {}).in(f32, {}));
  return list;
}

}  // namespace concord::ops_test
