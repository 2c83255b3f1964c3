#include <algorithm>

#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

constexpr std::int64_t kLeaf = 6;

void check_range(std::int64_t value, std::size_t end, const char* what) {
  if (value < 0 || value >= static_cast<std::int64_t>(end)) {
    mismatch(std::string(what) + " below " + std::to_string(end), std::to_string(value));
  }
}

// Every index within its list, and no way back to a node passed before: so a walk ends at a leaf.
void check_trees(const Attributes& attrs) {
  const auto& modes = attrs.integers("modes");
  const auto& firsts = attrs.integers("firsts");
  const auto& seconds = attrs.integers("seconds");
  const auto& features = attrs.integers("features");
  const std::size_t nodes = modes.size();
  const std::size_t weights = attrs.numbers("weights").size();
  if (firsts.size() != nodes || seconds.size() != nodes || features.size() != nodes ||
      attrs.numbers("values").size() != nodes || attrs.integers("missing").size() != nodes) {
    mismatch("attributes of " + std::to_string(nodes) + " nodes", "lists of other lengths");
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    check_range(modes[i], kLeaf + 1, "a mode");
    if (modes[i] == kLeaf) {
      check_range(firsts[i], weights + 1, "a leaf's first weight");
      check_range(seconds[i], weights + 1, "a leaf's last weight");
      continue;
    }
    check_range(firsts[i], nodes, "a branch");
    check_range(seconds[i], nodes, "a branch");
    check_range(features[i], std::size_t{1} << 40, "a feature");
  }
  const std::int64_t targets = attrs.integer("targets");
  if (attrs.integers("weight_targets").size() != weights) {
    mismatch(std::to_string(weights) + " targets, one for each weight",
             std::to_string(attrs.integers("weight_targets").size()));
  }
  for (const std::int64_t target : attrs.integers("weight_targets")) {
    check_range(target, static_cast<std::size_t>(targets), "a target");
  }
  const std::size_t base = attrs.numbers("base").size();
  if (base != 0 && base != static_cast<std::size_t>(targets)) {
    mismatch(std::to_string(targets) + " base values", std::to_string(base));
  }
  enum : char { unseen, open, done };
  std::vector<char> state(nodes, unseen);
  std::vector<std::int64_t> path;
  for (const std::int64_t root : attrs.integers("roots")) {
    check_range(root, nodes, "a root");
    path.push_back(root);
    while (!path.empty()) {
      const auto node = static_cast<std::size_t>(path.back());
      if (state[node] != unseen || modes[node] == kLeaf) {
        state[node] = done;
        path.pop_back();
        continue;
      }
      state[node] = open;
      for (const std::int64_t next : {firsts[node], seconds[node]}) {
        const char there = state[static_cast<std::size_t>(next)];
        if (there == open) mismatch("trees", "a branch back to node " + std::to_string(next));
        if (there == unseen) path.push_back(next);
      }
    }
  }
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_rank(0, 2);
  check_trees(in.attrs());
  if (in.shape(0)) {
    const auto width = in.shape(0)->back().constant();
    const auto& features = in.attrs().integers("features");
    const auto& modes = in.attrs().integers("modes");
    for (std::size_t i = 0; width && i < features.size(); ++i) {
      if (modes[i] != kLeaf && features[i] >= *width) {
        mismatch("a feature below " + std::to_string(*width), std::to_string(features[i]));
      }
    }
  }
  const Dim rows = in.shape(0) ? in.shape(0)->front() : in.dynamic(0, 0, "rows");
  in.output(0, in.attrs().dtype("to"), SymShape{rows, Dim(in.attrs().integer("targets"))});
}

}  // namespace

const OpSchema schema_tree_ensemble{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
