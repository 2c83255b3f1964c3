#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/reference/rounding.h"
#include "graph/graph.h"

// Faults put into a backend on purpose, to see whether the parity report finds them.
namespace concord::faults {

// One fault at one step, found by the step's operator and the name of its first output: both stay
// when the model is cut.
struct Fault {
  std::string kind;
  std::string op;
  std::string output;
  std::uint64_t seed = 0;
  std::string inner = "cpu";  // the backend that is wrapped
};
void write_fault(const std::filesystem::path& file, const Fault& fault);
Fault read_fault(const std::filesystem::path& file);

// The node that a fault is meant for.
std::optional<graph::NodeId> find_node(const graph::Graph& graph, const Fault& fault);

// A step as it ran without a fault.
struct Site {
  const graph::Graph& graph;
  const graph::Node& node;
  std::vector<Tensor> operands;  // undefined where omitted
  std::vector<Tensor> results;   // undefined where not tapped
};

// What a fault sees of one run.
struct Injection {
  const graph::Graph& graph;
  const graph::Node& node;
  std::span<const Tensor> operands;  // undefined where omitted
  std::uint64_t seed = 0;
  int run = 0;  // which run of the process
};

// A kind of fault: any of its hooks may be null.
struct FaultKind {
  const char* name;
  const char* what;
  bool (*applies)(const Site& site);
  // Changes the node.
  void (*change)(graph::Graph& graph, graph::Node& node) = nullptr;
  // Another tensor for an operand; an undefined one leaves it.
  Tensor (*operand)(const graph::Graph& graph, const graph::Node& node, std::size_t index,
                    const Tensor& tensor) = nullptr;
  // Computes the step instead of the wrapped backend.
  std::vector<Tensor> (*compute)(const Injection& injection) = nullptr;
  // Spoils what was computed.
  void (*results)(const Injection& injection, std::vector<Tensor>& results) = nullptr;
  bool is_race = false;     // shows in one run of ten
  bool is_control = false;  // must not be reported
};

std::span<const FaultKind> graph_kinds();
std::span<const FaultKind> value_kinds();
std::span<const FaultKind> arithmetic_kinds();
std::vector<FaultKind> all_kinds();
const FaultKind& kind_of(const Fault& fault);

// SplitMix64, the same on every machine.
std::uint64_t hash(std::uint64_t seed, std::uint64_t index);

// Whether a race with this seed shows in a run: one in ten.
bool race_shows(std::uint64_t seed, int run);

// f(index, value) on every element of a float tensor, as float64, rounded back to its type.
template <typename F>
Tensor mapped(const Tensor& tensor, F&& f) {
  Tensor wide(DataType::f64, tensor.shape());
  const auto to = wide.as_mutable<double>();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    to[static_cast<std::size_t>(i)] = f(i, tensor.at_double(i));
  }
  return reference::narrowed(wide, tensor.dtype());
}

}  // namespace concord::faults
