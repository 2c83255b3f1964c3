#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "backends/cpu/compiler.h"
#include "backends/cpu/element.h"
#include "backends/cpu/host_step.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/planner.h"

namespace concord::cpu {

inline DataType input_dtype(const graph::Graph& graph, const graph::Node& node, std::size_t i) {
  return node.has_input(i) ? graph.value(node.input(i)).dtype : DataType::undefined;
}

inline DataType output_dtype(const graph::Graph& graph, const graph::Node& node,
                             std::size_t i = 0) {
  return graph.value(node.output(i)).dtype;
}

// "float64 tensors"
inline std::string type_reason(DataType dtype) {
  return std::string(to_string(dtype)) + " tensors";
}

// The first of these inputs that is there must be f32, f16 or bf16.
inline std::optional<std::string> why_not_float(const graph::Graph& graph, const graph::Node& node,
                                                std::initializer_list<std::size_t> inputs = {0}) {
  for (std::size_t i : inputs) {
    const DataType dtype = input_dtype(graph, node, i);
    if (dtype != DataType::undefined && !is_kernel_float(dtype)) return type_reason(dtype);
  }
  return std::nullopt;
}

// Types that are moved as they are: whole bytes here, smaller ones by the host.
inline std::optional<std::string> why_not_movable(const graph::Graph& graph,
                                                  const graph::Node& node) {
  return element_bytes(output_dtype(graph, node)) == 0 ? why_not_host(graph, node) : std::nullopt;
}
template <PlanFn (*prepare)(Compiler&)>
PlanFn prepare_movement(Compiler& c) {
  return element_bytes(c.out_value().dtype) == 0 ? prepare_host(c) : prepare(c);
}

inline std::optional<std::string> any_node(const graph::Graph&, const graph::Node&) {
  return std::nullopt;
}

// Throws what a kernel found wrong with an index.
[[noreturn]] inline void throw_bad_index(std::int64_t index, std::int64_t extent) {
  throw Error(ErrorKind::invalid, "index " + std::to_string(index) + " is outside an axis of " +
                                      std::to_string(extent));
}

// Indices along `axis` may reach no further than the data on every other axis.
inline void require_index_inside(const Dims& data, const Dims& index, int axis) {
  for (int d = 0; d < data.rank(); ++d) {
    if (d == axis || index[d] <= data[d]) continue;
    throw Error(ErrorKind::invalid, "indices of extent " + std::to_string(index[d]) + " on axis " +
                                        std::to_string(d) + ", the data has " +
                                        std::to_string(data[d]));
  }
}

}  // namespace concord::cpu
