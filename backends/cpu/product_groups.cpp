#include "backends/cpu/product_groups.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/matmul_plan.h"

namespace concord::cpu {
namespace {

using graph::Node;
using graph::OpKind;

const ValueInfo& value(const ProgramLayout& layout, int number) {
  return layout.values[static_cast<std::size_t>(number)];
}

std::int64_t columns_of(const Node& node, const Tensor& weights) {
  const bool trans = node.attrs.integer("trans_b", 0) != 0;
  return weights.shape()[trans ? 0 : 1];
}

// x · w + bias with constant w [k, n] and bias [n], nothing else, read only as a view.
bool groupable(const graph::Graph& graph, const ProgramLayout& layout, const Unit& unit,
               const std::vector<int>& constant_readers) {
  const Node& node = graph.node(unit.node);
  if (node.op != OpKind::matmul || unit.outputs.size() != 1) return false;
  if (node.attrs.integer("trans_a", 0) != 0 || node.attrs.has("activation")) return false;
  if (node.attrs.number("alpha", 1.0) != 1.0 || node.has_input(3)) return false;
  const ValueInfo& x = value(layout, unit.inputs[0]);
  const ValueInfo& w = value(layout, unit.inputs[1]);
  const ValueInfo& y = value(layout, unit.outputs[0]);
  if (x.dtype != DataType::f32 || w.dtype != DataType::f32 || !w.constant) return false;
  if (w.constant->shape().size() != 2 || w.constant->count() == 0) return false;
  // A matrix that others read too (a tied embedding) keeps a packed copy that they can share.
  if (constant_readers[static_cast<std::size_t>(unit.inputs[1])] != 1) return false;
  if (node.has_input(2)) {
    const ValueInfo& bias = value(layout, unit.inputs[2]);
    if (!bias.constant || bias.constant->count() != columns_of(node, *w.constant)) return false;
    if (bias.constant->shape().empty() || bias.constant->shape().back() == 1) return false;
  }
  return y.output < 0 && y.views_only;
}

WeightMatrix matrix_of(const Node& node, const Tensor& tensor) {
  const bool trans = node.attrs.integer("trans_b", 0) != 0;
  const std::int64_t cols = tensor.shape()[1];
  WeightMatrix m;
  m.tensor = tensor;
  m.rows = trans ? cols : tensor.shape()[0];
  m.cols = trans ? tensor.shape()[0] : cols;
  m.row_stride = trans ? 1 : cols;
  m.col_stride = trans ? cols : 1;
  return m;
}

PlanFn prepare_group(Compiler& c, const ProgramLayout& layout, const std::vector<Unit>& members) {
  std::vector<WeightMatrix> matrices;
  auto bias = std::make_shared<std::vector<float>>();
  bool any_bias = false;
  std::vector<std::int64_t> columns;
  for (const Unit& unit : members) {
    const Node& node = c.graph().node(unit.node);
    matrices.push_back(matrix_of(node, *value(layout, unit.inputs[1]).constant));
    columns.push_back(matrices.back().cols);
    const std::size_t start = bias->size();
    bias->resize(start + static_cast<std::size_t>(columns.back()), 0.0f);
    if (!node.has_input(2)) continue;
    any_bias = true;
    const Tensor& own = *value(layout, unit.inputs[2]).constant;
    std::memcpy(bias->data() + start, c.constant_f32(own),
                static_cast<std::size_t>(own.count()) * sizeof(float));
  }
  auto weights = c.weights().pack(matrices, c.weight_storage(DataType::f32));
  c.keep(weights);
  c.keep(bias);
  const float* bias_data = any_bias ? bias->data() : nullptr;
  return [weights, bias_data, columns](Planner& p) {
    plan_side_by_side_product(p, weights, bias_data, columns);
  };
}

}  // namespace

void group_products(const graph::Graph& graph, ProgramLayout& layout) {
  std::vector<int> readers(layout.values.size(), 0);
  for (const Unit& unit : layout.units) {
    for (int input : unit.inputs) {
      if (input >= 0) ++readers[static_cast<std::size_t>(input)];
    }
  }
  // By the value that they multiply and its depth.
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < layout.units.size(); ++i) {
    if (groupable(graph, layout, layout.units[i], readers)) {
      groups[layout.units[i].inputs[0]].push_back(i);
    }
  }
  for (const auto& [x, indices] : groups) {
    if (indices.size() < 2) continue;
    std::vector<Unit> members;
    for (std::size_t i : indices) members.push_back(layout.units[i]);
    Unit& leader = layout.units[indices[0]];
    for (std::size_t i = 1; i < indices.size(); ++i) {
      Unit& follower = layout.units[indices[i]];
      leader.side_outputs.push_back(follower.outputs[0]);
      leader.inputs.insert(leader.inputs.end(), follower.inputs.begin() + 1, follower.inputs.end());
      follower.inputs.clear();
      follower.prepare = [](Compiler& c) -> PlanFn {
        const bool bf16 = c.weight_storage(DataType::f32) == Element::bf16;
        return [bf16](Planner& p) {
          p.kernel("with its group");
          p.precision({bf16 ? DataType::bf16 : DataType::f32, DataType::f32, DataType::f32, false});
        };
      };
    }
    leader.prepare = [&layout, members](Compiler& c) { return prepare_group(c, layout, members); };
  }
}

}  // namespace concord::cpu
