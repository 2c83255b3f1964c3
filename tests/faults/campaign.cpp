#include "tests/faults/campaign.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "backends/reference/budget.h"
#include "backends/session.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/examine.h"
#include "parity/inputs.h"
#include "parity/judge.h"
#include "parity/minimise.h"
#include "parity/oracle_pass.h"
#include "parity/step_oracle.h"
#include "tests/faults/faulty_backend.h"

namespace concord::faults {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using parity::StepReport;
using parity::WorkerStep;

// A fault counts from here on.
constexpr double kCounts = 10;

std::vector<Tensor> ordered(const Graph& graph, const std::map<std::string, Tensor>& named) {
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph.inputs) inputs.push_back(named.at(graph.value(id).name));
  return inputs;
}

// One model with its run without a fault.
class Model {
 public:
  explicit Model(const std::filesystem::path& folder)
      : name_(folder.filename().string()), folder_(folder) {
    imported_ = importer::load(folder).graph;
    inputs_ = ordered(
        *imported_, importer::read_data_set(importer::data_sets(folder).at(0), *imported_).inputs);
    optimised_ = optimise_for(imported_, parse_spec("cpu"), {});
    oracle_ = std::make_unique<parity::OraclePass>(imported_, inputs_);
    parity::Worker worker(job("cpu"));
    run_ = worker.run(inputs_, true);
    steps_ = worker.steps(0);
    step_oracle_ = std::make_unique<parity::StepOracle>(*optimised_, run_.taps, inputs_);
  }

  parity::WorkerJob job(const std::string& spec) const {
    parity::WorkerJob job;
    job.model = folder_;
    job.spec = spec;
    job.timeout_s = 120;
    return job;
  }
  const std::string& name() const { return name_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<WorkerStep>& steps() const { return steps_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  std::shared_ptr<const Graph> imported() const { return imported_; }

  std::string output_name(const WorkerStep& step) const {
    return optimised_->value(step_oracle_->node(step).output()).name;
  }
  // A step of the model's own graph that a fault can be put into: the backend's, found by its
  // output's name.
  std::optional<Site> site(const WorkerStep& step) const {
    if (!step.path.empty() || step.backend != "cpu") return std::nullopt;
    const Node& node = step_oracle_->node(step);
    if (!node.output().valid()) return std::nullopt;
    const auto found = find_node(
        *optimised_, {"", std::string(graph::to_string(node.op)), output_name(step), 0, ""});
    if (output_name(step).empty() || !found || found->index != step.node) return std::nullopt;
    auto operands = step_oracle_->operands(step);
    if (!operands || operands->empty() || !operands->front().defined()) return std::nullopt;
    return Site{*optimised_, node, std::move(*operands), step_oracle_->results(step)};
  }

  // By how many budgets the fault moves its step's float64 result.
  double budgets(const WorkerStep& step, const Fault& fault) const {
    const auto here = site(step);
    const auto honest = step_oracle_->evaluate(step, here->operands);
    if (!honest) return 0;
    const std::vector<Tensor> faulty =
        faulty_results(*here, fault, step_oracle_->bindings(), step.precision);
    double most = 0;
    for (std::size_t i = 0; i < faulty.size() && i < honest->size(); ++i) {
      const reference::OracleValue& y = (*honest)[i];
      if (!faulty[i].defined() || faulty[i].shape() != y.value.shape()) continue;
      for (std::int64_t e = 0; e < faulty[i].count(); ++e) {
        const double want = y.value.at_double(e);
        const double got = faulty[i].at_double(e);
        if (got == want || (std::isnan(got) && std::isnan(want))) continue;
        const double sigma = y.sigma.defined() ? y.sigma.at_double(e) : 0;
        const double budget =
            is_float(faulty[i].dtype()) ? reference::budget(want, sigma, step.precision.store) : 0;
        const double ratio = std::abs(got - want) / budget;
        most = std::isnan(ratio) ? INFINITY : std::max(most, ratio);
      }
    }
    return most;
  }

  struct Judged {
    std::vector<StepReport> steps;
    std::vector<parity::OutputReport> outputs;
  };
  Judged judge(parity::Worker& worker) {
    const parity::WorkerRun run = worker.run(inputs_, true);
    const std::vector<WorkerStep> steps = worker.steps(0);
    Judged judged;
    judged.steps = judge_steps(*imported_, *optimised_, steps, run.taps, inputs_);
    const std::vector<double>& noise = oracle_->noise(*optimised_, steps);
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
      const graph::Value& value = imported_->value(imported_->outputs[i]);
      judged.outputs.push_back(parity::judge_output(value.name, run.outputs[i], value.dtype,
                                                    oracle_->outputs()[i], noise[i], {}));
    }
    return judged;
  }
  std::string output_of(const StepReport& step) const {
    const Node& node = optimised_->node(NodeId{step.node});
    return node.output().valid() ? optimised_->value(node.output()).name : "";
  }
  const StepReport* first_that_differs(const parity::WorkerFingerprint& a,
                                       const parity::WorkerFingerprint& b,
                                       const std::vector<StepReport>& steps) const {
    for (const StepReport& step : steps) {
      for (const graph::ValueId id : optimised_->node(NodeId{step.node}).outputs) {
        const auto x = a.taps.find({{}, id.index});
        const auto y = b.taps.find({{}, id.index});
        if (x != a.taps.end() && y != b.taps.end() && x->second != y->second) return &step;
      }
    }
    return nullptr;
  }

 private:
  std::string name_;
  std::filesystem::path folder_;
  std::shared_ptr<const Graph> imported_;
  std::shared_ptr<const Graph> optimised_;
  std::vector<Tensor> inputs_;
  std::unique_ptr<parity::OraclePass> oracle_;
  parity::WorkerRun run_;
  std::vector<WorkerStep> steps_;
  std::unique_ptr<parity::StepOracle> step_oracle_;
};

// A folder for fault files that goes with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "faults-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::failed, "no temporary folder");
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

struct Place {
  Draw draw;
  WorkerStep step;
};

// Steps drawn without replacement for every kind.
std::vector<Place> draw_places(const Model& model, const CampaignOptions& options,
                               std::uint64_t seed) {
  std::vector<Place> places;
  std::uint64_t number = 0;
  for (const FaultKind& kind : all_kinds()) {
    std::vector<const WorkerStep*> fit;
    for (const WorkerStep& step : model.steps()) {
      const auto site = model.site(step);
      if (site && kind.applies(*site)) fit.push_back(&step);
    }
    for (int n = 0; n < options.places && !fit.empty(); ++n) {
      const std::uint64_t random = hash(seed, ++number);
      const auto at = static_cast<std::ptrdiff_t>(random % fit.size());
      Place place;
      place.step = *fit[static_cast<std::size_t>(at)];
      fit.erase(fit.begin() + at);
      const auto site = model.site(place.step);
      place.draw.model = model.name();
      place.draw.step = site->node.name;
      place.draw.fault = {kind.name, std::string(graph::to_string(site->node.op)),
                          model.output_name(place.step), hash(random, 1), "cpu"};
      places.push_back(std::move(place));
    }
  }
  return places;
}

void find_race(Model& model, parity::Worker& worker, const CampaignOptions& options, Draw& draw) {
  const Model::Judged judged = model.judge(worker);
  const parity::WorkerFingerprint first = worker.fingerprint();
  for (int i = 1; i < options.repeat; ++i) {
    const parity::WorkerFingerprint again = worker.fingerprint();
    const StepReport* differs = model.first_that_differs(first, again, judged.steps);
    if (differs == nullptr) continue;
    draw.detected = true;
    draw.reported = "differs between runs: " + differs->op + " '" + differs->name + "'";
    draw.located = model.output_of(*differs) == draw.fault.output;
    return;
  }
}

void find_fault(Model& model, parity::Worker& worker, Draw& draw) {
  const Model::Judged judged = model.judge(worker);
  if (const StepReport* fault = parity::first_fault(judged.steps)) {
    draw.detected = true;
    draw.reported =
        std::string(to_string(fault->verdict)) + ": " + fault->op + " '" + fault->name + "'";
    draw.located = model.output_of(*fault) == draw.fault.output;
    return;
  }
  for (const parity::OutputReport& output : judged.outputs) {
    if (output.verdict == parity::Verdict::agrees) continue;
    draw.detected = true;
    draw.reported = "output " + output.name + " " + std::string(to_string(output.verdict));
  }
}

// Whether a spec shows a fault in a minimised model, and at which value ("" if none).
std::string fault_of_part(const std::filesystem::path& folder, const std::string& spec,
                          int& steps) {
  const auto imported = importer::load(folder).graph;
  const std::vector<Tensor> inputs =
      ordered(*imported, importer::read_data_set(folder / "test_data_set_0", *imported).inputs);
  parity::OraclePass oracle(imported, inputs);
  parity::WorkerJob job;
  job.model = folder;
  job.spec = spec;
  const parity::Examination examination = parity::examine(imported, job, oracle, false);
  steps = static_cast<int>(examination.worker_steps.size());
  if (examination.failed) return "failed";
  const StepReport* fault = examination.fault();
  if (fault == nullptr) return "";
  const Node& node = examination.optimised->node(NodeId{fault->node});
  return examination.optimised->value(node.output()).name;
}

void minimise_draw(Model& model, const std::string& spec, const std::filesystem::path& folder,
                   const CampaignOptions& options, Draw& draw) {
  parity::OraclePass oracle(model.imported(), model.inputs());
  const parity::WorkerJob job = model.job(spec);
  const parity::Examination failure = parity::examine(model.imported(), job, oracle, false);
  parity::MinimiseOptions minimising;
  minimising.folder = folder;
  minimising.toggles = false;
  std::filesystem::remove_all(folder);
  const parity::MinimalReport minimal =
      parity::minimise(model.imported(), job, model.inputs(), failure, {}, minimising);
  draw.minimised = true;
  if (!minimal.error.empty()) {
    options.log("  not minimised: " + draw.fault.kind + " at '" + draw.step +
                "': " + minimal.error);
    return;
  }
  int honest_steps = 0;
  draw.keeps_cause = fault_of_part(folder, spec, draw.minimal_steps) == draw.fault.output &&
                     fault_of_part(folder, "cpu", honest_steps).empty();
  if (!draw.keeps_cause || draw.minimal_steps > 3) {
    options.log("  minimised " + draw.fault.kind + " at " + draw.fault.op + " '" + draw.step +
                "': " + std::to_string(minimal.nodes) + " nodes, " +
                std::to_string(draw.minimal_steps) + " steps, " +
                (draw.keeps_cause ? "the cause kept" : "the cause lost"));
  }
}

Honest run_honest(const std::filesystem::path& folder, const CampaignOptions& options) {
  Honest honest;
  honest.model = folder.filename().string();
  const auto imported = importer::load(folder).graph;
  const auto optimised = optimise_for(imported, parse_spec("cpu"), {});
  parity::WorkerJob job;
  job.model = folder;
  job.spec = "cpu";
  parity::Worker worker(job);
  const auto given = ordered(
      *imported, importer::read_data_set(importer::data_sets(folder).at(0), *imported).inputs);
  Bindings dims;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& shape = imported->value(imported->inputs[i]).shape;
    if (shape) static_cast<void>(bind_shape(*shape, given[i].shape(), dims));
  }
  for (int n = 0; n < options.honest; ++n) {
    const std::vector<Tensor> inputs =
        n == 0 ? given
               : parity::generate_inputs(*imported, dims,
                                         options.seed + static_cast<std::uint64_t>(n));
    parity::OraclePass oracle(imported, inputs);
    const parity::WorkerRun run = worker.run(inputs, true);
    const std::vector<WorkerStep> steps = worker.steps(0);
    ++honest.runs;
    for (const StepReport& step : judge_steps(*imported, *optimised, steps, run.taps, inputs)) {
      if (!step.judged) continue;
      ++honest.steps;
      if (step.verdict > parity::StepVerdict::branched) {
        ++honest.alarms;
        options.log("  alarm without a fault: " + honest.model + " " + step.op + " '" + step.name +
                    "' " + std::to_string(step.worst_budget));
      }
    }
    const std::vector<double>& noise = oracle.noise(*optimised, steps);
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
      const graph::Value& value = imported->value(imported->outputs[i]);
      const auto report = parity::judge_output(value.name, run.outputs[i], value.dtype,
                                               oracle.outputs()[i], noise[i], {});
      ++honest.outputs;
      honest.output_alarms += report.verdict == parity::Verdict::agrees ? 0 : 1;
    }
  }
  return honest;
}

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options) {
  CampaignResult result;
  const Scratch scratch;
  options.log("seed " + std::to_string(options.seed));
  for (std::size_t m = 0; m < options.models.size(); ++m) {
    Model model(options.models[m]);
    std::vector<Place> places = draw_places(model, options, hash(options.seed, m));
    for (Place& place : places) {
      place.draw.budgets = model.budgets(place.step, place.draw.fault);
      place.draw.counts = place.draw.budgets > kCounts;
    }
    options.log(model.name() + ": " + std::to_string(places.size()) + " draws");
    for (Place& place : places) {
      Draw& draw = place.draw;
      const FaultKind& kind = kind_of(draw.fault);
      if (draw.counts || kind.is_control) {
        const auto file = scratch.folder() / "fault.json";
        write_fault(file, draw.fault);
        const std::string spec = "faulty:device=" + file.string();
        parity::Worker worker(model.job(spec));
        if (kind.is_race) {
          find_race(model, worker, options, draw);
        } else {
          find_fault(model, worker, draw);
          if (options.minimise && draw.located && !kind.is_control) {
            minimise_draw(model, spec, scratch.folder() / "part", options, draw);
          }
        }
      }
      if (draw.counts && !draw.located) {
        options.log("  not located: " + draw.fault.kind + " at " + draw.fault.op + " '" +
                    draw.step + "' (" + std::to_string(draw.budgets) +
                    " budgets): " + (draw.detected ? draw.reported : "nothing reported"));
      }
      result.draws.push_back(draw);
    }
    result.honest.push_back(run_honest(options.models[m], options));
  }
  return result;
}

}  // namespace concord::faults
