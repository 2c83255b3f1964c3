// SequenceMap: a loop over the items, whose body takes one out of every sequence, does what the
// model's body does, and puts the results behind those so far.
#include "graph/schema.h"
#include "importer/converter_table.h"

namespace concord::importer {
namespace {

using graph::Graph;
using graph::Node;

Attributes sequence_fn(const char* fn) {
  return {{"fn", std::string(fn)}};
}

ValueId add_node(Graph& graph, OpKind op, std::vector<ValueId> inputs, Attributes attrs,
                 ValueId output, graph::NodeId before = {}) {
  Node node;
  node.op = op;
  node.source_op = "SequenceMap";
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.outputs = {output};
  graph.add_node(std::move(node), before);
  return output;
}

// The model's body, whose first inputs are `formals` items or tensors, as the body of a loop that
// carries the output sequences. `sequences` are the types of the formals' outer values.
Graph as_loop_body(Graph body, const std::vector<DataType>& sequences) {
  const std::vector<ValueId> formals = body.inputs;
  const std::vector<ValueId> results = body.outputs;
  const graph::NodeId first = body.order().empty() ? graph::NodeId{} : body.order().front();
  const ValueId trip = body.add_value("#trip", DataType::i64, SymShape{});
  const ValueId condition = body.add_value("#condition", DataType::boolean, SymShape{});
  body.inputs = {trip, condition};
  body.outputs = {add_node(body, OpKind::unary, {condition},
                           {{"fn", std::string("identity")}, {"alpha", 0.0}, {"beta", 0.0}},
                           body.add_value("#again", DataType::boolean, SymShape{}))};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DataType type = sequence_of(body.value(results[i]).dtype);
    const std::string name = "#results" + std::to_string(i);
    const ValueId before = body.add_value(name, type, SymShape{Dim::fresh_dynamic("loop")});
    body.inputs.push_back(before);
    body.outputs.push_back(add_node(body, OpKind::sequence, {before, results[i]},
                                    sequence_fn("insert"), body.add_value(name + "'", type)));
  }
  for (std::size_t i = 0; i < formals.size(); ++i) {
    if (i >= sequences.size() || !is_sequence(sequences[i])) {
      body.inputs.push_back(formals[i]);
      continue;
    }
    const ValueId whole = body.add_value("#sequence" + std::to_string(i), sequences[i],
                                         SymShape{Dim::fresh_dynamic("items")});
    body.inputs.push_back(whole);
    add_node(body, OpKind::sequence, {whole, trip}, sequence_fn("at"), formals[i], first);
  }
  body.sort();
  return body;
}

void sequence_map(Conversion& c) {
  std::vector<ValueId> operands;
  std::vector<DataType> types;
  std::vector<Conversion::BodyInput> formals;
  for (std::size_t i = 0; i < c.body_input_count("body"); ++i) {
    operands.push_back(c.materialised(i));
    types.push_back(c.dtype(operands.back()));
    if (is_sequence(types.back())) {
      formals.push_back({item_type(types.back()), std::nullopt});
    } else {
      formals.push_back({types.back(), c.shape(operands.back())});
    }
  }
  if (types.empty() || !is_sequence(types.front())) c.invalid("input 0 is no sequence");
  const auto captured = c.captured({"body"});
  Node node;
  node.op = OpKind::loop;
  node.bodies.push_back(as_loop_body(c.body("body", formals, captured), types));
  const std::size_t outputs = node.bodies[0].outputs.size() - 1;
  const ValueId extents = c.emit(OpKind::shape_of, {operands.front()},
                                 {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  node.inputs = {c.reshape(extents, {}), ValueId{}};
  for (std::size_t i = 0; i < outputs; ++i) {
    Attributes attrs = sequence_fn("make");
    attrs.set("to", node.bodies[0].value(node.bodies[0].inputs[i + 2]).dtype);
    node.inputs.push_back(c.emit(OpKind::sequence, {}, std::move(attrs)));
  }
  node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
  for (const auto& outer : captured) node.inputs.push_back(outer.value);
  node.attrs.set("carried", static_cast<std::int64_t>(outputs));
  const auto results = c.emit_node(std::move(node), std::vector<bool>(outputs, true));
  for (std::size_t i = 0; i < results.size(); ++i) c.output(i, results[i]);
}

constexpr Converter kConverters[] = {
    {kOnnx, "SequenceMap", 17, kLatest, sequence_map},
};

}  // namespace

std::span<const Converter> sequence_map_converters() {
  return kConverters;
}

}  // namespace concord::importer
