#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/functions.h"
#include "graph/graph.h"
#include "importer/proto_fwd.h"

namespace concord::importer {

class Builder;
struct Scope;

using graph::Attributes;
using graph::BinaryFn;
using graph::OpKind;
using graph::ReduceFn;
using graph::UnaryFn;
using graph::ValueId;

// One ONNX node on its way into the graph: what a converter reads of it, and how it writes core
// operators. Every emitted node is inferred at once, so types, shapes and contents of what was
// emitted can be asked for.
class Conversion {
 public:
  Conversion(Builder& builder, Scope& scope, const onnx::NodeProto& node, std::int64_t opset);

  // --- The node
  // -----------------------------------------------------------------------------------
  std::string_view op() const;
  std::string_view domain() const;
  std::int64_t opset() const { return opset_; }

  std::size_t input_count() const { return inputs_.size(); }  // omitted ones at the end not counted
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i].valid(); }
  ValueId input(std::size_t i) const;  // Error(invalid) if it is omitted
  ValueId optional_input(std::size_t i) const { return has_input(i) ? inputs_[i] : ValueId{}; }
  std::vector<ValueId> inputs() const;  // all, none omitted
  std::size_t output_count() const;
  bool wants_output(std::size_t i) const;  // declared, and read by someone
  std::string output_name() const;         // the first that is not omitted

  // --- Attributes: Error(invalid) if one has another type
  // -------------------------------------------
  bool has_attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // required
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  double number(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  std::optional<std::vector<std::string>> texts(std::string_view name) const;
  std::optional<Tensor> tensor(std::string_view name) const;
  // The integers of an input if it is given and known, else of an attribute: axes that moved.
  std::optional<std::vector<std::int64_t>> integers_of(std::size_t input_index,
                                                       std::string_view attribute) const;
  // Attributes that mean nothing here (training, hints). Any other that the converter does not ask
  // for is reported as an oddity.
  void ignore(std::initializer_list<std::string_view> names) const;
  std::vector<std::string> unread_attributes() const;

  // --- What is known of values
  // ----------------------------------------------------------------------
  DataType dtype(ValueId value) const;
  const std::optional<SymShape>& shape(ValueId value) const;
  std::optional<std::int64_t> rank(ValueId value) const;
  // Error(unsupported) if they are not known.
  SymShape known_shape(ValueId value) const;
  std::int64_t known_rank(ValueId value) const;
  const std::optional<Tensor>& constant(ValueId value) const;
  // Elements of an integer or bool value that are known, as integers or as expressions.
  std::optional<std::vector<std::int64_t>> known_integers(ValueId value) const;
  std::optional<std::vector<Dim>> known_contents(ValueId value) const;
  // ONNX's axis (negative: from the end) as a non-negative one; Error(invalid) out of range.
  std::int64_t axis(std::int64_t value, std::int64_t rank) const;
  std::int64_t axis_of(std::int64_t value, ValueId operand) const;
  std::vector<std::int64_t> axes(std::vector<std::int64_t> values, std::int64_t rank) const;

  // --- Writing
  // --------------------------------------------------------------------------------------
  ValueId emit(OpKind op, std::vector<ValueId> inputs, Attributes attrs = {});
  // As many outputs as `wanted`; those that are not wanted come back invalid.
  std::vector<ValueId> emit_many(OpKind op, std::vector<ValueId> inputs, Attributes attrs,
                                 const std::vector<bool>& wanted);
  // With bodies.
  std::vector<ValueId> emit_node(graph::Node node, const std::vector<bool>& wanted);
  ValueId make_constant(Tensor tensor);
  ValueId make_integers(std::span<const std::int64_t> values);  // int64, rank 1
  ValueId make_scalar(double value, DataType dtype);            // rank 0

  ValueId unary(UnaryFn fn, ValueId x, double alpha = 0, double beta = 0);
  ValueId binary(BinaryFn fn, ValueId a, ValueId b);
  ValueId binary(BinaryFn fn, ValueId a, double b);  // b as a scalar of a's type
  ValueId cast(ValueId x, DataType to);              // x itself if it has the type
  ValueId reshape(ValueId x, SymShape shape);
  ValueId broadcast(ValueId x, SymShape shape);
  ValueId transpose(ValueId x, std::vector<std::int64_t> perm);
  ValueId unsqueeze(ValueId x, std::vector<std::int64_t> axes);  // in the result's axes
  ValueId reduce(ReduceFn fn, ValueId x, std::vector<std::int64_t> axes, bool keepdims);
  ValueId matmul(ValueId a, ValueId b, ValueId bias = {}, double alpha = 1, bool trans_a = false,
                 bool trans_b = false);
  ValueId gather(ValueId x, ValueId indices, std::int64_t axis);
  ValueId concat(std::vector<ValueId> parts, std::int64_t axis);
  // Elements begin ≤ i < end of an axis; the extents may be expressions.
  ValueId slice(ValueId x, std::int64_t axis, const Dim& begin, const Dim& end);
  // 0, 1, … length − 1.
  ValueId iota(const Dim& length, DataType dtype = DataType::i64);
  ValueId select(ValueId condition, ValueId a, ValueId b);

  void output(std::size_t i, ValueId value);

  // A sequence whose items are known is kept as a list of values, until something needs it as one
  // value of the graph.
  const std::vector<ValueId>* sequence_input(std::size_t i) const;
  // Any input as a value; a list of items becomes a sequence.
  ValueId materialised(std::size_t i);
  // `item`: their type, for an empty list.
  void output_sequence(std::size_t i, std::vector<ValueId> items,
                       DataType item = DataType::undefined);
  // What the model says of an output's type; undefined if nothing.
  DataType declared_output(std::size_t i) const;
  // An attribute that holds a type; undefined if it is not given.
  DataType type(std::string_view name) const;

  // --- Bodies
  // ---------------------------------------------------------------------------------------
  struct BodyInput {
    DataType dtype = DataType::undefined;
    std::optional<SymShape> shape;
  };
  struct Captured {
    std::string name;
    ValueId value;
  };
  // Values from outside that the bodies read, constants apart (bodies get those as their own).
  std::vector<Captured> captured(std::initializer_list<std::string_view> bodies);
  // How many inputs the body declares, and what it says of one.
  std::size_t body_input_count(std::string_view name) const;
  std::size_t body_output_count(std::string_view name) const;
  BodyInput declared_body_input(std::string_view name, std::size_t i) const;
  // A body with `formals` as its inputs, then the captured values.
  graph::Graph body(std::string_view name, std::span<const BodyInput> formals,
                    std::span<const Captured> captured);
  // The body's nodes in this graph, for a branch that is known to be taken or a function of these
  // arguments; its outputs.
  std::vector<ValueId> inline_body(std::string_view name, std::span<const ValueId> arguments = {});
  // See Builder::assumption.
  std::optional<bool> assumed_branch() const;
  void note_ambiguous(bool then_is_narrower) const;
  std::string describe_node() const;

  [[noreturn]] void invalid(const std::string& what, const std::string& hint = {}) const;
  [[noreturn]] void unsupported(const std::string& what) const;
  void oddity(const std::string& sentence) const;

 private:
  const onnx::AttributeProto* attribute(std::string_view name) const;
  const onnx::AttributeProto* attribute(std::string_view name, int type,
                                        std::string_view type_name) const;
  const onnx::GraphProto& body_proto(std::string_view name) const;
  graph::Graph& graph() const;
  std::string next_name();

  Builder& builder_;
  Scope& scope_;
  const onnx::NodeProto& node_;
  std::int64_t opset_;
  std::vector<ValueId> inputs_;
  int emitted_ = 0;
  mutable std::vector<std::string> read_;
};

}  // namespace concord::importer
