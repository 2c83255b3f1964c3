#include "tests/faults/fault.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "graph/error.h"

namespace concord::faults {

using nlohmann::json;

void write_fault(const std::filesystem::path& file, const Fault& fault) {
  std::ofstream(file) << json{
      {"kind", fault.kind},
      {"op", fault.op},
      {"output", fault.output},
      {"seed", fault.seed},
      {"inner", fault.inner}}.dump();
}

Fault read_fault(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::usage, "no fault file '" + file.string() + "'");
  const json j = json::parse(in);
  return {j.at("kind"), j.at("op"), j.at("output"), j.at("seed"), j.at("inner")};
}

std::optional<graph::NodeId> find_node(const graph::Graph& graph, const Fault& fault) {
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (!node.output().valid() || graph.value(node.output()).name != fault.output) continue;
    if (graph::to_string(node.op) == fault.op) return id;
  }
  return std::nullopt;
}

std::vector<FaultKind> all_kinds() {
  std::vector<FaultKind> kinds;
  for (const auto& list : {graph_kinds(), value_kinds(), arithmetic_kinds()}) {
    kinds.insert(kinds.end(), list.begin(), list.end());
  }
  return kinds;
}

const FaultKind& kind_of(const Fault& fault) {
  static const std::vector<FaultKind> kinds = all_kinds();
  for (const FaultKind& kind : kinds) {
    if (fault.kind == kind.name) return kind;
  }
  throw Error(ErrorKind::usage, "no kind of fault '" + fault.kind + "'");
}

std::uint64_t hash(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + 0x9E3779B97F4A7C15u * (index + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

bool race_shows(std::uint64_t seed, int run) {
  return hash(seed, 1000 + static_cast<std::uint64_t>(run)) % 10 == 0;
}

}  // namespace concord::faults
