#include "parity/exact.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/reference/oracle.h"
#include "backends/reference/rounding.h"
#include "graph/elementwise_program.h"
#include "graph/error.h"
#include "graph/functions.h"

namespace concord::parity {
namespace {

using graph::BinaryFn;
using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::UnaryFn;
using graph::ValueId;

std::uint64_t hash(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed * 0xD1B54A32D192ED03u + 0x9E3779B97F4A7C15u * (index + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Integers from −limit to limit, few of them 0.
Tensor integers(DataType dtype, const Shape& shape, std::uint64_t seed) {
  const std::int64_t limit = dtype == DataType::f32 || dtype == DataType::f64 ? 2 : 1;
  Tensor wide(DataType::f64, shape);
  const auto to = wide.as_mutable<double>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::uint64_t random = hash(seed, i);
    const auto magnitude = static_cast<double>(1 + random % static_cast<std::uint64_t>(limit));
    const bool zero = (random >> 32) % 8 == 0;
    to[i] = zero ? 0.0 : (random >> 40) % 2 == 0 ? magnitude : -magnitude;
  }
  return reference::narrowed(wide, dtype);
}

Tensor powers_of_two(const Tensor& scales, std::uint64_t seed) {
  Tensor wide(DataType::f64, scales.shape());
  const auto to = wide.as_mutable<double>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = std::ldexp(1.0, -static_cast<int>(hash(seed, i) % 3));
  }
  return reference::narrowed(wide, scales.dtype());
}

bool can_hold_integers(DataType dtype) {
  return dtype == DataType::f32 || dtype == DataType::f16 || dtype == DataType::bf16 ||
         dtype == DataType::f64;
}

void replace_weights(Graph& graph) {
  std::set<ValueId> scales;
  std::set<ValueId> used;
  for (const graph::NodeId id : graph.order()) {
    Node& node = graph.node(id);
    used.insert(node.inputs.begin(), node.inputs.end());
    for (Graph& body : node.bodies) replace_weights(body);
    const bool quantises = node.op == OpKind::quantize || node.op == OpKind::dequantize;
    const bool packed = node.op == OpKind::matmul_nbits;
    if (quantises && node.has_input(1)) scales.insert(node.inputs[1]);
    if (packed && node.has_input(2)) scales.insert(node.inputs[2]);
    if (node.op == OpKind::resize && node.has_input(2)) scales.insert(node.inputs[2]);
  }
  for (const ValueId id : used) {
    if (!id.valid()) continue;
    graph::Value& value = graph.value(id);
    if (!value.constant || !can_hold_integers(value.dtype) || value.constant->count() < 2) continue;
    const auto seed = static_cast<std::uint64_t>(id.index);
    value.constant = scales.contains(id) ? powers_of_two(*value.constant, seed)
                                         : integers(value.dtype, value.constant->shape(), seed);
  }
}

bool exact_unary(UnaryFn fn) {
  return fn == UnaryFn::relu || fn == UnaryFn::neg || fn == UnaryFn::abs ||
         fn == UnaryFn::identity || fn == UnaryFn::sign || fn == UnaryFn::square;
}
bool exact_binary(BinaryFn fn) {
  return fn == BinaryFn::add || fn == BinaryFn::sub || fn == BinaryFn::mul || fn == BinaryFn::max ||
         fn == BinaryFn::min;
}

bool is_power_of_two(double v) {
  int exponent = 0;
  return v != 0 && std::abs(std::frexp(v, &exponent)) == 0.5;
}

bool exact_operation(const Node& node) {
  switch (node.op) {
    case OpKind::matmul:
    case OpKind::conv: {
      const auto activation = node.attrs.text("activation", "");
      const auto fn = graph::parse_unary(activation);
      const bool scaled =
          node.op == OpKind::matmul && !is_power_of_two(node.attrs.number("alpha", 1));
      return !scaled && (activation.empty() || (fn && exact_unary(*fn)));
    }
    case OpKind::unary: {
      const auto fn = graph::parse_unary(node.attrs.text("fn"));
      return fn && exact_unary(*fn);
    }
    case OpKind::binary: {
      const auto fn = graph::parse_binary(node.attrs.text("fn"));
      return fn && exact_binary(*fn);
    }
    case OpKind::reduce: {
      const std::string fn = node.attrs.text("fn");
      return fn == "sum" || fn == "max" || fn == "min" || fn == "l1";
    }
    case OpKind::elementwise: {
      const graph::ElementwiseProgram program = graph::load_elementwise(node.attrs);
      return !program.quantised &&
             std::all_of(program.code.begin(), program.code.end(), [](const auto& i) {
               using Kind = graph::ElementwiseInstr::Kind;
               if (i.kind == Kind::unary) return exact_unary(i.unary);
               return i.kind == Kind::select || exact_binary(i.binary);
             });
    }
    default:
      return false;
  }
}

// Significand bits of a type, the hidden one included.
int digits(DataType dtype) {
  return 1 - std::ilogb(2 * reference::unit_roundoff(dtype));
}

}  // namespace

std::shared_ptr<const Graph> with_integer_weights(std::shared_ptr<const Graph> imported) {
  auto graph = std::make_shared<Graph>(*imported);
  replace_weights(*graph);
  return graph;
}

std::vector<Tensor> integer_inputs(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    result.push_back(can_hold_integers(inputs[i].dtype())
                         ? integers(inputs[i].dtype(), inputs[i].shape(), 1'000'000 + i)
                         : inputs[i]);
  }
  return result;
}

bool is_exact(const Graph& graph, const Node& node, const std::vector<Tensor>& operands,
              const Bindings& bindings, const StepPrecision& precision) {
  if (!exact_operation(node)) return false;
  std::vector<reference::OracleValue> magnitudes;
  for (const Tensor& operand : operands) {
    if (!operand.defined()) {
      magnitudes.emplace_back();
      continue;
    }
    if (!is_float(operand.dtype())) {
      magnitudes.push_back(reference::from_tensor(operand));
      continue;
    }
    Tensor wide(DataType::f64, operand.shape());
    const auto to = wide.as_mutable<double>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double v = operand.at_double(static_cast<std::int64_t>(i));
      if (v != std::floor(v) || !std::isfinite(v)) return false;
      // An operand that is rounded to a smaller type must fit that too.
      if (reference::round_to(precision.operand, v) != v) return false;
      to[i] = std::abs(v);
    }
    reference::OracleValue value;
    value.value = wide;
    value.declared = operand.dtype();
    magnitudes.push_back(value);
  }
  // Sums of magnitudes bound every sum on the way; differences become sums.
  Node sums = node;
  if (node.op == OpKind::binary && node.attrs.text("fn") == "sub") {
    sums.attrs.set("fn", std::string("add"));
  }
  if (node.op == OpKind::elementwise) {
    graph::ElementwiseProgram program = graph::load_elementwise(node.attrs);
    for (graph::ElementwiseInstr& i : program.code) {
      if (i.binary == BinaryFn::sub) i.binary = BinaryFn::add;
      if (i.unary == UnaryFn::neg) i.unary = UnaryFn::identity;
    }
    graph::store(program, sums.attrs);
  }
  if (node.op == OpKind::matmul && sums.attrs.has("alpha")) {
    sums.attrs.set("alpha", std::abs(sums.attrs.number("alpha")));
  }
  const double limit =
      std::ldexp(1.0, std::min(digits(precision.accumulate), digits(precision.store)));
  try {
    for (const reference::OracleValue& bound :
         reference::evaluate(graph, sums, magnitudes, bindings)) {
      for (std::int64_t i = 0; i < bound.value.count(); ++i) {
        if (!(bound.value.at_double(i) <= limit)) return false;
      }
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool mostly_zero(const Tensor& tensor) {
  std::int64_t zeros = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) zeros += tensor.at_double(i) == 0 ? 1 : 0;
  return 2 * zeros > tensor.count();
}

}  // namespace concord::parity
