#include "tools/concord/profile.h"

#include <nlohmann/json.hpp>

namespace concord::tools {
namespace {

const graph::Graph& body_of(const graph::Graph& graph,
                            const std::vector<std::pair<int, int>>& path) {
  const graph::Graph* current = &graph;
  for (const auto& [node, which] : path) {
    current = &current->node(graph::NodeId{node}).bodies.at(static_cast<std::size_t>(which));
  }
  return *current;
}

}  // namespace

std::string chrome_trace(const Session& session, const std::vector<SessionStep>& steps) {
  nlohmann::json events = nlohmann::json::array();
  double at_us = 0;
  for (const SessionStep& step : steps) {
    const graph::Node& node = body_of(session.optimised(), step.path).node(step.info.node);
    const double us = step.ms * 1e3;
    events.push_back({{"name", std::string(graph::to_string(node.op))},
                      {"cat", step.backend},
                      {"ph", "X"},
                      {"ts", at_us},
                      {"dur", us},
                      {"pid", 1},
                      {"tid", 1},
                      {"args",
                       {{"node", node.name},
                        {"kernel", step.info.kernel},
                        {"flops", step.info.flops},
                        {"bytes", step.info.bytes}}}});
    at_us += us;
  }
  return nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

}  // namespace concord::tools
