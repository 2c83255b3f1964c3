#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace concord::host {

// One call of a kernel: the node, its operands as dense tensors, and what its symbols stand for.
// Kernels look at the operands' own types, not at those that the graph declares: the oracle hands
// float64 where the model says float32.
struct Call {
  const graph::Graph& graph;
  const graph::Node& node;
  std::span<const Tensor> inputs;  // omitted ones are undefined tensors
  const Bindings& bindings;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  // Throws Error(failed) if the operand is omitted.
  const Tensor& input(std::size_t i) const;
  // "'position_ids'", or "operand 1" if the model gives it no name.
  std::string name_of(std::size_t i) const;

  // A list that is an attribute (evaluated under the bindings) or else an operand's elements;
  // nullopt if it is neither.
  std::optional<std::vector<std::int64_t>> find_list(std::string_view attribute,
                                                     std::size_t operand) const;
  // As find_list; throws Error(failed) if it is neither.
  std::vector<std::int64_t> list(std::string_view attribute, std::size_t operand) const;
  // One integer that is an attribute (i or d) or else an operand's only element.
  std::int64_t integer(std::string_view attribute, std::size_t operand) const;
  // The attribute axis; Error(invalid) if it is not an axis of `rank` dimensions.
  std::size_t axis(std::int64_t rank) const;
};

// One core operator on the host. Each backends/host/<op>.cpp defines `host_<op>`, those that the
// host does not run are defined in unsupported.cpp.
struct Kernel {
  // Null: every node of this operator runs.
  std::optional<std::string> (*why_unsupported)(const graph::Graph& graph, const graph::Node& node);
  // Null: no node of this operator runs.
  std::vector<Tensor> (*run)(const Call& call);
  // Only moves elements: sub-byte types are handed to it, and taken from it, one per byte.
  bool moves = false;
};

#define CONCORD_OP(name) extern const Kernel host_##name;
#include "graph/ops.def"
#undef CONCORD_OP

// Element types of operands and results as the graph declares them.
DataType operand_type(const graph::Graph& graph, const graph::Node& node, std::size_t i = 0);

// "computes in float32, which is not the host's": for operators that the host runs on integers,
// booleans (and strings) only.
std::optional<std::string> only_exact_types(const graph::Graph& graph, const graph::Node& node);

// Error(invalid).
[[noreturn]] void fail(const std::string& message, std::string hint = {});

// index plus extent if negative; throws Error(invalid) naming operand and element if it is not in
// [−extent, extent). `element` is the flat position of the index within its operand.
std::int64_t checked_index(const Call& call, std::size_t operand, std::int64_t element,
                           std::int64_t index, std::int64_t extent);

// GatherElements, ScatterElements: for each element of the indices (operand 1) the flat position in
// the data (operand 0) that it means. Defined in gather_elements.cpp.
std::vector<std::int64_t> element_targets(const Call& call);

// GatherND, ScatterND: for each index tuple (operand 1) the flat position in the data (operand 0)
// where its slice begins. Defined in gather_nd.cpp.
struct SliceTargets {
  std::vector<std::int64_t> offsets;
  std::int64_t length = 1;   // elements of a slice
  std::size_t trailing = 0;  // axes of a slice
};
SliceTargets slice_targets(const Call& call, std::int64_t batch_dims);

}  // namespace concord::host
