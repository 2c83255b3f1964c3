#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// Which carried values may change shape between iterations is found by trying: the body is inferred
// with the shapes so far, and extents that come out different become dynamic, until none do.
constexpr int kMaxRounds = 8;

// Whether a body's input, as it stands, allows for the outer value and more. It is then left so:
// operators of the body may have taken its dynamic extents into their attributes.
bool covers(const Value& inner, const Value& outer) {
  if (inner.dtype == DataType::undefined || inner.dtype != outer.dtype) return false;
  if (!inner.shape) return true;
  if (!outer.shape || outer.shape->size() != inner.shape->size()) return false;
  for (std::size_t k = 0; k < inner.shape->size(); ++k) {
    const auto name = (*inner.shape)[k].symbol_name();
    if (!((*inner.shape)[k] == (*outer.shape)[k]) && !(name && name->starts_with("?loop"))) {
      return false;
    }
  }
  return true;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  Node& node = in.node();
  const auto carried = static_cast<std::size_t>(in.attrs().integer("carried"));
  if (node.bodies.size() != 1) mismatch("one body", std::to_string(node.bodies.size()));
  Graph& body = node.bodies[0];
  if (node.inputs.size() < 2) node.inputs.resize(2);
  const std::size_t n = node.outputs.size();
  if (carried > n || body.inputs.size() != node.inputs.size() || body.outputs.size() != n + 1 ||
      node.inputs.size() < carried + 2) {
    mismatch("a body with " + std::to_string(node.inputs.size()) + " inputs and " +
                 std::to_string(n + 1) + " outputs",
             std::to_string(body.inputs.size()) + " and " + std::to_string(body.outputs.size()));
  }
  in.require_type(1, DataType::boolean);
  Value scalar;
  scalar.dtype = DataType::i64;
  scalar.shape = SymShape{};
  bind_body_input(body, 0, scalar, false);
  scalar.dtype = DataType::boolean;
  bind_body_input(body, 1, scalar, false);
  for (std::size_t i = carried; i + 2 < node.inputs.size(); ++i) {
    in.contents(i + 2);
    bind_body_input(body, i + 2, graph.value(node.inputs[i + 2]), true);
  }
  for (std::size_t i = 0; i < carried; ++i) {
    const Value& outer = graph.value(node.inputs[i + 2]);
    if (!covers(body.value(body.inputs[i + 2]), outer)) bind_body_input(body, i + 2, outer, false);
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    infer(body);
    bool changed = false;
    for (std::size_t i = 0; i < carried; ++i) {
      Value& before = body.value(body.inputs[i + 2]);
      const Value& after = body.value(body.outputs[i + 1]);
      if (before.dtype != after.dtype && before.dtype != DataType::undefined &&
          after.dtype != DataType::undefined) {
        mismatch("carried value " + std::to_string(i) + " to keep its type " +
                     std::string(concord::to_string(before.dtype)),
                 std::string(concord::to_string(after.dtype)));
      }
      if (!before.shape) continue;
      if (!after.shape || after.shape->size() != before.shape->size() || round + 1 == kMaxRounds) {
        before.shape.reset();
        changed = true;
        continue;
      }
      for (std::size_t k = 0; k < before.shape->size(); ++k) {
        Dim& d = (*before.shape)[k];
        if (d == (*after.shape)[k]) continue;
        // An extent that is dynamic already stands for whatever the last iteration gave.
        if (const auto name = d.symbol_name(); name && name->starts_with("?loop")) continue;
        d = Dim::fresh_dynamic("loop");
        changed = true;
      }
    }
    if (!changed) break;
  }
  for (std::size_t o = 0; o < n; ++o) {
    const Value& inner = body.value(body.outputs[o + 1]);
    if (o < carried) {
      // No iteration at all gives the initial value back.
      join_output(in, o, graph.value(node.inputs[o + 2]), inner);
      continue;
    }
    if (!inner.shape) {
      in.output(o, inner.dtype);
      continue;
    }
    SymShape shape = *inner.shape;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (shape[k].has_dynamic()) shape[k] = in.dynamic(o, k + 1);
    }
    const auto trips = in.constant_contents(0);
    const bool endless = !in.has(1) && trips && trips->size() == 1 && trips->front() >= 0;
    shape.insert(shape.begin(), endless ? Dim(trips->front()) : in.dynamic(o, 0, "trips"));
    in.output(o, inner.dtype, std::move(shape));
  }
}

}  // namespace

const OpSchema schema_loop{2, -1, 0, -1, infer_op};

}  // namespace concord::graph
