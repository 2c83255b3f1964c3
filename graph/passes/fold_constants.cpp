#include <algorithm>

#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// Results of operators that only repeat their operand are better made where they are used.
constexpr std::int64_t kMaxRepeated = 64 << 10;

bool repeats(OpKind op) {
  return op == OpKind::broadcast || op == OpKind::tile || op == OpKind::constant_of ||
         op == OpKind::dequantize || op == OpKind::one_hot || op == OpKind::eye_like;
}

// A transpose of the last two axes that only products read becomes an attribute of theirs.
bool becomes_attribute(Rewriter& rw, const Node& node) {
  if (node.op != OpKind::transpose || !swaps_last_two(node.attrs.integers("perm"))) return false;
  const auto users = rw.users(node.output());
  return !users.empty() && std::all_of(users.begin(), users.end(), [&](NodeId user) {
    return rw.node(user).op == OpKind::matmul;
  });
}

// Weights that a product of integers, or of 4 bits, takes as they are.
bool stays_quantised(Rewriter& rw, const Node& node) {
  if (node.op != OpKind::dequantize) return false;
  const auto users = rw.users(node.output());
  return !users.empty() && std::all_of(users.begin(), users.end(), [&](NodeId id) {
    const Node& user = rw.node(id);
    const bool product =
        user.op == OpKind::matmul || (user.op == OpKind::conv && user.attrs.integer("group") == 1);
    if (!product) return false;
    return user.input(1) == node.output() &&
           (node.attrs.integer("block_size", 0) != 0 ||
            rw.producer(user.input(0), OpKind::dequantize) != nullptr);
  });
}

std::int64_t bytes_of(const Value& value) {
  if (!value.shape) return -1;
  std::int64_t count = 1;
  for (const Dim& d : *value.shape) {
    const auto n = d.constant();
    if (!n || __builtin_mul_overflow(count, *n, &count)) return -1;
  }
  if (value.dtype == DataType::string || is_container(value.dtype) ||
      count > (std::int64_t{1} << 40))
    return -1;
  return storage_bytes(value.dtype, count);
}

class Folder {
 public:
  Folder(Graph& graph, const PassOptions& options) : rw_(graph), options_(options) {}

  int run() {
    for (const NodeId id : rw_.order()) {
      if (!rw_.node(id).removed) fold(id);
    }
    return rw_.changes();
  }

 private:
  void fold(NodeId id) {
    const Node& node = rw_.node(id);
    if (!node.bodies.empty() || node.op == OpKind::dims) return;
    std::vector<Tensor> inputs;
    for (const ValueId input : node.inputs) {
      if (!input.valid()) {
        inputs.emplace_back();
      } else if (rw_.value(input).constant) {
        inputs.push_back(*rw_.value(input).constant);
      } else {
        return;
      }
    }
    if (view(id, inputs) || !options_.evaluator) return;
    if (options_.fusion && options_.quantised_products && stays_quantised(rw_, node)) return;
    const bool attributes = options_.fusion && !options_.disabled.contains("fuse_matmul");
    if (attributes && becomes_attribute(rw_, node)) return;
    std::int64_t added = 0;
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      const std::int64_t bytes = bytes_of(rw_.value(output));
      if (bytes < 0 || (repeats(node.op) && bytes > kMaxRepeated)) return;
      added += bytes;
    }
    // What only this node read is not kept.
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].defined() && rw_.single_use(node.inputs[i])) added -= inputs[i].bytes();
    }
    if (spent_ + added > options_.fold_budget) return;
    std::vector<Tensor> results = options_.evaluator(rw_.graph(), node, inputs);
    const std::vector<ValueId> outputs = node.outputs;
    if (results.size() < outputs.size()) return;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (!outputs[o].valid()) continue;
      const Value& value = rw_.value(outputs[o]);
      if (results[o].dtype() != value.dtype || bytes_of(value) != results[o].bytes()) return;
    }
    spent_ += std::max<std::int64_t>(added, 0);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o].valid() && !rw_.node(id).removed && rw_.uses(outputs[o]) > 0) {
        rw_.make_constant(outputs[o], std::move(results[o]));
      }
    }
    rw_.remove_if_unused(id);
  }

  // Other shapes of a constant share its memory.
  bool view(NodeId id, const std::vector<Tensor>& inputs) {
    const Node& node = rw_.node(id);
    if (node.op != OpKind::reshape || node.inputs.size() != 1) return false;
    Shape shape;
    for (const Dim& d : node.attrs.dims("shape")) {
      if (!d.is_constant()) return false;
      shape.push_back(*d.constant());
    }
    rw_.make_constant(node.output(), inputs[0].reshaped(std::move(shape)));
    rw_.remove_if_unused(id);
    return true;
  }

  Rewriter rw_;
  const PassOptions& options_;
  std::int64_t spent_ = 0;
};

}  // namespace

int fold_constants(Graph& graph, const PassOptions& options) {
  return Folder(graph, options).run();
}

}  // namespace concord::graph
