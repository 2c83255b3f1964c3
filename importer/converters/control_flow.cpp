#include <algorithm>

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
  for (std::size_t i = 2; i < c.input_count(); ++i) carried.push_back(c.input(i));
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
  const auto results = c.emit_node(std::move(node), std::vector<bool>(outputs, true));
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
    {kOnnx, "Scan", 9, kLatest, scan},
};

}  // namespace

std::span<const Converter> control_flow_converters() {
  return kConverters;
}

}  // namespace concord::importer
