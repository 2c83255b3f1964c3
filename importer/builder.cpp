#include "importer/builder.h"

#include <algorithm>

#include "graph/error.h"
#include "graph/schema.h"
#include "importer/converter_table.h"
#include "importer/onnx_proto.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

std::string plain_domain(const std::string& domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

template <typename Repeated>
std::vector<const onnx::NodeProto*> pointers(const Repeated& nodes) {
  std::vector<const onnx::NodeProto*> result;
  result.reserve(static_cast<std::size_t>(nodes.size()));
  for (const auto& node : nodes) result.push_back(&node);
  return result;
}

std::string kind_of_type(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return "a sequence of something other than tensors";
  if (type.has_map_type()) return "a map";
  if (type.has_optional_type()) return "an optional of something other than tensors and sequences";
  if (type.has_sparse_tensor_type()) return "a sparse tensor";
  return "of no type";
}

}  // namespace

DataType value_type(const onnx::TypeProto& type) {
  if (type.has_tensor_type()) {
    const int number = type.tensor_type().elem_type();
    return number == 0 ? DataType::undefined : data_type(number);
  }
  if (type.has_sequence_type() && type.sequence_type().elem_type().has_tensor_type()) {
    const DataType item = value_type(type.sequence_type().elem_type());
    return item == DataType::undefined ? item : sequence_of(item);
  }
  if (type.has_optional_type() && !type.optional_type().elem_type().has_optional_type()) {
    const DataType held = value_type(type.optional_type().elem_type());
    return held == DataType::undefined ? held : optional_of(held);
  }
  return DataType::undefined;
}

const Binding* Scope::find(const std::string& name) const {
  if (const auto it = names.find(name); it != names.end()) return &it->second;
  return outer != nullptr ? outer->find(name) : nullptr;
}

DataType Scope::declared_type(const std::string& name) const {
  if (const auto it = declared.find(name); it != declared.end()) return it->second;
  return outer != nullptr ? outer->declared_type(name) : DataType::undefined;
}

bool Scope::is_used(const std::string& name) const {
  return used.contains(name);
}

Builder::Builder(const onnx::ModelProto& model, TensorReader& tensors, const ImportOptions& options,
                 ModelInfo& info, Assumptions assumptions)
    : model_(model),
      tensors_(tensors),
      options_(options),
      info_(info),
      assumptions_(std::move(assumptions)) {}

std::optional<bool> Builder::assumption(const onnx::NodeProto& node) const {
  const auto it = assumptions_.find(&node);
  return it == assumptions_.end() ? std::nullopt : std::optional(it->second);
}

void Builder::note_ambiguous(const onnx::NodeProto& node, bool then_is_narrower) {
  ambiguous_.emplace_back(&node, then_is_narrower);
}

void Builder::oddity(const std::string& sentence) {
  if (oddities_.insert(sentence).second) info_.oddities.push_back(sentence);
}

std::string Builder::unique_name(GraphState& state, const std::string& name) {
  std::string candidate = name;
  for (int i = 2; !state.taken.insert(candidate).second; ++i) {
    candidate = name + "~" + std::to_string(i);
  }
  return candidate;
}

void Builder::bind(Scope& scope, const std::string& name, Binding binding) {
  GraphState& state = *scope.state;
  const bool is_final = scope.prefix.empty();
  if (binding.value.valid() && state.provisional.contains(binding.value.index)) {
    state.graph.value(binding.value).name =
        is_final ? name : unique_name(state, scope.prefix + name);
    if (is_final) state.provisional.erase(binding.value.index);
  }
  if (binding.value.valid() && state.graph.value(binding.value).dtype == DataType::undefined) {
    state.graph.value(binding.value).dtype = scope.declared_type(name);
  }
  if (!scope.names.emplace(name, std::move(binding)).second) {
    throw Error(ErrorKind::invalid, quote(name) + " is defined twice",
                "a model defines each value once: export it again");
  }
}

graph::Graph Builder::build() {
  for (const auto& import : model_.opset_import()) {
    opsets_[plain_domain(import.domain())] = import.version();
  }
  for (const auto& function : model_.functions()) {
    const FunctionKey key{plain_domain(function.domain()), function.name(), function.overload()};
    if (!functions_.emplace(key, &function).second) {
      throw Error(ErrorKind::invalid, "function " + quote(function.name()) + " is defined twice");
    }
    Opsets& opsets = function_opsets_[&function];
    opsets = opsets_;
    for (const auto& import : function.opset_import()) {
      opsets[plain_domain(import.domain())] = import.version();
    }
  }
  const onnx::GraphProto& proto = model_.graph();
  count_operators(opsets_, pointers(proto.node()));
  for (const auto& [function, opsets] : function_opsets_) {
    count_operators(opsets, pointers(function->node()));
  }
  for (const auto& [key, count] : operator_uses_) {
    info_.operators.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
  }

  graph::Graph graph;
  graph.name = proto.name();
  GraphState state{graph, {}, {}};
  Scope scope;
  scope.state = &state;
  scope.opsets = &opsets_;
  add_declared(scope, proto);
  add_initializers(scope, proto);
  add_inputs(scope, proto);
  for (const auto& output : proto.output()) scope.used.insert(output.name());
  convert_nodes(scope, pointers(proto.node()));
  if (unsupported_.empty()) add_outputs(scope, proto);
  if (!unsupported_.empty()) throw UnsupportedOperators(info_.path.string(), unsupported_);
  info_.symbols = graph.input_symbols();
  for (const auto& [name, value] : options_.dims) {
    if (dims_set_.contains(name)) continue;
    std::string known;
    for (const std::string& symbol : info_.symbols) known += (known.empty() ? "" : ", ") + symbol;
    for (const std::string& symbol : dims_set_) known += (known.empty() ? "" : ", ") + symbol;
    throw Error(ErrorKind::usage, "the model has no dimension " + quote(name),
                known.empty() ? "all its dimensions are fixed" : "it has " + known);
  }
  return graph;
}

void Builder::count_operators(const Opsets& opsets,
                              const std::vector<const onnx::NodeProto*>& nodes) {
  for (const onnx::NodeProto* node : nodes) {
    const std::string domain = plain_domain(node->domain());
    if (function_of(*node) == nullptr) {
      const auto it = opsets.find(domain);
      ++operator_uses_[{domain, node->op_type(), it == opsets.end() ? 1 : it->second}];
    }
    for (const auto& attribute : node->attribute()) {
      if (attribute.has_g()) count_operators(opsets, pointers(attribute.g().node()));
      for (const auto& body : attribute.graphs()) count_operators(opsets, pointers(body.node()));
    }
  }
}

void Builder::add_declared(Scope& scope, const onnx::GraphProto& proto) {
  const auto declare = [&](const onnx::ValueInfoProto& info) {
    const DataType dtype = value_type(info.type());
    if (dtype != DataType::undefined) scope.declared[info.name()] = dtype;
  };
  for (const auto& info : proto.value_info()) declare(info);
  for (const auto& info : proto.output()) declare(info);
  std::unordered_set<std::string>& taken = scope.state->taken;
  if (!scope.prefix.empty()) return;
  for (const auto& info : proto.input()) taken.insert(info.name());
  for (const auto& tensor : proto.initializer()) taken.insert(tensor.name());
  for (const auto& node : proto.node()) taken.insert(node.output().begin(), node.output().end());
}

void Builder::add_initializers(Scope& scope, const onnx::GraphProto& proto) {
  graph::Graph& graph = scope.state->graph;
  const auto add = [&](const std::string& name, Tensor tensor) {
    if (name.empty()) {
      oddity("an initialiser has no name and is ignored");
      return;
    }
    const std::string own =
        scope.prefix.empty() ? name : unique_name(*scope.state, scope.prefix + name);
    bind(scope, name, {graph.add_constant(own, std::move(tensor)), nullptr, false});
  };
  for (const auto& tensor : proto.initializer()) add(tensor.name(), tensors_.read(tensor));
  for (const auto& tensor : proto.sparse_initializer()) {
    add(tensor.values().name(), tensors_.read(tensor));
  }
}

SymShape Builder::input_shape(const onnx::ValueInfoProto& input) {
  const auto& dims = input.type().tensor_type().shape().dim();
  if (dims.size() > options_.limits.rank) {
    throw Error(ErrorKind::invalid, "input " + quote(input.name()) + " has rank " +
                                        std::to_string(dims.size()) + ", more than the limit of " +
                                        std::to_string(options_.limits.rank));
  }
  SymShape shape;
  for (int i = 0; i < dims.size(); ++i) {
    const auto& dim = dims.Get(i);
    const std::string& name = dim.dim_param();
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      shape.emplace_back(dim.dim_value());
      continue;
    }
    if (dim.has_dim_value()) {
      oddity("input " + quote(input.name()) + " has a dimension of " +
             std::to_string(dim.dim_value()) + ", taken as unknown");
    }
    // A question mark marks extents that only a run can tell. Long products are kept as one symbol:
    // multiplied out they could grow beyond measure.
    if (name.empty() || name[0] == '?') {
      shape.push_back(Dim::symbol(input.name() + "_dim" + std::to_string(i)));
    } else if (name.size() > 200 || std::count(name.begin(), name.end(), '*') > 4) {
      shape.push_back(Dim::symbol(name));
    } else {
      shape.push_back(parse_dim(name));
    }
  }
  if (options_.dims.empty()) return shape;
  std::map<std::string, Dim> replacements;
  for (const auto& [name, value] : options_.dims) replacements.emplace(name, Dim(value));
  for (Dim& dim : shape) {
    std::set<std::string> symbols;
    dim.collect_symbols(symbols);
    for (const std::string& symbol : symbols) {
      if (options_.dims.contains(symbol)) dims_set_.insert(symbol);
    }
    dim = dim.substitute(replacements);
    if (const auto value = dim.constant(); value && *value < 0) {
      throw Error(ErrorKind::usage, "the dimensions given make an extent of input " +
                                        quote(input.name()) + " " + std::to_string(*value));
    }
  }
  return shape;
}

void Builder::add_inputs(Scope& scope, const onnx::GraphProto& proto) {
  graph::Graph& graph = scope.state->graph;
  for (const auto& input : proto.input()) {
    // Up to IR 3 initialisers were listed among the inputs; later that made them defaults that a
    // caller may override.
    if (const auto it = scope.names.find(input.name()); it != scope.names.end()) {
      if (!graph.value(it->second.value).is_constant() || graph.is_input(it->second.value)) {
        throw Error(ErrorKind::invalid, "input " + quote(input.name()) + " is defined twice");
      }
      if (model_.ir_version() >= 4) {
        oddity("inputs with default values are taken as constants");
      }
      continue;
    }
    const DataType dtype = value_type(input.type());
    if (is_container(dtype)) {
      const ValueId id =
          graph.add_value(input.name(), dtype, SymShape{Dim::symbol(input.name() + "_items")});
      graph.inputs.push_back(id);
      bind(scope, input.name(), {id, nullptr, false});
      continue;
    }
    if (!input.type().has_tensor_type()) {
      const bool has_type = input.type().value_case() != onnx::TypeProto::VALUE_NOT_SET;
      throw Error(has_type ? ErrorKind::unsupported : ErrorKind::invalid,
                  "input " + quote(input.name()) + " is " + kind_of_type(input.type()),
                  has_type ? "tensors, sequences and optionals can be given to a model"
                           : "export it again");
    }
    if (dtype == DataType::undefined) {
      throw Error(ErrorKind::invalid, "input " + quote(input.name()) + " has no data type",
                  "export it again");
    }
    std::optional<SymShape> shape;
    if (input.type().tensor_type().has_shape()) {
      shape = input_shape(input);
    } else {
      oddity("input " + quote(input.name()) + " does not say its rank");
    }
    const ValueId id = graph.add_value(input.name(), dtype, std::move(shape));
    graph.inputs.push_back(id);
    bind(scope, input.name(), {id, nullptr, false});
  }
}

void Builder::add_outputs(Scope& scope, const onnx::GraphProto& proto) {
  graph::Graph& graph = scope.state->graph;
  for (const auto& output : proto.output()) {
    const Binding* binding = scope.find(output.name());
    if (binding == nullptr) {
      throw Error(ErrorKind::invalid, "output " + quote(output.name()) + " is made by no node",
                  "the model is incomplete: export it again");
    }
    if (binding->poisoned) throw Poisoned{};
    const DataType stated = scope.declared_type(output.name());
    ValueId value = materialise(*scope.state, *binding, output.name(), stated);
    if (!value.valid()) {
      throw Error(ErrorKind::invalid, "output " + quote(output.name()) + " is omitted");
    }
    const graph::Value& found = graph.value(value);
    if (found.is_constant() || graph.is_input(value) || graph.is_output(value) ||
        found.name != output.name()) {
      if (found.name == output.name()) {
        graph.value(value).name = unique_name(*scope.state, output.name() + "#source");
      }
      graph::Node identity;
      identity.op = OpKind::unary;
      identity.inputs = {value};
      identity.name = output.name();
      identity.source_op = "Identity";
      identity.attrs = {{"fn", std::string("identity")}, {"alpha", 0.0}, {"beta", 0.0}};
      value = graph.add_value(output.name(), DataType::undefined);
      identity.outputs = {value};
      graph::infer(graph, graph.add_node(std::move(identity)));
    }
    if (stated != DataType::undefined && graph.value(value).dtype != DataType::undefined &&
        stated != graph.value(value).dtype) {
      oddity("output " + quote(output.name()) + " is declared as " +
             std::string(to_string(stated)) + " and is " +
             std::string(to_string(graph.value(value).dtype)));
    }
    graph.outputs.push_back(value);
  }
}

ValueId Builder::materialise(GraphState& state, const Binding& binding, const std::string& name,
                             DataType wanted) {
  graph::Graph& graph = state.graph;
  const auto make = [&](std::vector<ValueId> items, DataType type) {
    graph::Node node;
    node.op = OpKind::sequence;
    node.name = name;
    node.source_op = is_optional(type) ? "Optional" : "SequenceConstruct";
    node.inputs = std::move(items);
    node.attrs = {{"fn", std::string("make")}, {"to", type}};
    const ValueId result = graph.add_value(unique_name(state, name + "#items"), type);
    node.outputs = {result};
    graph::infer(graph, graph.add_node(std::move(node)));
    return result;
  };
  ValueId value = binding.value;
  if (binding.sequence) {
    DataType item = binding.item;
    if (!binding.sequence->empty()) item = graph.value(binding.sequence->front()).dtype;
    value = make(*binding.sequence, sequence_of(item));
  }
  if (value.valid() && is_optional(wanted) && item_type(wanted) == graph.value(value).dtype) {
    value = make({value}, wanted);
  }
  return value;
}

void Builder::convert_nodes(Scope& scope, const std::vector<const onnx::NodeProto*>& nodes) {
  const NodeOrder order = order_nodes(
      nodes, [&](const std::string& name) { return scope.find(name) != nullptr; }, free_);
  if (!order.was_sorted) oddity("the nodes are not in topological order");
  for (const onnx::NodeProto* node : order.nodes) {
    for (std::string& name : free_.read_by(*node)) scope.used.insert(std::move(name));
  }
  for (const onnx::NodeProto* node : order.nodes) convert_node(scope, *node);
}

graph::Graph Builder::build_body(const Scope& scope, const onnx::GraphProto& body,
                                 std::span<const Conversion::BodyInput> formals,
                                 std::span<const Conversion::Captured> captured) {
  if (body.input_size() != static_cast<int>(formals.size())) {
    throw Error(ErrorKind::invalid, "body " + quote(body.name()) + " has " +
                                        counted(body.input_size(), "input") + " instead of " +
                                        std::to_string(formals.size()));
  }
  graph::Graph graph;
  graph.name = body.name();
  GraphState state{graph, {}, {}};
  Scope inner;
  inner.state = &state;
  inner.opsets = scope.opsets;
  inner.attributes = scope.attributes;
  inner.calls = scope.calls;
  add_declared(inner, body);
  const auto add_input = [&](const std::string& name, const graph::Value& like) {
    graph::Value value;
    value.name = name;
    value.dtype = like.dtype;
    value.shape = like.shape;
    value.contents = like.contents;
    const ValueId id = graph.add_value(std::move(value));
    graph.inputs.push_back(id);
    bind(inner, name, {id, nullptr, false});
  };
  for (std::size_t i = 0; i < formals.size(); ++i) {
    graph::Value like;
    like.dtype = formals[i].dtype;
    like.shape = formals[i].shape;
    add_input(body.input(static_cast<int>(i)).name(), like);
  }
  for (const Conversion::Captured& outer : captured) {
    if (inner.find(outer.name) != nullptr) {
      // Shadowed by a formal: the position must be kept, under a name that nobody reads.
      graph::Value value = scope.state->graph.value(outer.value);
      value.producer = {};
      value.equals = {};
      value.name = unique_name(state, outer.name + "#outer");
      graph.inputs.push_back(graph.add_value(std::move(value)));
      continue;
    }
    add_input(outer.name, scope.state->graph.value(outer.value));
  }
  for (const std::string& name : free_.of(body)) {
    if (inner.find(name) != nullptr) continue;
    const Binding* outer = scope.find(name);
    if (outer == nullptr) continue;  // reported by order_nodes, with the node that reads it
    if (outer->poisoned) throw Poisoned{};
    Binding own;
    if (outer->value.valid()) {
      const graph::Value& constant = scope.state->graph.value(outer->value);
      own.value = graph.add_constant(name, *constant.constant);
      graph.value(own.value).contents = constant.contents;
    }
    bind(inner, name, own);
  }
  add_initializers(inner, body);
  for (const auto& output : body.output()) inner.used.insert(output.name());
  convert_nodes(inner, pointers(body.node()));
  for (const auto& output : body.output()) {
    const Binding* binding = inner.find(output.name());
    if (binding != nullptr && binding->poisoned) throw Poisoned{};
  }
  add_outputs(inner, body);
  return graph;
}

std::vector<ValueId> Builder::inline_body(Scope& scope, const onnx::GraphProto& body,
                                          const std::string& prefix,
                                          std::span<const ValueId> arguments) {
  if (static_cast<std::size_t>(body.input_size()) != arguments.size()) {
    throw Error(ErrorKind::invalid, "body " + quote(body.name()) + " has " +
                                        std::to_string(body.input_size()) + " inputs, expected " +
                                        std::to_string(arguments.size()));
  }
  Scope inner;
  inner.state = scope.state;
  inner.outer = &scope;
  inner.prefix = scope.prefix + prefix + "/";
  inner.opsets = scope.opsets;
  inner.attributes = scope.attributes;
  inner.calls = scope.calls;
  add_declared(inner, body);
  add_initializers(inner, body);
  for (int i = 0; i < body.input_size(); ++i) {
    inner.names[body.input(i).name()] = {arguments[static_cast<std::size_t>(i)], nullptr, false};
  }
  for (const auto& output : body.output()) inner.used.insert(output.name());
  convert_nodes(inner, pointers(body.node()));
  std::vector<ValueId> results;
  for (const auto& output : body.output()) {
    const Binding* binding = inner.find(output.name());
    if (binding != nullptr && binding->poisoned) throw Poisoned{};
    if (binding == nullptr || (!binding->value.valid() && !binding->sequence)) {
      throw Error(ErrorKind::invalid,
                  "output " + quote(output.name()) + " of body " + quote(body.name()) +
                      (binding == nullptr ? " is made by no node" : " is omitted"));
    }
    results.push_back(materialise(*scope.state, *binding, prefix + "/" + output.name(),
                                  inner.declared_type(output.name())));
  }
  return results;
}

}  // namespace concord::importer
