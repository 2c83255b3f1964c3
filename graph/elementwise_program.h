#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/attributes.h"
#include "graph/functions.h"

namespace concord::graph {

// The body of the fused `elementwise` operator: straight-line code over registers. Registers
// 0 … inputs−1 are the operands, each broadcast to the output's shape; instruction i writes
// register inputs + i; the last instruction is the result. All arithmetic is in the output's float
// type (f32 arithmetic for 16-bit types); bool registers (conditions) are 0 or 1.
struct ElementwiseInstr {
  enum class Kind : std::uint8_t { unary, binary, select } kind = Kind::unary;
  UnaryFn unary = UnaryFn::identity;
  BinaryFn binary = BinaryFn::add;
  int a = 0;  // unary: x; binary: left; select: condition
  int b = 0;  // binary: right; select: where true
  int c = 0;  // select: where false
  double alpha = 0;
  double beta = 0;
};

// What is made of the last result in the end, as `quantize` does with one scale and one zero point:
// saturate(round(result / scale) + zero), of type i8 or u8. Results are f32 then.
struct QuantisedResult {
  DataType to = DataType::i8;
  double scale = 1;
  std::int64_t zero = 0;
};

struct ElementwiseProgram {
  int inputs = 0;
  std::vector<ElementwiseInstr> code;
  std::optional<QuantisedResult> quantised;
};

// To and from the attributes `code` (six integers per instruction: kind, function, a, b, c, 0),
// `params` (alpha, beta per instruction) and `operands` (the number of inputs); and `to`, `scale`
// and `zero` of a quantised result.
void store(const ElementwiseProgram& program, Attributes& attrs);
ElementwiseProgram load_elementwise(const Attributes& attrs);

}  // namespace concord::graph
