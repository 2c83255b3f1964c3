#include "graph/graph.h"

namespace concord::graph {
namespace {

class Printer {
 public:
  Printer(const Graph& graph, std::string indent) : graph_(graph), indent_(std::move(indent)) {}

  std::string run() {
    line("graph \"" + graph_.name + "\" {");
    for (const ValueId id : graph_.inputs) line("  input " + ref(id) + typed(id));
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const ValueId id{static_cast<std::int32_t>(i)};
      const Value& value = graph_.value(id);
      if (value.constant && used(id)) {
        line("  constant " + ref(id) + " = " + to_string(AttrValue(*value.constant)) +
             named(value.name));
      }
    }
    for (const NodeId id : graph_.order()) print(graph_.node(id));
    for (const ValueId id : graph_.outputs) line("  output " + ref(id) + typed(id));
    line("}");
    return std::move(text_);
  }

 private:
  void line(const std::string& s) { text_ += indent_ + s + "\n"; }
  static std::string ref(ValueId id) {
    return id.valid() ? "%" + std::to_string(id.index) : std::string("_");
  }
  static std::string named(const std::string& name) {
    return name.empty() ? std::string() : " \"" + name + "\"";
  }

  bool used(ValueId id) {
    if (used_.empty()) {
      used_.assign(graph_.value_count() + 1, false);
      for (const NodeId node : graph_.order()) {
        for (const ValueId input : graph_.node(node).inputs) {
          if (input.valid()) used_[static_cast<std::size_t>(input.index)] = true;
        }
      }
      for (const ValueId output : graph_.outputs) {
        if (output.valid()) used_[static_cast<std::size_t>(output.index)] = true;
      }
    }
    return used_[static_cast<std::size_t>(id.index)];
  }

  std::string typed(ValueId id) const {
    const Value& value = graph_.value(id);
    std::string text = named(value.name) + ": " + std::string(concord::to_string(value.dtype));
    text += value.shape ? concord::to_string(*value.shape) : std::string("[*]");
    if (value.contents && value.contents->size() <= 16 && !value.constant) {
      text += " = " + concord::to_string(*value.contents);
    }
    return text;
  }

  void print(const Node& node) {
    std::string text = "  ";
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      text += (i ? ", " : "") + ref(node.outputs[i]);
    }
    text += " = " + std::string(to_string(node.op)) + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      text += (i ? ", " : "") + ref(node.inputs[i]);
    }
    text += ")";
    std::string attrs;
    for (const auto& [name, value] : node.attrs) {
      attrs += (attrs.empty() ? "" : ", ") + name + "=" + to_string(value);
    }
    if (!attrs.empty()) text += " {" + attrs + "}";
    line(text + named(node.name));
    for (const ValueId id : node.outputs) {
      if (id.valid()) line("    " + ref(id) + typed(id));
    }
    for (const Graph& body : node.bodies) text_ += Printer(body, indent_ + "    ").run();
  }

  const Graph& graph_;
  std::string indent_;
  std::string text_;
  std::vector<bool> used_;
};

}  // namespace

std::string dump(const Graph& graph) {
  return Printer(graph, "").run();
}

}  // namespace concord::graph
