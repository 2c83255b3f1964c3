#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/geometry.h"
#include "graph/schema.h"

namespace concord::graph {

using Contents = std::optional<std::vector<Dim>>;

// Contents are followed up to this many elements.
constexpr std::int64_t kMaxContents = 1024;

// Throws Error(invalid): "expects <expected>, found <found>".
[[noreturn]] void mismatch(const std::string& expected, const std::string& found);

// An operator's view of its node while its outputs are inferred.
class Inference {
 public:
  Inference(Graph& graph, NodeId id) : graph_(graph), id_(id) {}

  Graph& graph() { return graph_; }
  Node& node() { return graph_.node(id_); }
  const Node& node() const { return graph_.node(id_); }
  Attributes& attrs() { return node().attrs; }
  const Attributes& attrs() const { return node().attrs; }

  std::size_t input_count() const { return node().inputs.size(); }
  bool has(std::size_t i) const { return node().has_input(i); }
  // Type of an input; undefined if it is omitted.
  DataType dtype(std::size_t i) const;
  // Shape of an input; nullopt if its rank is unknown or it is omitted.
  const std::optional<SymShape>& shape(std::size_t i) const;
  std::optional<std::int64_t> rank(std::size_t i) const;
  // Elements of a small input that are known as integers or expressions, constants included.
  const Contents& contents(std::size_t i);
  // The elements if all of them are known numbers.
  std::optional<std::vector<std::int64_t>> constant_contents(std::size_t i);
  // "input 1 of float32 [batch, seq]", for messages.
  std::string describe_input(std::size_t i) const;

  void drop(std::size_t i);
  // If the input's elements are known: puts them into the attribute and drops the input.
  bool absorb_dims(std::size_t i, const std::string& name);
  bool absorb_integer(std::size_t i, const std::string& name);  // a single element

  void output(std::size_t o, DataType dtype, std::optional<SymShape> shape = {},
              Contents contents = {});
  // An output with the type and shape of an input.
  void output_like(std::size_t o, std::size_t i, Contents contents = {});
  // A dynamic extent; the same one when the node is inferred again.
  Dim dynamic(std::size_t o, std::size_t axis, const std::string& hint = {}) const;
  SymShape dynamic_shape(std::size_t o, std::int64_t rank) const;

  // Checks that throw with what was expected and what was found. Unknown types and ranks pass.
  void require_same_type(std::size_t i, std::size_t j) const;
  void require_rank(std::size_t i, std::int64_t wanted) const;
  void require_rank_at_least(std::size_t i, std::int64_t wanted) const;
  void require_integer(std::size_t i) const;
  void require_float(std::size_t i) const;
  void require_type(std::size_t i, DataType wanted) const;
  // The only element of an attribute that holds extents.
  Dim single_dim(const std::string& name) const;
  // The attribute's axis, made non-negative for the rank (and written back).
  std::int64_t axis(const std::string& name, std::int64_t rank);

 private:
  Graph& graph_;
  NodeId id_;
};

SymShape broadcast_shapes(const SymShape& a, const SymShape& b);
std::optional<SymShape> broadcast_shapes(const std::optional<SymShape>& a,
                                         const std::optional<SymShape>& b);
// Extents that must be equal: the one that tells more; throws if both are numbers and differ.
Dim merge_equal(const Dim& a, const Dim& b);

// Extents as numbers; nullopt if one is symbolic.
std::optional<std::vector<std::int64_t>> static_shape(const std::optional<SymShape>& shape);

// Whether contents of such a type can be followed; and the contents, or nullopt if a number among
// them does not fit the type, or an expression has grown too large.
bool holds_contents(DataType dtype);
Contents fitting(DataType dtype, Contents contents);

// Calls fn(offset of the output element, offsets of each operand's) for every element of the
// broadcast of the operands' static shapes to `out`.
void for_each_broadcast(std::span<const std::int64_t> out,
                        std::span<const std::vector<std::int64_t>> operands,
                        const std::function<void(std::size_t, std::span<const std::size_t>)>& fn);

// Output extent of a convolution or pooling window along one axis, before a ceiling rule.
// effective kernel = (kernel − 1)·dilation + 1.
Dim window_extent(const Dim& size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                  std::int64_t pad_begin, std::int64_t pad_end, std::string_view auto_pad);
// Fills strides, dilations and pads where absent, checks their lengths, and turns auto_pad into
// pads where the sizes allow it. `kernel`: the window's spatial extents.
void canonical_window(Inference& in, std::span<const std::int64_t> kernel);

// y, and with a second output the residual sum, for the normalisations.
void infer_norm(Inference& in);
// Outputs of lstm, gru and rnn.
void infer_recurrent(Inference& in, std::int64_t gates);

// The type, shape and contents of both, where they agree; differing extents become dynamic ones of
// output o.
void join_output(Inference& in, std::size_t o, const Value& a, const Value& b);
// Gives a body's input the type and shape of an outer value.
void bind_body_input(Graph& body, std::size_t i, const Value& outer, bool with_contents);

}  // namespace concord::graph
