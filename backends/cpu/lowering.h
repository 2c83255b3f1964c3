#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace concord::cpu {

class Compiler;
class Planner;

// Decides, for one set of extents, how a node is carried out: places its outputs and emits actions.
// Called under the program's lock, cheap: a plan calls it once per node.
using PlanFn = std::function<void(Planner&)>;

// How one core operator runs on the CPU. Each ops/<name>.cpp defines `cpu_<name>`; what does not
// run here is listed with its reason in unsupported.cpp.
//
// Three times nest: prepare runs once per program (packs weights, reads attributes) and returns the
// PlanFn; that runs once per set of extents; the actions which it emits run once per run.
struct Lowering {
  std::optional<std::string> (*why_unsupported)(const graph::Graph& graph, const graph::Node& node);
  PlanFn (*prepare)(Compiler& compiler);
  // Inputs (bit i: input i) that are read through any strides, so that a transpose or a slice
  // before needs no memory of its own.
  std::uint32_t view_inputs = 0;
  // Its output may be a view of its first input, so that input may be one if the output may.
  bool passes_views = false;
};

constexpr std::uint32_t kAllInputs = ~std::uint32_t{0};

#define CONCORD_OP(name) extern const Lowering cpu_##name;
#include "graph/ops.def"
#undef CONCORD_OP

const Lowering& lowering(graph::OpKind op);

}  // namespace concord::cpu
