#include "importer/conversion.h"

#include <algorithm>
#include <cstring>

#include "graph/error.h"
#include "graph/schema.h"
#include "importer/builder.h"
#include "importer/onnx_proto.h"
#include "importer/text.h"

namespace concord::importer {

Conversion::Conversion(Builder& builder, Scope& scope, const onnx::NodeProto& node,
                       std::int64_t opset)
    : builder_(builder), scope_(scope), node_(node), opset_(opset) {
  for (const std::string& name : node.input()) {
    inputs_.push_back(name.empty() ? ValueId{} : scope.find(name)->value);
  }
  const auto omitted = [&](std::size_t i) {
    const std::string& name = node.input(static_cast<int>(i));
    return name.empty() || (!inputs_[i].valid() && !scope.find(name)->sequence);
  };
  while (!inputs_.empty() && omitted(inputs_.size() - 1)) inputs_.pop_back();
}

std::string_view Conversion::op() const {
  return node_.op_type();
}
std::string_view Conversion::domain() const {
  return node_.domain();
}

ValueId Conversion::input(std::size_t i) const {
  if (has_input(i)) return inputs_[i];
  if (sequence_input(i) != nullptr) {
    unsupported("input " + std::to_string(i) + " is a sequence");
  }
  invalid("input " + std::to_string(i) + " is missing");
}

std::vector<ValueId> Conversion::inputs() const {
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < inputs_.size(); ++i) all.push_back(input(i));
  return all;
}

std::size_t Conversion::output_count() const {
  auto count = static_cast<std::size_t>(node_.output_size());
  while (count > 0 && node_.output(static_cast<int>(count) - 1).empty()) --count;
  return count;
}

bool Conversion::wants_output(std::size_t i) const {
  return i < output_count() && scope_.is_used(node_.output(static_cast<int>(i)));
}

// --- Attributes
// -------------------------------------------------------------------------------------

const onnx::AttributeProto* Conversion::attribute(std::string_view name) const {
  read_.emplace_back(name);
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    if (scope_.attributes == nullptr) return nullptr;
    const auto it = scope_.attributes->find(attribute.ref_attr_name());
    return it == scope_.attributes->end() ? nullptr : it->second;
  }
  return nullptr;
}

const onnx::AttributeProto* Conversion::attribute(std::string_view name, int type,
                                                  std::string_view type_name) const {
  const onnx::AttributeProto* found = attribute(name);
  // Old files leave the type out.
  if (found != nullptr && found->type() != 0 && found->type() != type) {
    invalid("attribute " + quote(name) + " has type " + std::to_string(found->type()) +
            ", expected " + std::string(type_name));
  }
  return found;
}

bool Conversion::has_attribute(std::string_view name) const {
  return attribute(name) != nullptr;
}

std::int64_t Conversion::integer(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::INT, "an integer");
  if (found == nullptr) invalid("attribute " + quote(name) + " is missing");
  return found->i();
}
std::int64_t Conversion::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* found = attribute(name, onnx::AttributeProto::INT, "an integer");
  return found == nullptr ? otherwise : found->i();
}
bool Conversion::flag(std::string_view name, bool otherwise) const {
  return integer(name, otherwise ? 1 : 0) != 0;
}
double Conversion::number(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::FLOAT, "a float");
  if (found == nullptr) invalid("attribute " + quote(name) + " is missing");
  return static_cast<double>(found->f());
}
double Conversion::number(std::string_view name, double otherwise) const {
  const auto* found = attribute(name, onnx::AttributeProto::FLOAT, "a float");
  return found == nullptr ? otherwise : static_cast<double>(found->f());
}
std::string Conversion::text(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::STRING, "a string");
  if (found == nullptr) invalid("attribute " + quote(name) + " is missing");
  return found->s();
}
std::string Conversion::text(std::string_view name, std::string_view otherwise) const {
  const auto* found = attribute(name, onnx::AttributeProto::STRING, "a string");
  return found == nullptr ? std::string(otherwise) : found->s();
}
std::optional<std::vector<std::int64_t>> Conversion::integers(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::INTS, "integers");
  if (found == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}
std::optional<std::vector<double>> Conversion::numbers(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::FLOATS, "floats");
  if (found == nullptr) return std::nullopt;
  return std::vector<double>(found->floats().begin(), found->floats().end());
}
std::optional<std::vector<std::string>> Conversion::texts(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::STRINGS, "strings");
  if (found == nullptr) return std::nullopt;
  return std::vector<std::string>(found->strings().begin(), found->strings().end());
}
std::optional<Tensor> Conversion::tensor(std::string_view name) const {
  const auto* found = attribute(name);
  if (found == nullptr) return std::nullopt;
  if (found->has_t()) return builder_.read_tensor(found->t());
  if (found->has_sparse_tensor()) return builder_.read_tensor(found->sparse_tensor());
  invalid("attribute " + quote(name) + " is no tensor");
}

std::optional<std::vector<std::int64_t>> Conversion::integers_of(std::size_t input_index,
                                                                 std::string_view attribute) const {
  if (has_input(input_index)) return known_integers(inputs_[input_index]);
  return integers(attribute);
}

void Conversion::ignore(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) read_.emplace_back(name);
}

std::vector<std::string> Conversion::unread_attributes() const {
  std::vector<std::string> names;
  for (const auto& attribute : node_.attribute()) {
    if (std::find(read_.begin(), read_.end(), attribute.name()) == read_.end()) {
      names.push_back(attribute.name());
    }
  }
  return names;
}

// --- What is known of values
// ------------------------------------------------------------------------

graph::Graph& Conversion::graph() const {
  return scope_.state->graph;
}

DataType Conversion::dtype(ValueId value) const {
  return graph().value(value).dtype;
}
const std::optional<SymShape>& Conversion::shape(ValueId value) const {
  return graph().value(value).shape;
}
std::optional<std::int64_t> Conversion::rank(ValueId value) const {
  const auto& known = shape(value);
  return known ? std::optional(static_cast<std::int64_t>(known->size())) : std::nullopt;
}
SymShape Conversion::known_shape(ValueId value) const {
  const auto& known = shape(value);
  if (!known) unsupported("the rank of " + quote(graph().value(value).name) + " is not known");
  return *known;
}
std::int64_t Conversion::known_rank(ValueId value) const {
  return static_cast<std::int64_t>(known_shape(value).size());
}
const std::optional<Tensor>& Conversion::constant(ValueId value) const {
  return graph().value(value).constant;
}

std::optional<std::vector<Dim>> Conversion::known_contents(ValueId id) const {
  const graph::Value& value = graph().value(id);
  if (value.contents) return value.contents;
  if (!value.constant || (!is_integer(value.dtype) && value.dtype != DataType::boolean)) {
    return std::nullopt;
  }
  constexpr std::int64_t kMost = 4096;
  if (value.constant->count() > kMost) return std::nullopt;
  const std::vector<std::int64_t> integers = value.constant->ints();
  return std::vector<Dim>(integers.begin(), integers.end());
}

std::optional<std::vector<std::int64_t>> Conversion::known_integers(ValueId id) const {
  const auto contents = known_contents(id);
  if (!contents) return std::nullopt;
  std::vector<std::int64_t> integers;
  for (const Dim& dim : *contents) {
    const auto value = dim.constant();
    if (!value) return std::nullopt;
    integers.push_back(*value);
  }
  return integers;
}

std::int64_t Conversion::axis(std::int64_t value, std::int64_t rank) const {
  const std::int64_t canonical = value < 0 ? value + rank : value;
  if (canonical < 0 || canonical >= rank) {
    invalid("axis " + std::to_string(value) + " is out of range for rank " + std::to_string(rank));
  }
  return canonical;
}

std::int64_t Conversion::axis_of(std::int64_t value, ValueId operand) const {
  const auto known = rank(operand);
  if (!known && value >= 0) return value;
  return axis(value, known_rank(operand));
}

std::vector<std::int64_t> Conversion::axes(std::vector<std::int64_t> values,
                                           std::int64_t rank) const {
  for (std::int64_t& value : values) value = axis(value, rank);
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    invalid("axes " + concord::to_string(std::span<const std::int64_t>(values)) +
            " name one axis twice");
  }
  return values;
}

// --- Writing
// ----------------------------------------------------------------------------------------

std::string Conversion::output_name() const {
  for (const std::string& output : node_.output()) {
    if (!output.empty()) return scope_.prefix + output;
  }
  return scope_.prefix + node_.name();
}

std::string Conversion::next_name() {
  return builder_.unique_name(*scope_.state, output_name() + "#" + std::to_string(++emitted_));
}

std::vector<ValueId> Conversion::emit_node(graph::Node node, const std::vector<bool>& wanted) {
  node.name = node_.name().empty() ? std::string() : scope_.prefix + node_.name();
  node.source_op =
      operator_name(node_.domain() == "ai.onnx" ? "" : node_.domain(), node_.op_type());
  for (const bool is_wanted : wanted) {
    if (!is_wanted) {
      node.outputs.emplace_back();
      continue;
    }
    const ValueId id = graph().add_value(next_name(), DataType::undefined);
    scope_.state->provisional.insert(id.index);
    node.outputs.push_back(id);
  }
  std::vector<ValueId> outputs = node.outputs;
  graph::infer(graph(), graph().add_node(std::move(node)));
  return outputs;
}

std::vector<ValueId> Conversion::emit_many(OpKind op, std::vector<ValueId> inputs, Attributes attrs,
                                           const std::vector<bool>& wanted) {
  graph::Node node;
  node.op = op;
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  return emit_node(std::move(node), wanted);
}

ValueId Conversion::emit(OpKind op, std::vector<ValueId> inputs, Attributes attrs) {
  return emit_many(op, std::move(inputs), std::move(attrs), {true}).front();
}

ValueId Conversion::make_constant(Tensor tensor) {
  const ValueId id = graph().add_constant(next_name(), std::move(tensor));
  scope_.state->provisional.insert(id.index);
  return id;
}

ValueId Conversion::make_integers(std::span<const std::int64_t> values) {
  return make_constant(Tensor::from_ints(values));
}

ValueId Conversion::make_scalar(double value, DataType dtype) {
  Tensor tensor(dtype, {});
  std::uint64_t raw = 0;
  if (is_float(dtype)) {
    raw = float_to_bits(dtype, value);
  } else if (is_integer(dtype) || dtype == DataType::boolean) {
    raw = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    unsupported("not for type " + std::string(to_string(dtype)));
  }
  std::memcpy(tensor.mutable_data(), &raw, static_cast<std::size_t>(tensor.bytes()));
  return make_constant(std::move(tensor));
}

void Conversion::output(std::size_t i, ValueId value) {
  if (i >= output_count() || node_.output(static_cast<int>(i)).empty()) return;
  builder_.bind(scope_, node_.output(static_cast<int>(i)), {value, nullptr, false});
}

const std::vector<ValueId>* Conversion::sequence_input(std::size_t i) const {
  if (i >= static_cast<std::size_t>(node_.input_size())) return nullptr;
  const Binding* binding = scope_.find(node_.input(static_cast<int>(i)));
  return binding != nullptr ? binding->sequence.get() : nullptr;
}

ValueId Conversion::materialised(std::size_t i) {
  if (sequence_input(i) == nullptr) return input(i);
  const std::string& name = node_.input(static_cast<int>(i));
  return builder_.materialise(*scope_.state, *scope_.find(name), scope_.prefix + name);
}

void Conversion::output_sequence(std::size_t i, std::vector<ValueId> items, DataType item) {
  if (i >= output_count() || node_.output(static_cast<int>(i)).empty()) return;
  builder_.bind(scope_, node_.output(static_cast<int>(i)),
                {{}, std::make_shared<const std::vector<ValueId>>(std::move(items)), false, item});
}

DataType Conversion::declared_output(std::size_t i) const {
  if (i >= output_count()) return DataType::undefined;
  return scope_.declared_type(node_.output(static_cast<int>(i)));
}

DataType Conversion::type(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::TYPE_PROTO, "a type");
  return found == nullptr ? DataType::undefined : value_type(found->tp());
}

// --- Bodies
// -----------------------------------------------------------------------------------------

const onnx::GraphProto& Conversion::body_proto(std::string_view name) const {
  const auto* found = attribute(name, onnx::AttributeProto::GRAPH, "a graph");
  if (found == nullptr) invalid("attribute " + quote(name) + " is missing");
  return found->g();
}

std::vector<Conversion::Captured> Conversion::captured(
    std::initializer_list<std::string_view> bodies) {
  std::vector<Captured> result;
  for (const std::string_view body : bodies) {
    for (const std::string& name : builder_.free_names().of(body_proto(body))) {
      const Binding* binding = scope_.find(name);
      if (binding == nullptr || binding->poisoned) continue;
      if (!binding->sequence && (!binding->value.valid() || constant(binding->value))) continue;
      if (std::any_of(result.begin(), result.end(),
                      [&](const Captured& c) { return c.name == name; })) {
        continue;
      }
      result.push_back({name, builder_.materialise(*scope_.state, *binding, scope_.prefix + name)});
    }
  }
  return result;
}

std::size_t Conversion::body_input_count(std::string_view name) const {
  return static_cast<std::size_t>(body_proto(name).input_size());
}
std::size_t Conversion::body_output_count(std::string_view name) const {
  return static_cast<std::size_t>(body_proto(name).output_size());
}

Conversion::BodyInput Conversion::declared_body_input(std::string_view name, std::size_t i) const {
  BodyInput result;
  const onnx::GraphProto& body = body_proto(name);
  if (i >= static_cast<std::size_t>(body.input_size())) return result;
  const auto& type = body.input(static_cast<int>(i)).type();
  result.dtype = value_type(type);
  if (!type.has_tensor_type()) return result;
  if (!type.tensor_type().has_shape()) return result;
  result.shape.emplace();
  for (const auto& dim : type.tensor_type().shape().dim()) {
    result.shape->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? Dim(dim.dim_value())
                                                                        : Dim::fresh_dynamic());
  }
  return result;
}

graph::Graph Conversion::body(std::string_view name, std::span<const BodyInput> formals,
                              std::span<const Captured> captured) {
  return builder_.build_body(scope_, body_proto(name), formals, captured);
}

std::vector<ValueId> Conversion::inline_body(std::string_view name,
                                             std::span<const ValueId> arguments) {
  return builder_.inline_body(scope_, body_proto(name),
                              node_.name().empty() ? std::string(name) : node_.name(), arguments);
}

std::optional<bool> Conversion::assumed_branch() const {
  return builder_.assumption(node_);
}
void Conversion::note_ambiguous(bool then_is_narrower) const {
  // Only a squeeze refuses by itself to run where it does not fit.
  const onnx::GraphProto& body = body_proto(then_is_narrower ? "then_branch" : "else_branch");
  for (const auto& output : body.output()) {
    const bool is_squeezed =
        std::any_of(body.node().begin(), body.node().end(), [&](const onnx::NodeProto& inner) {
          return inner.op_type() == "Squeeze" && inner.output_size() == 1 &&
                 inner.output(0) == output.name();
        });
    if (!is_squeezed) return;
  }
  builder_.note_ambiguous(node_, then_is_narrower);
}
std::string Conversion::describe_node() const {
  return describe(node_);
}

void Conversion::invalid(const std::string& what, const std::string& hint) const {
  throw Error(ErrorKind::invalid, shown(what), hint);
}
void Conversion::unsupported(const std::string& what) const {
  throw Error(ErrorKind::unsupported, shown(what));
}
void Conversion::oddity(const std::string& sentence) const {
  builder_.oddity(sentence);
}

}  // namespace concord::importer
