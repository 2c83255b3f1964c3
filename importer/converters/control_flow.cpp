#include <algorithm>

#include "graph/schema.h"
#include "importer/converter_table.h"

namespace concord::importer {
namespace {

std::vector<ValueId> values_of(const std::vector<Conversion::Captured>& captured) {
  std::vector<ValueId> values;
  for (const auto& outer : captured) values.push_back(outer.value);
  return values;
}

void take_branch(Conversion& c, bool then) {
  const std::string_view taken = then ? "then_branch" : "else_branch";
  c.ignore({"then_branch", "else_branch"});
  const std::vector<ValueId> results = c.inline_body(taken);
  if (results.size() < c.output_count()) {
    c.invalid("branch '" + std::string(taken) + "' has " + std::to_string(results.size()) +
              " outputs, expected " + std::to_string(c.output_count()));
  }
  for (std::size_t i = 0; i < results.size(); ++i) c.output(i, results[i]);
}

// Notes branches whose results differ in rank, and which one's is lower.
void check_ranks(Conversion& c, const graph::Graph& then, const graph::Graph& otherwise) {
  for (std::size_t i = 0; i < then.outputs.size(); ++i) {
    const auto& a = then.value(then.outputs[i]).shape;
    const auto& b = otherwise.value(otherwise.outputs[i]).shape;
    if (a && b && a->size() != b->size()) return c.note_ambiguous(a->size() < b->size());
  }
}

// Only the branch that is taken, if that is known already.
void if_then_else(Conversion& c) {
  const ValueId condition = c.input(0);
  if (const auto known = c.known_integers(condition); known && known->size() == 1) {
    return take_branch(c, known->front() != 0);
  }
  if (const auto assumed = c.assumed_branch()) {
    c.oddity(c.describe_node() + " gives results of different rank; its " +
             (*assumed ? "then" : "else") +
             " branch is taken, and inputs for which the other one would be are refused");
    return take_branch(c, *assumed);
  }
  const auto captured = c.captured({"then_branch", "else_branch"});
  graph::Node node;
  node.op = OpKind::if_then_else;
  node.inputs = values_of(captured);
  node.inputs.insert(node.inputs.begin(), condition);
  node.bodies.push_back(c.body("then_branch", {}, captured));
  node.bodies.push_back(c.body("else_branch", {}, captured));
  const std::size_t outputs = node.bodies[0].outputs.size();
  if (node.bodies[1].outputs.size() != outputs || outputs < c.output_count()) {
    c.invalid("its branches have " + std::to_string(outputs) + " and " +
              std::to_string(node.bodies[1].outputs.size()) + " outputs, expected " +
              std::to_string(c.output_count()));
  }
  check_ranks(c, node.bodies[0], node.bodies[1]);
  const auto results = c.emit_node(std::move(node), std::vector<bool>(outputs, true));
  for (std::size_t i = 0; i < results.size(); ++i) c.output(i, results[i]);
}

// Makes an output of a body that is what the optional `wanted` may hold such an optional.
void wrap_output(graph::Graph& body, std::size_t i, DataType wanted) {
  const ValueId found = body.outputs[i];
  if (!is_optional(wanted) || body.value(found).dtype != item_type(wanted)) return;
  graph::Node node;
  node.op = OpKind::sequence;
  node.source_op = "Optional";
  node.inputs = {found};
  node.attrs = {{"fn", std::string("make")}, {"to", wanted}};
  body.outputs[i] = body.add_value(body.value(found).name + "#optional", wanted);
  node.outputs = {body.outputs[i]};
  graph::infer(body, body.add_node(std::move(node)));
}

// Carried values may change their extents from one iteration to the next: those that the body gives
// back with another extent become dynamic, until the body gives back what it was given.
graph::Graph loop_body(Conversion& c, const std::vector<ValueId>& carried,
                       std::span<const Conversion::Captured> captured) {
  std::vector<Conversion::BodyInput> formals{{DataType::i64, SymShape{}},
                                             {DataType::boolean, SymShape{}}};
  for (const ValueId value : carried) formals.push_back({c.dtype(value), c.shape(value)});
  constexpr int kRounds = 4;
  for (int round = 0;; ++round) {
    graph::Graph body = c.body("body", formals, captured);
    for (std::size_t i = 0; i < carried.size() && i + 1 < body.outputs.size(); ++i) {
      wrap_output(body, i + 1, formals[i + 2].dtype);
    }
    bool stable = true;
    for (std::size_t i = 0; i < carried.size() && i + 1 < body.outputs.size(); ++i) {
      auto& before = formals[i + 2].shape;
      const auto& after = body.value(body.outputs[i + 1]).shape;
      if (!before) continue;
      if (!after || after->size() != before->size() || round + 1 >= kRounds) {
        stable = after == before && stable;
        if (after != before) before.reset();
        continue;
      }
      for (std::size_t k = 0; k < before->size(); ++k) {
        const auto name = (*before)[k].symbol_name();
        if ((*before)[k] == (*after)[k] || (name && name->starts_with("?loop"))) continue;
        (*before)[k] = Dim::fresh_dynamic("loop");
        stable = false;
      }
    }
    if (stable) return body;
  }
}

void loop(Conversion& c) {
  std::vector<ValueId> carried;
  for (std::size_t i = 2; i < c.input_count(); ++i) {
    carried.push_back(c.materialised(i));
    const DataType wanted = c.declared_body_input("body", i).dtype;
    if (is_optional(wanted) && item_type(wanted) == c.dtype(carried.back())) {
      carried.back() =
          c.emit(OpKind::sequence, {carried.back()}, {{"fn", std::string("make")}, {"to", wanted}});
    }
  }
  const auto captured = c.captured({"body"});
  graph::Node node;
  node.op = OpKind::loop;
  node.inputs = {c.optional_input(0), c.optional_input(1)};
  node.inputs.insert(node.inputs.end(), carried.begin(), carried.end());
  const std::vector<ValueId> outer = values_of(captured);
  node.inputs.insert(node.inputs.end(), outer.begin(), outer.end());
  node.attrs.set("carried", static_cast<std::int64_t>(carried.size()));
  node.bodies.push_back(loop_body(c, carried, captured));
  if (node.bodies[0].outputs.size() < carried.size() + 1) {
    c.invalid("its body has " + std::to_string(node.bodies[0].outputs.size()) +
              " outputs, expected the condition and " + std::to_string(carried.size()) +
              " carried values");
  }
  const std::size_t outputs = node.bodies[0].outputs.size() - 1;
  auto results = c.emit_node(std::move(node), std::vector<bool>(outputs, true));
  for (std::size_t i = 0; i < results.size(); ++i) {
    // What began as an optional may be declared as what it holds in the end.
    const DataType found = c.dtype(results[i]);
    if (is_optional(found) && c.declared_output(i) == item_type(found)) {
      results[i] = c.emit(OpKind::sequence, {results[i]}, {{"fn", std::string("at")}});
    }
    c.output(i, results[i]);
  }
}

// Opset 8 scans every sequence of a batch, axis 1 of axis 0: a scan in a scan over the batch.
void scan_8(Conversion& c) {
  if (c.has_input(0)) c.unsupported("sequences of different lengths");
  const std::int64_t scans = c.integer("num_scan_inputs");
  const auto inputs = static_cast<std::int64_t>(c.input_count()) - 1;
  if (scans < 1 || scans > inputs) {
    c.invalid("attribute 'num_scan_inputs' is " + std::to_string(scans) + " for " +
              std::to_string(inputs) + " inputs");
  }
  const auto states = static_cast<std::size_t>(inputs - scans);
  const std::size_t outputs = c.body_output_count("body");
  if (outputs < states) c.invalid("its body has fewer outputs than states");
  std::vector<ValueId> operands;
  std::vector<Conversion::BodyInput> formals;
  graph::Graph batch;
  graph::Node inner;
  for (std::size_t i = 0; i < static_cast<std::size_t>(inputs); ++i) {
    operands.push_back(c.input(i + 1));
    SymShape shape = c.known_shape(operands.back());
    if (shape.size() < (i < states ? 1U : 2U)) c.invalid("a scanned input lacks its batch axis");
    shape.erase(shape.begin());
    inner.inputs.push_back(
        batch.add_value("#" + std::to_string(i), c.dtype(operands.back()), shape));
    if (i >= states) shape.erase(shape.begin());
    formals.push_back({c.dtype(operands.back()), std::move(shape)});
  }
  const auto captured = c.captured({"body"});
  for (const auto& outer : captured) {
    inner.inputs.push_back(batch.add_value(outer.name, c.dtype(outer.value), c.shape(outer.value)));
    operands.push_back(outer.value);
  }
  batch.inputs = inner.inputs;
  std::vector<std::int64_t> directions =
      c.integers("directions").value_or(std::vector<std::int64_t>{});
  const auto scanned = static_cast<std::int64_t>(outputs - states);
  directions.resize(static_cast<std::size_t>(scans), 0);
  directions.resize(static_cast<std::size_t>(scans + scanned), 0);
  const auto zeros = [](std::int64_t count) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(count), 0);
  };
  inner.op = OpKind::scan;
  inner.source_op = "Scan";
  inner.bodies.push_back(c.body("body", formals, captured));
  inner.attrs = {{"states", static_cast<std::int64_t>(states)},
                 {"scans", scans},
                 {"axes", zeros(scans + scanned)},
                 {"directions", std::move(directions)}};
  for (std::size_t i = 0; i < outputs; ++i) {
    inner.outputs.push_back(batch.add_value("#out" + std::to_string(i), DataType::undefined));
  }
  batch.outputs = inner.outputs;
  graph::infer(batch, batch.add_node(std::move(inner)));
  const std::int64_t all = inputs + static_cast<std::int64_t>(outputs);
  graph::Node outer;
  outer.op = OpKind::scan;
  outer.inputs = std::move(operands);
  outer.bodies.push_back(std::move(batch));
  outer.attrs = {{"states", std::int64_t{0}},
                 {"scans", inputs},
                 {"axes", zeros(all)},
                 {"directions", zeros(all)}};
  const auto results = c.emit_node(std::move(outer), std::vector<bool>(outputs, true));
  for (std::size_t i = 0; i < results.size(); ++i) c.output(i, results[i]);
}

void scan(Conversion& c) {
  const std::int64_t scans = c.integer("num_scan_inputs");
  const auto inputs = static_cast<std::int64_t>(c.input_count());
  if (scans < 1 || scans > inputs) {
    c.invalid("attribute 'num_scan_inputs' is " + std::to_string(scans) + " for " +
              std::to_string(inputs) + " inputs");
  }
  const auto states = static_cast<std::size_t>(inputs - scans);
  const auto outputs = static_cast<std::int64_t>(c.body_output_count("body"));
  const std::int64_t scanned = outputs - static_cast<std::int64_t>(states);
  if (scanned < 0) c.invalid("its body has fewer outputs than states");
  // One number for each scanned input, then for each scanned output.
  const auto both = [&](std::string_view of_inputs, std::string_view of_outputs) {
    auto list = c.integers(of_inputs).value_or(std::vector<std::int64_t>{});
    const auto more = c.integers(of_outputs).value_or(std::vector<std::int64_t>{});
    list.resize(static_cast<std::size_t>(scans), 0);
    list.insert(list.end(), more.begin(), more.end());
    list.resize(static_cast<std::size_t>(scans + scanned), 0);
    return list;
  };
  std::vector<std::int64_t> axes = both("scan_input_axes", "scan_output_axes");
  const std::vector<std::int64_t> directions =
      both("scan_input_directions", "scan_output_directions");
  std::vector<Conversion::BodyInput> formals;
  graph::Node node;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const ValueId value = c.input(i);
    node.inputs.push_back(value);
    Conversion::BodyInput formal{c.dtype(value), c.shape(value)};
    if (i >= states && formal.shape) {
      std::int64_t& axis = axes[i - states];
      axis = c.axis_of(axis, value);
      formal.shape->erase(formal.shape->begin() + axis);
    }
    formals.push_back(std::move(formal));
  }
  const auto captured = c.captured({"body"});
  const std::vector<ValueId> outer = values_of(captured);
  node.op = OpKind::scan;
  node.inputs.insert(node.inputs.end(), outer.begin(), outer.end());
  node.bodies.push_back(c.body("body", formals, captured));
  node.attrs = {{"states", static_cast<std::int64_t>(states)},
                {"scans", scans},
                {"axes", std::move(axes)},
                {"directions", directions}};
  const auto results =
      c.emit_node(std::move(node), std::vector<bool>(static_cast<std::size_t>(outputs), true));
  for (std::size_t i = 0; i < results.size(); ++i) c.output(i, results[i]);
}

constexpr Converter kConverters[] = {
    {kOnnx, "If", 1, kLatest, if_then_else},
    {kOnnx, "Loop", 1, kLatest, loop},
    {kOnnx, "Scan", 8, 8, scan_8},
    {kOnnx, "Scan", 9, kLatest, scan},
};

}  // namespace

std::span<const Converter> control_flow_converters() {
  return kConverters;
}

}  // namespace concord::importer
