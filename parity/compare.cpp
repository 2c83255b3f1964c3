#include "parity/compare.h"

#include <algorithm>

#include "backends/ranks.h"
#include "backends/session.h"
#include "parity/decode.h"
#include "parity/determinism.h"
#include "parity/examine.h"
#include "parity/minimise.h"
#include "parity/oracle_pass.h"
#include "parity/toggles.h"

namespace concord::parity {
namespace {

using graph::Graph;

// A spec with its process, through all cases.
struct Participant {
  BackendSpec spec;
  std::unique_ptr<Worker> worker;
  std::shared_ptr<const Graph> optimised;
  std::optional<Error> failed;
  std::vector<Tensor> outputs;  // of the case at hand
};

class Comparison {
 public:
  Comparison(const std::shared_ptr<const Graph>& imported, const WorkerJob& job,
             const CompareOptions& options)
      : imported_(imported), job_(job), options_(options) {
    for (const BackendSpec& spec : options.specs) participants_.push_back(start(spec));
    if (options.skip) {
      std::erase_if(participants_, [&options](Participant& participant) {
        try {
          participant.worker->ready();
          return false;
        } catch (const Error& error) {
          options.skip(participant.spec.text + ": " + error.what());
          return true;
        }
      });
    }
    if (options.reference) reference_ = start(*options.reference);
  }

  CaseReport compare(const CompareCase& one) {
    CaseReport report;
    report.label = one.label;
    report.data = one.data;
    report.dims = one.dims;
    report.reference = options_.reference ? options_.reference->text : "float64 oracle";
    OraclePass oracle(imported_, one.inputs,
                      [this](double fraction) { progress("float64 oracle", fraction); });
    oracle.allow([this](const std::string& output) { return tolerance_of(output); });
    const std::vector<Tensor> wanted =
        reference_ ? reference_->worker->run(one.inputs, false).outputs : oracle.outputs();
    std::vector<Answers> answers;
    if (!one.expected.empty()) {
      report.participants.push_back(expected(one, oracle, wanted, answers));
    }
    std::vector<std::size_t> alive;
    for (Participant& participant : participants_) {
      progress(participant.spec.text, 0);
      report.participants.push_back(run(participant, one, oracle, wanted));
      if (!report.participants.back().performance) continue;
      alive.push_back(report.participants.size() - 1);
      answers.push_back(answers_of(report.participants.back(), std::move(participant.outputs)));
    }
    if (answers.size() > 1) report.agreement = agreement_of(answers);
    if (options_.decode > 0) decode_all(one, report, alive);
    for (const std::size_t index : alive) {
      if (!has_speed(report.participants[index].device)) {
        report.participants[index].performance.reset();
      }
    }
    std::erase_if(alive, [&](std::size_t i) { return !report.participants[i].performance; });
    if (options_.measure) measure_all(one, report, alive);
    return report;
  }

 private:
  Participant start(const BackendSpec& spec) const {
    Participant participant;
    participant.spec = spec;
    WorkerJob job = job_;
    job.spec = spec.text;
    participant.worker = std::make_unique<Worker>(job);
    return participant;
  }

  void progress(const std::string& what, double fraction) const {
    if (options_.progress) options_.progress(what, fraction);
  }

  std::optional<Tolerance> tolerance_of(const std::string& output) const {
    const auto it = options_.tolerances.find(output);
    return it != options_.tolerances.end() ? std::optional(it->second) : options_.tolerance;
  }

  void judge_outputs(const std::vector<Tensor>& outputs, const std::vector<Tensor>& wanted,
                     const std::vector<double>& noise, ParticipantReport& report) const {
    for (std::size_t i = 0; i < imported_->outputs.size(); ++i) {
      const graph::Value& value = imported_->value(imported_->outputs[i]);
      if (i >= outputs.size() || !outputs[i].defined()) continue;  // a data set may leave some out
      judge_value(value.name, outputs[i], value.dtype, wanted.at(i), noise.at(i),
                  tolerance_of(value.name), report);
    }
  }

  // A tensor, or each item of a container as an output of its own.
  void judge_value(const std::string& name, const Tensor& actual, DataType declared,
                   const Tensor& wanted, double noise, const std::optional<Tolerance>& tolerance,
                   ParticipantReport& report) const {
    if (is_container(declared) && actual.dtype() == declared && actual.shape() == wanted.shape()) {
      for (std::size_t i = 0; i < actual.items().size(); ++i) {
        judge_value(name + "[" + std::to_string(i) + "]", actual.items()[i], item_type(declared),
                    wanted.items()[i], noise, tolerance, report);
      }
      return;
    }
    report.outputs.push_back(judge_output(name, actual, declared, wanted, noise, tolerance));
    report.verdict = worst(report.verdict, report.outputs.back().verdict);
  }

  // The data set's own outputs: somebody's run of the same model, at the precision it asks for.
  ParticipantReport expected(const CompareCase& one, OraclePass& oracle,
                             const std::vector<Tensor>& wanted,
                             std::vector<Answers>& answers) const {
    ParticipantReport report;
    report.spec = "expected";
    report.device.name = "outputs in the data set";
    report.precision = "model";
    std::vector<Tensor> outputs;
    for (const graph::ValueId id : imported_->outputs) {
      const auto it = one.expected.find(imported_->value(id).name);
      outputs.push_back(it != one.expected.end() ? it->second : Tensor());
    }
    judge_outputs(outputs, wanted, oracle.noise(*imported_, {}), report);
    answers.push_back(answers_of(report, std::move(outputs)));
    return report;
  }

  // The outputs with what is expected of each; a data set may leave some out.
  Answers answers_of(const ParticipantReport& report, std::vector<Tensor> outputs) const {
    Answers answers;
    answers.spec = report.spec;
    outputs.resize(imported_->outputs.size());
    std::size_t judged = 0;
    for (const Tensor& output : outputs) {
      const bool known = output.defined() && judged < report.outputs.size();
      answers.expected_rms.push_back(known ? report.outputs[judged++].expected_rms : std::nullopt);
    }
    answers.outputs = std::move(outputs);
    return answers;
  }

  ParticipantReport run(Participant& participant, const CompareCase& one, OraclePass& oracle,
                        const std::vector<Tensor>& wanted) {
    ParticipantReport report;
    report.spec = participant.spec.text;
    report.backend = participant.spec.backend;
    report.precision = to_string(participant.spec.options.precision);
    try {
      if (participant.failed) throw Error(*participant.failed);
      run_worker(participant, one, oracle, wanted, report);
    } catch (const Error& error) {
      report.verdict =
          error.kind() == ErrorKind::unsupported ? Verdict::unsupported : Verdict::failed;
      report.error = error.what();
      report.hint = error.hint();
      report.error_kind = error.kind();
      report.performance.reset();
      participant.failed = error;
    }
    diagnose(participant, oracle, report);
    return report;
  }

  void run_worker(Participant& participant, const CompareCase& one, OraclePass& oracle,
                  const std::vector<Tensor>& wanted, ParticipantReport& report) const {
    Worker& worker = *participant.worker;
    const WorkerReady& ready = worker.ready();
    report.backend = ready.backend;
    report.device = ready.device;
    report.version = ready.version;
    report.fallbacks = ready.fallbacks;
    const WorkerRun first = worker.run(one.inputs, false);
    Performance performance;
    performance.spec = participant.spec.text;
    performance.load_ms = ready.load_ms;
    performance.compile_ms = ready.compile_ms;
    performance.plan_ms = first.plan_ms;
    performance.first_run_ms = first.run_ms;
    report.performance = performance;
    const std::vector<WorkerStep> steps = worker.steps(options_.per_step ? 0.3 : 0.0);
    if (!participant.optimised) {
      participant.optimised = optimise_for(imported_, participant.spec, job_.disabled_passes);
    }
    judge_outputs(first.outputs, wanted, oracle.noise(*participant.optimised, steps), report);
    participant.outputs = first.outputs;
    // The oracle's steps hand on float64 values that no tensor of the model's types holds.
    if (options_.per_step && participant.spec.backend != "reference") {
      const WorkerRun tapped = worker.run(one.inputs, true);
      report.taps_changed_outputs = !same(tapped.outputs, first.outputs);
      report.steps = judge_steps(*imported_, *participant.optimised, steps, tapped.taps, one.inputs,
                                 {job_.exact, &oracle.choices()});
      excuse(*participant.optimised, report);
    }
    if (options_.repeat > 0) {
      progress(participant.spec.text + " again", 0);
      WorkerJob job = job_;
      job.spec = participant.spec.text;
      report.determinism = check_determinism(*imported_, *participant.optimised, job, worker, steps,
                                             one.inputs, options_.repeat);
      report.repeats = options_.repeat;
      report.repeats_that_differ = report.determinism.front().differ;
    }
  }

  // Why it is wrong: its steps, what cures it, and the smallest part that fails alike.
  void diagnose(const Participant& participant, OraclePass& oracle, ParticipantReport& report) {
    const bool refused =
        report.verdict == Verdict::unsupported ||
        (report.verdict == Verdict::failed && report.error_kind != ErrorKind::failed);
    const bool wrong = report.verdict > Verdict::branched || first_fault(report) != nullptr;
    const bool minimise_it = wrong && !options_.minimise.empty() && !minimised_;
    if (refused || participant.spec.backend == "reference") return;
    if (report.verdict <= Verdict::branched && !options_.toggle && !minimise_it) return;
    WorkerJob job = job_;
    job.spec = participant.spec.text;
    progress(participant.spec.text + ", what is wrong", 0);
    const Examination before = examine(imported_, job, oracle, true);
    if (report.steps.empty() && before.optimised) {
      report.steps = before.steps;
      if (report.verdict != Verdict::failed) excuse(*before.optimised, report);
    }
    if (!report.taps_changed_outputs) report.taps_changed_outputs = before.taps_changed_outputs;
    report.toggles = try_toggles(imported_, job, before, oracle, [&](const std::string& toggle) {
      progress(participant.spec.text + " with " + toggle, 0);
    });
    if (!minimise_it || signature_of(before).kind == Signature::Kind::none) return;
    minimised_ = true;
    MinimiseOptions options;
    options.folder = options_.minimise;
    options.command_tail = options_.command_tail;
    options.tolerance = [this](const std::string& output) { return tolerance_of(output); };
    options.progress = [&](int tried) {
      progress(participant.spec.text + ", parts tried: " + std::to_string(tried), 0);
    };
    report.minimal =
        minimise(imported_, job, oracle.inputs(), before, cures(report.toggles), options);
  }

  static void excuse(const Graph& optimised, ParticipantReport& report) {
    excuse_branches(optimised, report.steps, report.outputs);
    report.verdict = Verdict::agrees;
    for (const OutputReport& output : report.outputs) {
      report.verdict = worst(report.verdict, output.verdict);
    }
  }

  static bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), identical);
  }

  void decode_all(const CompareCase& one, CaseReport& report,
                  const std::vector<std::size_t>& alive) {
    const DecoderLayout layout = decoder_layout(*imported_);
    const std::vector<DecodedStep> wanted =
        decode_oracle(*imported_, layout, one.inputs, options_.decode,
                      [this](double done) { progress("float64 oracle, decoding", done); });
    const std::size_t first = report.participants.size() - participants_.size();
    for (const std::size_t index : alive) {
      progress(report.participants[index].spec + ", decoding", 0);
      Worker& worker = *participants_[index - first].worker;
      try {
        report.participants[index].decode = decode_worker(layout, one.inputs, wanted, worker);
        worker.run(one.inputs, false);  // what is measured runs on these again
      } catch (const Error& error) {
        report.participants[index].decode = DecodeReport{};
        report.participants[index].decode->error = error.what();
      }
    }
  }

  // Participants take turns; those that failed have none. A second process of the first one shows
  // what the noise is.
  void measure_all(const CompareCase& one, CaseReport& report,
                   const std::vector<std::size_t>& alive) {
    if (alive.empty()) return;
    std::vector<Worker*> workers;
    std::vector<Performance> results;
    const std::size_t first = report.participants.size() - participants_.size();
    for (const std::size_t index : alive) {
      workers.push_back(participants_[index - first].worker.get());
      results.push_back(*report.participants[index].performance);
    }
    MeasureOptions measuring = options_.measuring;
    measuring.per_step = options_.per_step;
    measuring.progress = [this](double fraction) { progress("measuring", fraction); };
    try {
      std::optional<Participant> twin;
      if (twin_fits(*workers.front())) {
        twin = start(participants_[alive.front() - first].spec);
        twin->worker->run(one.inputs, false);
      }
      report.calibration =
          measure(workers, twin ? twin->worker.get() : nullptr, measuring, results);
    } catch (const Error& error) {
      report.measuring_error = error.what();
      return;
    }
    for (std::size_t i = 0; i < alive.size(); ++i) {
      ParticipantReport& p = report.participants[alive[i]];
      if (options_.per_step) {
        progress("ceilings of " + p.spec, 0);
        explain(results[i], participants_[alive[i] - first].spec, p.device, imported_,
                job_.disabled_passes, bindings_of(*imported_, one.inputs));
        place_steps(results[i], p.steps);
      }
      p.performance = results[i];
    }
  }

  // Whether a second process of it leaves the machine room to breathe.
  static bool twin_fits(Worker& worker) {
    return worker.memory().peak_bytes < this_machine().memory_bytes / 4;
  }

  // The judged steps with the times and bounds of the measured ones, where they are the same.
  static void place_steps(const Performance& performance, std::vector<StepReport>& steps) {
    if (!performance.roofline || performance.steps.size() != steps.size()) return;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (performance.steps[i].node != steps[i].node) return;
      const StepBound& bound = performance.roofline->steps[i];
      steps[i].ms = performance.steps[i].ms;
      steps[i].flops = bound.flops;
      steps[i].bytes = bound.bytes;
      steps[i].lower_ms = bound.lower_ms;
      steps[i].bound = bound.bound;
    }
  }

  std::shared_ptr<const Graph> imported_;
  WorkerJob job_;
  const CompareOptions& options_;
  std::vector<Participant> participants_;
  std::optional<Participant> reference_;
  bool minimised_ = false;
};

}  // namespace

std::vector<CaseReport> compare_model(const std::shared_ptr<const Graph>& imported,
                                      const WorkerJob& job, const std::vector<CompareCase>& cases,
                                      const CompareOptions& options) {
  std::vector<CaseReport> reports;
  // Cases of other ranks are other graphs, for which workers of their own are compiled.
  std::optional<Comparison> comparison;
  WorkerJob ranked = job;
  for (const CompareCase& one : cases) {
    std::vector<std::int64_t> ranks;
    if (input_of_any_rank(*imported) != nullptr) ranks = ranks_of(one.inputs);
    if (!comparison || ranks != ranked.ranks) {
      ranked.ranks = std::move(ranks);
      comparison.emplace(with_ranks(imported, ranked.ranks), ranked, options);
    }
    reports.push_back(comparison->compare(one));
  }
  return reports;
}

}  // namespace concord::parity
