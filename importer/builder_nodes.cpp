// How Builder treats one node: by a converter, by the model's own function, or as unsupported.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "graph/error.h"
#include "importer/builder.h"
#include "importer/converter_table.h"
#include "importer/onnx_proto.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

std::string plain_domain(const std::string& domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

// describe() with the opset among the parentheses.
std::string locate(const onnx::NodeProto& node, std::int64_t opset) {
  const std::string op = operator_name(node.domain(), node.op_type());
  const std::string with_opset = op + ", opset " + std::to_string(opset);
  std::string text = describe(node);
  const std::size_t at = text.rfind("(" + op + ")");
  if (at != std::string::npos) return text.replace(at + 1, op.size(), with_opset);
  return text + " (opset " + std::to_string(opset) + ")";
}

}  // namespace

std::int64_t Builder::opset_of(const Scope& scope, const onnx::NodeProto& node) const {
  const std::string domain = plain_domain(node.domain());
  if (const auto it = scope.opsets->find(domain); it != scope.opsets->end()) return it->second;
  if (!domain.empty()) return 1;
  // Before IR 3 there were no imports, and one opset.
  if (model_.ir_version() < 3) return 1;
  throw Error(ErrorKind::invalid,
              describe(node) + ": the model does not say which opset of ONNX it uses",
              "it lacks an opset_import of ONNX's own domain: export it again");
}

const onnx::FunctionProto* Builder::function_of(const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto it =
      functions_.find(FunctionKey{plain_domain(node.domain()), node.op_type(), node.overload()});
  return it == functions_.end() ? nullptr : it->second;
}

bool Builder::reads_poison(const Scope& scope, const onnx::NodeProto& node) {
  const std::vector<std::string> names = free_.read_by(node);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Binding* binding = scope.find(name);
    return binding != nullptr && binding->poisoned;
  });
}

void Builder::poison(Scope& scope, const onnx::NodeProto& node) {
  for (const std::string& name : node.output()) {
    if (!name.empty()) scope.names[name] = {{}, nullptr, true};
  }
}

void Builder::note_unsupported(const Scope& scope, const onnx::NodeProto& node,
                               const std::string& reason) {
  UnsupportedOperator row;
  row.domain = plain_domain(node.domain());
  row.op = node.op_type();
  row.opset = opset_of(scope, node);
  row.dtype = "-";
  row.nodes = 1;
  row.reason = reason;
  row.example = scope.prefix + (!node.name().empty()      ? node.name()
                                : node.output_size() != 0 ? node.output(0)
                                                          : std::string());
  const auto type_of = [&](const std::string& name) {
    const Binding* binding = scope.find(name);
    if (binding != nullptr && binding->value.valid()) {
      return scope.state->graph.value(binding->value).dtype;
    }
    return scope.declared_type(name);
  };
  for (const auto* names : {&node.input(), &node.output()}) {
    for (const std::string& name : *names) {
      const DataType dtype = row.dtype == "-" ? type_of(name) : DataType::undefined;
      if (dtype != DataType::undefined) row.dtype = to_string(dtype);
    }
  }
  for (UnsupportedOperator& known : unsupported_) {
    if (known.domain == row.domain && known.op == row.op && known.opset == row.opset &&
        known.dtype == row.dtype && known.reason == row.reason) {
      ++known.nodes;
      return;
    }
  }
  unsupported_.push_back(std::move(row));
}

void Builder::note_unsupported_bodies(const Scope& scope, const onnx::NodeProto& node) {
  const auto note = [&](const onnx::GraphProto& body) {
    for (const auto& inner : body.node()) {
      if (++visited_ > options_.limits.nodes) return;
      if (function_of(inner) == nullptr &&
          find_converter(plain_domain(inner.domain()), inner.op_type(), opset_of(scope, inner)) ==
              nullptr) {
        note_unsupported(scope, inner, "");
      }
      note_unsupported_bodies(scope, inner);
    }
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) note(attribute.g());
    for (const auto& body : attribute.graphs()) note(body);
  }
}

void Builder::convert_node(Scope& scope, const onnx::NodeProto& node) {
  if (++visited_ > options_.limits.nodes) {
    throw Error(ErrorKind::invalid, "the model has more than " +
                                        std::to_string(options_.limits.nodes) +
                                        " nodes, those of called functions included");
  }
  if (const onnx::FunctionProto* function = function_of(node)) {
    if (reads_poison(scope, node)) return poison(scope, node);
    try {
      call_function(scope, node, *function);
    } catch (const Error& e) {
      throw e.with_context(describe(node));
    }
    return;
  }
  const std::int64_t opset = opset_of(scope, node);
  const std::string domain = plain_domain(node.domain());
  if (find_converter(domain, node.op_type(), opset) == nullptr) {
    const auto known = known_opsets(domain, node.op_type());
    note_unsupported(scope, node, known ? "known in opset " + *known : "");
    note_unsupported_bodies(scope, node);
    return poison(scope, node);
  }
  if (reads_poison(scope, node)) {
    note_unsupported_bodies(scope, node);
    return poison(scope, node);
  }
  convert_with(scope, node, opset);
}

void Builder::convert_with(Scope& scope, const onnx::NodeProto& node, std::int64_t opset) {
  const std::string where = locate(node, opset);
  try {
    Conversion conversion(*this, scope, node, opset);
    find_converter(plain_domain(node.domain()), node.op_type(), opset)->convert(conversion);
    for (const std::string& name : node.output()) {
      if (!name.empty() && scope.is_used(name) && !scope.names.contains(name)) {
        throw Error(ErrorKind::unsupported, "output " + quote(name) + " is not supported");
      }
    }
    const std::string op = operator_name(node.domain(), node.op_type());
    for (const std::string& name : conversion.unread_attributes()) {
      oddity("attribute " + quote(name) + " of " + op + " is not known and was ignored");
    }
  } catch (const Poisoned&) {
    poison(scope, node);
  } catch (const Error& e) {
    // Inference names the node too; once is enough.
    std::string what = e.what();
    graph::Node named;
    named.name = scope.prefix + node.name();
    named.source_op = operator_name(node.domain(), node.op_type());
    const std::string twice = graph::describe(named) + ": ";
    if (what.starts_with(twice)) what.erase(0, twice.size());
    if (e.kind() == ErrorKind::unsupported) {
      note_unsupported(scope, node, what);
      return poison(scope, node);
    }
    throw Error(e.kind(), where + ": " + what, e.hint());
  } catch (const std::logic_error&) {
    // A converter asked for what only a sound node has: an element of an empty list, say.
    throw Error(ErrorKind::invalid, where + ": its inputs or attributes do not fit the operator",
                "check the model with onnx.checker, or export it again");
  } catch (const std::bad_optional_access&) {
    throw Error(ErrorKind::invalid, where + ": its inputs or attributes do not fit the operator",
                "check the model with onnx.checker, or export it again");
  }
}

void Builder::call_function(Scope& scope, const onnx::NodeProto& node,
                            const onnx::FunctionProto& function) {
  if (scope.calls >= options_.limits.calls) {
    throw Error(ErrorKind::invalid, "functions call each other more than " +
                                        std::to_string(options_.limits.calls) +
                                        " deep, or call themselves");
  }
  Scope inner;
  inner.state = scope.state;
  inner.prefix = scope.prefix + (node.name().empty() ? node.op_type() : node.name()) + "/";
  inner.opsets = &function_opsets_.at(&function);
  inner.calls = scope.calls + 1;
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
    throw Error(ErrorKind::invalid, "function " + quote(function.name()) + " takes " +
                                        counted(function.input_size(), "input") + " and gives " +
                                        counted(function.output_size(), "output") +
                                        ", the call has " + std::to_string(node.input_size()) +
                                        " and " + std::to_string(node.output_size()));
  }
  for (int i = 0; i < function.input_size(); ++i) {
    Binding argument;
    if (i < node.input_size() && !node.input(i).empty()) argument = *scope.find(node.input(i));
    if (!inner.names.emplace(function.input(i), std::move(argument)).second) {
      throw Error(ErrorKind::invalid, "input " + quote(function.input(i)) + " of function " +
                                          quote(function.name()) + " is defined twice");
    }
  }
  AttributeBindings attributes;
  for (const auto& attribute : function.attribute_proto())
    attributes[attribute.name()] = &attribute;
  for (const auto& attribute : node.attribute()) {
    const onnx::AttributeProto* given = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      given = nullptr;
      if (scope.attributes != nullptr) {
        const auto it = scope.attributes->find(attribute.ref_attr_name());
        if (it != scope.attributes->end()) given = it->second;
      }
    }
    if (given != nullptr) attributes[attribute.name()] = given;
  }
  inner.attributes = &attributes;
  for (const auto& info : function.value_info()) {
    if (info.type().has_tensor_type() && info.type().tensor_type().elem_type() != 0) {
      inner.declared[info.name()] = data_type(info.type().tensor_type().elem_type());
    }
  }
  inner.used.insert(function.output().begin(), function.output().end());
  std::vector<const onnx::NodeProto*> nodes;
  for (const auto& body_node : function.node()) nodes.push_back(&body_node);
  convert_nodes(inner, nodes);
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const Binding* result = inner.find(function.output(i));
    if (result == nullptr) {
      throw Error(ErrorKind::invalid, "output " + quote(function.output(i)) + " of function " +
                                          quote(function.name()) + " is made by no node");
    }
    bind(scope, node.output(i), *result);
  }
}

}  // namespace concord::importer
