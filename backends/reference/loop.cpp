#include <limits>

#include "backends/reference/bodies.h"
#include "backends/reference/pieces.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// Operands: trip count, condition, carried…, captured…. The body takes iteration, condition,
// carried…, captured… and gives condition, carried…, scanned….
std::vector<OracleValue> run(const Call& call) {
  const graph::Graph& body = call.node.bodies.at(0);
  const auto carried = static_cast<std::size_t>(call.attrs().integer("carried"));
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (call.has(0)) {
    if (call.input(0).count() != 1) {
      throw Error(ErrorKind::invalid, "the trip count of a loop holds " +
                                          std::to_string(call.input(0).count()) + " elements");
    }
    trips = call.input(0).at_int(0);
  }
  bool running = !call.has(1) || is_true(call, 1);
  std::vector<OracleValue> state(call.inputs.begin() + 2, call.inputs.end());
  const std::size_t scans = body.outputs.size() - 1 - carried;
  std::vector<std::vector<OracleValue>> scanned(scans);
  for (std::int64_t i = 0; i < trips && running; ++i) {
    std::vector<OracleValue> inputs{from_tensor(Tensor::scalar<std::int64_t>(i)),
                                    from_tensor(Tensor::scalar<bool>(true))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<OracleValue> outputs = run_body(call, body, inputs);
    running = is_true(outputs[0], body.value(body.outputs[0]).name);
    for (std::size_t c = 0; c < carried; ++c) state[c] = std::move(outputs[1 + c]);
    for (std::size_t s = 0; s < scans; ++s) {
      scanned[s].push_back(std::move(outputs[1 + carried + s]));
    }
  }
  std::vector<OracleValue> results(state.begin(),
                                   state.begin() + static_cast<std::ptrdiff_t>(carried));
  for (std::size_t s = 0; s < scans; ++s) {
    results.push_back(scanned[s].empty() ? no_slices(call, body, body.outputs[1 + carried + s], 0)
                                         : stack(scanned[s], 0, false));
  }
  return results;
}

}  // namespace

const Kernel reference_loop{run};

}  // namespace concord::reference
