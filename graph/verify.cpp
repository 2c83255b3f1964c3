#include <algorithm>

#include "graph/error.h"
#include "graph/schema.h"

namespace concord::graph {
namespace {

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorKind::invalid, what,
              "this graph breaks an invariant; if a pass made it so, switch the pass off with "
              "--disable-pass");
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    defined_.assign(graph_.value_count(), false);
    check_sources();
    check_order();
    for (const ValueId id : graph_.outputs) {
      if (!in_range(id)) broken("graph '" + graph_.name + "' has an output that does not exist");
      if (!defined_[index(id)]) broken("output " + name(id) + " is computed by no node");
    }
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      check_value(ValueId{static_cast<std::int32_t>(i)});
    }
  }

 private:
  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }
  bool in_range(ValueId id) const { return id.valid() && index(id) < graph_.value_count(); }
  std::string name(ValueId id) const {
    const std::string& text = graph_.value(id).name;
    return "'" + (text.empty() ? "%" + std::to_string(id.index) : text) + "'";
  }

  void check_sources() {
    for (const ValueId id : graph_.inputs) {
      if (!in_range(id)) broken("graph '" + graph_.name + "' has an input that does not exist");
      if (defined_[index(id)]) broken("input " + name(id) + " is listed twice");
      if (graph_.value(id).producer.valid()) broken("input " + name(id) + " has a producer");
      defined_[index(id)] = true;
    }
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const Value& value = graph_.value(ValueId{static_cast<std::int32_t>(i)});
      if (!value.constant) continue;
      if (value.producer.valid()) {
        broken("constant " + name(ValueId{static_cast<std::int32_t>(i)}) + " has a producer");
      }
      defined_[i] = true;
    }
  }

  void check_order() {
    std::vector<bool> seen(graph_.node_count(), false);
    for (const NodeId id : graph_.order()) {
      if (!id.valid() || static_cast<std::size_t>(id.index) >= graph_.node_count()) {
        broken("the order names a node that does not exist");
      }
      const Node& node = graph_.node(id);
      if (node.removed) broken(describe(node) + " was removed but is still in the order");
      if (seen[static_cast<std::size_t>(id.index)])
        broken(describe(node) + " is twice in the order");
      seen[static_cast<std::size_t>(id.index)] = true;
      check_node(id, node);
    }
  }

  void check_node(NodeId id, const Node& node) {
    try {
      check_arity(node);
    } catch (const Error& e) {
      throw e.with_context(describe(node));
    }
    for (const ValueId input : node.inputs) {
      if (!input.valid()) continue;
      if (!in_range(input)) broken(describe(node) + " reads a value that does not exist");
      if (!defined_[index(input)]) {
        broken(describe(node) + " reads " + name(input) + ", which is not computed before it");
      }
    }
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      if (!in_range(output)) broken(describe(node) + " writes a value that does not exist");
      if (defined_[index(output)])
        broken(name(output) + " is computed twice, by " + describe(node));
      if (graph_.value(output).producer != id) {
        broken(name(output) + " does not know its producer, " + describe(node));
      }
      if (graph_.value(output).dtype == DataType::undefined) {
        broken("output " + name(output) + " of " + describe(node) + " has no type");
      }
      defined_[index(output)] = true;
    }
    if (node.sources.empty()) broken(describe(node) + " does not know what it was imported from");
    for (const NodeId source : node.sources) {
      if (!source.valid() || static_cast<std::size_t>(source.index) >= graph_.node_count()) {
        broken(describe(node) + " was imported from a node that does not exist");
      }
    }
    for (const Graph& body : node.bodies) {
      try {
        verify(body);
      } catch (const Error& e) {
        throw e.with_context("in a body of " + describe(node));
      }
    }
  }

  void check_value(ValueId id) {
    const Value& value = graph_.value(id);
    if (value.constant && value.shape) {
      const SymShape actual(value.constant->shape().begin(), value.constant->shape().end());
      if (value.constant->dtype() != value.dtype || actual != *value.shape) {
        broken("constant " + name(id) + " is not of the type and shape that it declares");
      }
    }
    if (!value.equals) return;
    if (!in_range(value.equals->imported)) {
      broken(name(id) + " equals an imported value that does not exist");
    }
    const Value& imported = graph_.value(value.equals->imported);
    if (imported.dtype != value.dtype) {
      broken(name(id) + " is said to equal " + name(value.equals->imported) + " of another type");
    }
    if (!imported.shape || !value.shape || value.equals->reshaped) return;
    SymShape expected = *imported.shape;
    if (!value.equals->perm.empty()) {
      const auto& perm = value.equals->perm;
      std::vector<std::int64_t> sorted = perm;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t k = 0; k < sorted.size(); ++k) {
        if (sorted[k] != static_cast<std::int64_t>(k) || perm.size() != imported.shape->size()) {
          broken(name(id) + " equals " + name(value.equals->imported) +
                 " by a list of axes that is no permutation");
        }
      }
      for (std::size_t k = 0; k < perm.size(); ++k) {
        expected[k] = (*imported.shape)[static_cast<std::size_t>(perm[k])];
      }
    }
    bool same = expected.size() == value.shape->size();
    for (std::size_t k = 0; same && k < expected.size(); ++k) {
      const auto a = expected[k].constant();
      const auto b = (*value.shape)[k].constant();
      same = !a || !b || *a == *b;
    }
    if (!same) {
      broken(name(id) + " of shape " + concord::to_string(*value.shape) + " is said to equal " +
             name(value.equals->imported) + " of shape " + concord::to_string(*imported.shape));
    }
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

void verify(const Graph& graph) {
  Verifier(graph).run();
}

}  // namespace concord::graph
