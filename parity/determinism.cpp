#include "parity/determinism.h"

#include <algorithm>
#include <cstring>

#include "backends/spec.h"
#include "graph/error.h"
#include "parity/bodies.h"
#include "parity/inputs.h"
#include "parity/toggles.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

std::optional<std::size_t> axis_of(const std::optional<SymShape>& shape,
                                   const std::string& symbol) {
  if (!shape) return std::nullopt;
  for (std::size_t axis = 0; axis < shape->size(); ++axis) {
    if ((*shape)[axis].symbol_name() == symbol) return axis;
  }
  return std::nullopt;
}

DeterminismCheck check_repeats(const Graph& optimised, Worker& worker,
                               const std::vector<WorkerStep>& steps, int repeats,
                               const WorkerFingerprint& first) {
  DeterminismCheck check;
  check.name = std::to_string(repeats) + " runs";
  check.runs = repeats;
  for (int i = 0; i < repeats; ++i) {
    const WorkerFingerprint again = worker.fingerprint();
    if (again == first) continue;
    ++check.differ;
    if (check.first_step.empty()) {
      check.first_step = first_that_differs(optimised, steps, first, again);
    }
  }
  check.same = check.differ == 0;
  return check;
}

DeterminismCheck check_threads(const Graph& optimised, const WorkerJob& job, int threads,
                               const std::vector<WorkerStep>& steps,
                               const std::vector<Tensor>& inputs, const WorkerFingerprint& first) {
  DeterminismCheck check;
  check.name = "threads=" + std::to_string(threads);
  try {
    WorkerJob other = job;
    other.spec = with_key(job.spec, "threads", std::to_string(threads));
    Worker worker(other);
    worker.run(inputs, false);
    const WorkerFingerprint there = worker.fingerprint();
    check.same = there == first;
    check.differ = check.same ? 0 : 1;
    if (!check.same) check.first_step = first_that_differs(optimised, steps, first, there);
  } catch (const Error& error) {
    check.note = error.what();
  }
  return check;
}

DeterminismCheck check_batch(const Graph& imported, Worker& worker,
                             const std::vector<Tensor>& inputs) {
  DeterminismCheck check;
  check.name = "another place in the batch";
  check.runs = 0;
  const std::string symbol = batch_symbol(imported);
  if (symbol.empty()) {
    check.note = "no symbolic axis of its inputs and outputs is the batch";
    return check;
  }
  Bindings dims;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& shape = imported.value(imported.inputs[i]).shape;
    if (shape) static_cast<void>(bind_shape(*shape, inputs[i].shape(), dims));
  }
  try {
    std::vector<Tensor> rows = inputs;
    if (dims[symbol] < 2) {
      constexpr std::int64_t batch = 3;
      dims[symbol] = batch;
      rows = generate_inputs(imported, choose_dims(imported, {{symbol, batch}}), 0);
      check.note = "generated inputs, " + symbol + "=" + std::to_string(batch);
    }
    std::vector<Tensor> moved;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      moved.push_back(rotated(rows[i], imported.value(imported.inputs[i]).shape, symbol));
    }
    const std::vector<Tensor> a = worker.run(rows, false).outputs;
    const std::vector<Tensor> b = worker.run(moved, false).outputs;
    check.runs = 1;
    for (std::size_t i = 0; i < imported.outputs.size() && i < a.size(); ++i) {
      const graph::Value& value = imported.value(imported.outputs[i]);
      if (!axis_of(value.shape, symbol)) continue;
      if (identical(rotated(a[i], value.shape, symbol), b[i])) continue;
      check.same = false;
      check.differ = 1;
      check.first_step = "output '" + value.name + "'";
      break;
    }
    worker.run(inputs, false);  // what comes after runs on these again
  } catch (const Error& error) {
    check.runs = 0;
    check.note = error.what();
  }
  return check;
}

}  // namespace

std::string first_that_differs(const Graph& optimised, const std::vector<WorkerStep>& steps,
                               const WorkerFingerprint& a, const WorkerFingerprint& b) {
  for (const WorkerStep& step : steps) {
    const Graph* body = find_body(optimised, step.path);
    if (body == nullptr) continue;
    const graph::Node& node = body->node(NodeId{step.node});
    for (const ValueId id : node.outputs) {
      const auto x = a.taps.find({step.path, id.index});
      const auto y = b.taps.find({step.path, id.index});
      if (x != a.taps.end() && y != b.taps.end() && x->second != y->second) {
        return std::string(to_string(node.op)) + " '" + node.name + "'";
      }
    }
  }
  return "";
}

std::string batch_symbol(const Graph& graph) {
  std::vector<std::string> candidates;
  for (const ValueId id : graph.inputs) {
    const auto& shape = graph.value(id).shape;
    if (!shape) continue;
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      const auto name = (*shape)[axis].symbol_name();
      if (!name) continue;
      const bool by_name = name->find("batch") != std::string::npos;
      const bool first_of_all =
          std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId other) {
            const auto& there = graph.value(other).shape;
            return there && !there->empty() && there->front().symbol_name() == name;
          });
      const bool in_output = std::any_of(
          graph.outputs.begin(), graph.outputs.end(),
          [&](ValueId output) { return axis_of(graph.value(output).shape, *name).has_value(); });
      if (in_output && (by_name || first_of_all)) return *name;
    }
  }
  return "";
}

Tensor rotated(const Tensor& tensor, const std::optional<SymShape>& shape,
               const std::string& symbol) {
  const auto axis = axis_of(shape, symbol);
  if (!axis || tensor.dtype() == DataType::string || is_sub_byte(tensor.dtype())) return tensor;
  const std::int64_t extent = tensor.shape()[*axis];
  if (extent < 2) return tensor;
  const std::int64_t run =
      contiguous_strides(tensor.shape())[*axis] * (bits(tensor.dtype()) / 8);  // bytes of one row
  Tensor result(tensor.dtype(), tensor.shape());
  const std::byte* from = tensor.in_place();
  std::byte* to = result.mutable_data();
  for (std::int64_t row = 0; row < tensor.bytes() / run; ++row) {
    const std::int64_t place = row % extent;
    const std::int64_t target = row - place + (place + 1) % extent;
    std::memcpy(to + target * run, from + row * run, static_cast<std::size_t>(run));
  }
  return result;
}

std::vector<DeterminismCheck> check_determinism(const Graph& imported, const Graph& optimised,
                                                const WorkerJob& job, Worker& worker,
                                                const std::vector<WorkerStep>& steps,
                                                const std::vector<Tensor>& inputs, int repeats) {
  std::vector<DeterminismCheck> checks;
  const WorkerFingerprint first = worker.fingerprint();
  checks.push_back(check_repeats(optimised, worker, steps, repeats, first));
  if (parse_spec(job.spec).backend == "cpu") {
    const int all = this_machine().cores;
    for (const int threads : {1, std::max(2, all)}) {
      checks.push_back(check_threads(optimised, job, threads, steps, inputs, first));
    }
  }
  checks.push_back(check_batch(imported, worker, inputs));
  return checks;
}

}  // namespace concord::parity
