#include "importer/node_order.h"

#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "graph/error.h"
#include "importer/onnx_proto.h"
#include "importer/text.h"

namespace concord::importer {

const std::vector<std::string>& FreeNames::of(const onnx::GraphProto& body) {
  if (const auto it = found_.find(&body); it != found_.end()) return it->second;
  std::unordered_set<std::string> defined;
  for (const auto& input : body.input()) defined.insert(input.name());
  for (const auto& tensor : body.initializer()) defined.insert(tensor.name());
  for (const auto& tensor : body.sparse_initializer()) defined.insert(tensor.values().name());
  for (const auto& node : body.node()) defined.insert(node.output().begin(), node.output().end());
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto use = [&](const std::string& name) {
    if (!name.empty() && !defined.contains(name) && seen.insert(name).second) {
      names.push_back(name);
    }
  };
  for (const auto& node : body.node()) {
    for (const std::string& name : read_by(node)) use(name);
  }
  for (const auto& output : body.output()) use(output.name());
  return found_.emplace(&body, std::move(names)).first->second;
}

std::vector<std::string> FreeNames::read_by(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const std::string& name : node.input()) {
    if (!name.empty()) names.push_back(name);
  }
  const auto add = [&](const onnx::GraphProto& body) {
    const std::vector<std::string>& inner = of(body);
    names.insert(names.end(), inner.begin(), inner.end());
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add(attribute.g());
    for (const auto& body : attribute.graphs()) add(body);
  }
  return names;
}

std::string describe(const onnx::NodeProto& node) {
  const std::string op = operator_name(node.domain(), node.op_type());
  if (!node.name().empty()) return "node " + quote(node.name()) + " (" + op + ")";
  for (const std::string& output : node.output()) {
    if (!output.empty()) return "the " + op + " node that makes " + quote(output);
  }
  return "a node (" + op + ")";
}

NodeOrder order_nodes(const std::vector<const onnx::NodeProto*>& nodes,
                      const std::function<bool(const std::string&)>& is_known, FreeNames& free) {
  std::unordered_map<std::string, std::size_t> producer;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i]->output()) {
      if (name.empty()) continue;
      const auto [it, is_new] = producer.emplace(name, i);
      if (!is_new) {
        throw Error(ErrorKind::invalid,
                    quote(name) + " is defined twice, by " + describe(*nodes[it->second]) +
                        " and by " + describe(*nodes[i]),
                    "a model defines each value once: export it again");
      }
    }
  }
  NodeOrder order;
  std::vector<std::size_t> missing(nodes.size(), 0);
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : free.read_by(*nodes[i])) {
      const auto it = producer.find(name);
      if (it == producer.end()) {
        if (is_known(name)) continue;
        throw Error(ErrorKind::invalid,
                    describe(*nodes[i]) + " reads " + quote(name) +
                        ", which no input, initialiser or node defines",
                    "the model is incomplete: export it again");
      }
      ++missing[i];
      readers[it->second].push_back(i);
      if (it->second >= i) order.was_sorted = false;
    }
  }
  if (order.was_sorted) {
    order.nodes = nodes;
    return order;
  }
  // Always the earliest node that is ready.
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.nodes.push_back(nodes[i]);
    for (const std::size_t reader : readers[i]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  if (order.nodes.size() == nodes.size()) return order;
  // Walk back from a node that never became ready; the way must come back to where it has been.
  std::size_t at = 0;
  while (missing[at] == 0) ++at;
  std::vector<bool> visited(nodes.size(), false);
  while (!visited[at]) {
    visited[at] = true;
    for (const std::string& name : free.read_by(*nodes[at])) {
      const auto it = producer.find(name);
      if (it != producer.end() && missing[it->second] != 0) {
        at = it->second;
        break;
      }
    }
  }
  throw Error(ErrorKind::invalid, describe(*nodes[at]) + " is on a cycle: it needs its own result",
              "a model's nodes may not depend on their own results: export it again");
}

}  // namespace concord::importer
