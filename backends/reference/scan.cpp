#include "backends/reference/bodies.h"
#include "backends/reference/pieces.h"
#include "graph/error.h"
#include "graph/geometry.h"

namespace concord::reference {
namespace {

// Operands: state…, scanned…, captured…; the body takes the same, one slice of each scanned one,
// and gives state…, slices of the outputs…. axes and directions: of the scanned operands, then of
// the scanned outputs.
std::vector<OracleValue> run(const Call& call) {
  const graph::Graph& body = call.node.bodies.at(0);
  const auto states = static_cast<std::size_t>(call.attrs().integer("states"));
  const auto scans = static_cast<std::size_t>(call.attrs().integer("scans"));
  const std::size_t slices = body.outputs.size() - states;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> directions;
  if (call.attrs().has("axes")) axes = call.attrs().integers("axes");
  if (call.attrs().has("directions")) directions = call.attrs().integers("directions");
  axes.resize(scans + slices, 0);
  directions.resize(scans + slices, 0);

  std::int64_t length = -1;
  for (std::size_t s = 0; s < scans; ++s) {
    axes[s] = graph::checked_axis(axes[s], call.input(states + s).rank());
    const std::int64_t extent = call.extent(states + s, static_cast<std::size_t>(axes[s]));
    if (length >= 0 && extent != length) {
      throw Error(ErrorKind::invalid, "scanned operands of " + std::to_string(length) + " and " +
                                          std::to_string(extent) + " slices");
    }
    length = extent;
  }
  std::vector<OracleValue> state(call.inputs.begin(),
                                 call.inputs.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<OracleValue>> scanned(slices);
  for (std::int64_t i = 0; i < length; ++i) {
    std::vector<OracleValue> inputs = state;
    for (std::size_t s = 0; s < scans; ++s) {
      inputs.push_back(take(call.inputs[states + s], static_cast<std::size_t>(axes[s]),
                            directions[s] != 0 ? length - 1 - i : i));
    }
    inputs.insert(inputs.end(), call.inputs.begin() + static_cast<std::ptrdiff_t>(states + scans),
                  call.inputs.end());
    std::vector<OracleValue> outputs = run_body(call, body, inputs);
    for (std::size_t s = 0; s < states; ++s) state[s] = std::move(outputs[s]);
    for (std::size_t s = 0; s < slices; ++s) scanned[s].push_back(std::move(outputs[states + s]));
  }
  std::vector<OracleValue> results = std::move(state);
  for (std::size_t s = 0; s < slices; ++s) {
    const std::int64_t wanted = axes[scans + s];
    if (scanned[s].empty()) {
      results.push_back(no_slices(call, body, body.outputs[states + s],
                                  static_cast<std::size_t>(std::max<std::int64_t>(0, wanted))));
      continue;
    }
    const std::int64_t axis = graph::checked_axis(wanted, scanned[s][0].value.rank() + 1);
    results.push_back(
        stack(scanned[s], static_cast<std::size_t>(axis), directions[scans + s] != 0));
  }
  return results;
}

}  // namespace

const Kernel reference_scan{run};

}  // namespace concord::reference
