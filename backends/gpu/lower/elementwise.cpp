#include <vector>

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/narrow.h"
#include "graph/elementwise_program.h"

namespace concord::gpu {
namespace {

using graph::ElementwiseInstr;
using graph::ElementwiseProgram;

// Halves are stored, not computed with: a chain rounds once, at its end.
DataType computed_type(DataType storage) {
  return storage == DataType::f16 ? DataType::f32 : storage;
}

// The types of all registers: operands, then results.
std::vector<DataType> register_types(const ElementwiseProgram& program,
                                     std::vector<DataType> types) {
  for (const ElementwiseInstr& instr : program.code) {
    const auto type_of = [&](int reg) { return types.at(static_cast<std::size_t>(reg)); };
    switch (instr.kind) {
      case ElementwiseInstr::Kind::unary:
        types.push_back(result_type(instr.unary, type_of(instr.a)));
        break;
      case ElementwiseInstr::Kind::binary:
        types.push_back(result_type(instr.binary, type_of(instr.a)));
        break;
      case ElementwiseInstr::Kind::select:
        types.push_back(type_of(instr.b));
        break;
    }
  }
  return types;
}

std::optional<std::string> why(const Query& query) {
  const ElementwiseProgram program = graph::load_elementwise(query.node.attrs);
  if (program.quantised) return "a chain that ends in bytes";
  std::vector<DataType> types;
  for (std::size_t i = 0; i < query.node.inputs.size(); ++i) {
    types.push_back(computed_type(query.in(i)));
  }
  types = register_types(program, types);
  for (const ElementwiseInstr& instr : program.code) {
    const DataType type = types[static_cast<std::size_t>(instr.a)];
    std::optional<std::string> reason;
    if (instr.kind == ElementwiseInstr::Kind::unary) {
      reason = why_no_unary(query, instr.unary, type);
    } else if (instr.kind == ElementwiseInstr::Kind::binary) {
      if (type != types[static_cast<std::size_t>(instr.b)]) return "operands of two types";
      reason = why_no_binary(query, instr.binary, type);
    } else {
      reason = query.need_kernel(std::string("select_") +
                                 move_suffix(types[static_cast<std::size_t>(instr.b)]));
    }
    if (reason.has_value()) return reason;
  }
  return std::nullopt;
}

// What an instruction makes of these types, in the model's terms.
DataType dtype_after(const ElementwiseInstr& instr, const std::vector<DataType>& dtypes) {
  const auto type_of = [&](int reg) { return dtypes.at(static_cast<std::size_t>(reg)); };
  if (instr.kind == ElementwiseInstr::Kind::select) return type_of(instr.b);
  const bool yields_bool = instr.kind == ElementwiseInstr::Kind::unary
                               ? graph::yields_bool(instr.unary)
                               : graph::yields_bool(instr.binary);
  return yields_bool ? DataType::boolean : type_of(instr.a);
}

// Whether nothing but the next instruction reads this one's result, a factor of its product.
bool is_gate(const ElementwiseProgram& program, std::size_t i, DataType type) {
  if (i + 1 >= program.code.size()) return false;
  const ElementwiseInstr& gate = program.code[i];
  const ElementwiseInstr& product = program.code[i + 1];
  if (gate.kind != ElementwiseInstr::Kind::unary || !can_gate(gate.unary, type) ||
      product.kind != ElementwiseInstr::Kind::binary || product.binary != graph::BinaryFn::mul) {
    return false;
  }
  const int result = program.inputs + static_cast<int>(i);
  if ((product.a == result) == (product.b == result)) return false;
  for (std::size_t j = i + 2; j < program.code.size(); ++j) {
    const ElementwiseInstr& later = program.code[j];
    const bool two = later.kind != ElementwiseInstr::Kind::unary;
    const bool three = later.kind == ElementwiseInstr::Kind::select;
    if (later.a == result || (two && later.b == result) || (three && later.c == result)) {
      return false;
    }
  }
  return true;
}

// One dispatch per instruction, two for one where there is a kernel: kernels are compiled when
// Concord is built, and chains are known only when a model is read.
void lower(NodeLowering& node) {
  const ElementwiseProgram program = graph::load_elementwise(node.attrs());
  std::vector<Operand> registers;
  std::vector<DataType> dtypes;  // as the model has them
  for (std::size_t i = 0; i < static_cast<std::size_t>(program.inputs); ++i) {
    const Operand x = node.in(i);
    registers.push_back(emit_cast(node, x, computed_type(x.dtype)));
    dtypes.push_back(node.in_dtype(i));
  }
  bool gated = false;  // the last register holds what a gate is to be made of
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const ElementwiseInstr& instr = program.code[i];
    const auto reg = [&](int index) { return registers.at(static_cast<std::size_t>(index)); };
    const Operand a = reg(instr.a);
    if (is_gate(program, i, a.dtype)) {
      gated = true;
      dtypes.push_back(dtype_after(instr, dtypes));
      registers.push_back(a);
      node.add_flops(static_cast<double>(a.count()));
      continue;
    }
    const bool two = instr.kind != ElementwiseInstr::Kind::unary;
    const bool three = instr.kind == ElementwiseInstr::Kind::select;
    Shape shape = a.shape;
    if (two) shape = broadcast_shape(shape, reg(instr.b).shape);
    if (three) shape = broadcast_shape(shape, reg(instr.c).shape);
    const bool last = i + 1 == program.code.size();
    const DataType type = three ? reg(instr.b).dtype
                          : two ? result_type(instr.binary, a.dtype)
                                : result_type(instr.unary, a.dtype);
    const bool whole =
        last && element_count(shape) == element_count(node.out_shape()) && type == node.out_type();
    const Operand y = whole ? NodeLowering::view(node.out(), shape) : node.temporary(type, shape);
    if (gated) {
      const bool left = instr.a == program.inputs + static_cast<int>(i) - 1;
      const Operand b = reg(instr.b);
      emit_gate(node, program.code[i - 1].unary, left ? a : b, left ? b : a, y);
      gated = false;
    } else if (three) {
      emit_select(node, a, reg(instr.b), reg(instr.c), y);
    } else if (two) {
      emit_binary(node, instr.binary, a, reg(instr.b), y);
    } else if (instr.unary == graph::UnaryFn::identity) {
      emit_broadcast(node, a, y);
    } else {
      emit_unary(node, instr.unary, instr.alpha, instr.beta, a, y);
    }
    dtypes.push_back(dtype_after(instr, dtypes));
    // Integers overflow at every step; floats round once, at the end.
    if (!last && is_integer(dtypes.back()) && bits(dtypes.back()) < 32) {
      emit_narrow(node, y, y, dtypes.back(), Overflow::wrap);
    }
    if (last && !whole) emit_broadcast(node, emit_cast(node, y, node.out_type()), node.out());
    registers.push_back(y);
    node.add_flops(static_cast<double>(y.count()));
  }
}

}  // namespace

const Lowering gpu_elementwise{why, lower};

}  // namespace concord::gpu
