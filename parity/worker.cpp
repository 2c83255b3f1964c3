#include "parity/worker.h"

#include <nlohmann/json.hpp>

#include "graph/error.h"
#include "parity/spool.h"
#include "parity/worker_json.h"
#include "parity/worker_process.h"

namespace concord::parity {

using nlohmann::json;

struct Worker::State {
  explicit State(const WorkerJob& job) : process(job.spec, job.timeout_s) {}
  WorkerProcess process;
  WorkerReady ready;
  bool started = false;
};

Worker::Worker(const WorkerJob& job) : state_(std::make_unique<State>(job)) {
  state_->process.send(
      {{"command", "start"}, {"job", to_json(job)}, {"spool", state_->process.spool().string()}});
}

Worker::~Worker() = default;

Worker::Worker(Worker&&) noexcept = default;

const WorkerReady& Worker::ready() {
  if (!state_->started) {
    state_->ready = ready_from_json(state_->process.receive());
    state_->started = true;
  }
  return state_->ready;
}

WorkerRun Worker::run(const std::vector<Tensor>& inputs, bool taps) {
  ready();
  json list = json::array();
  SpoolWriter writer(state_->process.spool() / kInputsFile);
  for (const Tensor& input : inputs) list.push_back(writer.add(input));
  writer.close();
  const json answer =
      state_->process.ask({{"command", "run"}, {"inputs", std::move(list)}, {"taps", taps}});
  WorkerRun result;
  result.plan_ms = answer.at("plan_ms").get<double>();
  result.run_ms = answer.at("run_ms").get<double>();
  const SpoolReader outputs(state_->process.spool() / kOutputsFile);
  for (const json& item : answer.at("outputs")) result.outputs.push_back(outputs.get(item));
  if (taps) {
    const SpoolReader reader(state_->process.spool() / kTapsFile);
    for (const json& item : answer.at("taps")) {
      result.taps[{item.at("path").get<BodyPath>(), item.at("value").get<int>()}] =
          reader.get(item);
    }
    std::filesystem::remove(state_->process.spool() / kTapsFile);
  }
  std::filesystem::remove(state_->process.spool() / kOutputsFile);
  return result;
}

std::vector<double> Worker::burst(double seconds, int least, double warmup_s) {
  ready();
  const json answer = state_->process.ask(
      {{"command", "burst"}, {"seconds", seconds}, {"least", least}, {"warmup", warmup_s}});
  return answer.at("times").get<std::vector<double>>();
}

WorkerProfile Worker::profile(double seconds) {
  ready();
  WorkerProfile result;
  const json answer = state_->process.ask({{"command", "profile"}, {"seconds", seconds}});
  for (const json& item : answer.at("steps")) result.steps.push_back(step_from_json(item));
  result.run_ms = answer.at("run_ms").get<double>();
  result.transfer_ms = answer.at("transfer_ms").get<double>();
  return result;
}

WorkerMemory Worker::memory() {
  ready();
  return memory_from_json(state_->process.ask({{"command", "memory"}}));
}

std::string Worker::describe() {
  ready();
  return state_->process.ask({{"command", "describe"}}).at("text").get<std::string>();
}

}  // namespace concord::parity
