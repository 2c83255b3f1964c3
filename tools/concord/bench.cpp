#include <iostream>
#include <map>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backends/ranks.h"
#include "backends/session.h"
#include "graph/error.h"
#include "graph/passes.h"
#include "importer/importer.h"
#include "parity/performance.h"
#include "parity/report.h"
#include "parity/report_sections.h"
#include "parity/worker.h"
#include "tools/concord/commands.h"
#include "tools/concord/profile.h"
#include "tools/concord/validators.h"

namespace concord::tools {
namespace {

struct Options {
  std::string model;
  std::string backends;
  std::string json;
  std::string profile;
  double seconds = 2.0;
  bool per_step = false;
  std::vector<std::string> precisions;
  InputOptions inputs;
};

void write_profile(const std::string& file, const std::shared_ptr<const graph::Graph>& imported,
                   const std::vector<Tensor>& inputs, const BackendSpec& spec,
                   const CommonOptions& common) {
  SessionOptions options;
  options.allow_fallback = !common.no_fallback;
  options.disabled_passes = {common.disabled_passes.begin(), common.disabled_passes.end()};
  Session session(with_ranks(imported, ranks_of(inputs)), spec, options);
  session.run(inputs);
  std::vector<SessionStep> steps;
  RunOptions run;
  run.steps = &steps;
  session.run(inputs, run);
  write_report(file, chrome_trace(session, steps));
}

// The participants of one case, started one at a time, since starts are timed as well. One that
// fails is out of the case and keeps its error.
class Bench {
 public:
  Bench(const Options& options, const CommonOptions& common,
        const std::shared_ptr<const graph::Graph>& imported, const InputCase& one)
      : options_(options),
        common_(common),
        one_(one),
        ranks_(ranks_of(one.inputs)),
        imported_(with_ranks(imported, ranks_)) {}

  void start(const std::vector<BackendSpec>& specs) {
    for (const BackendSpec& spec : specs) {
      progress("starting " + spec.text, 0);
      Participant participant;
      participant.spec = spec;
      participant.result.spec = spec.text;
      try {
        participant.worker = worker(spec);
        if (!starts(*participant.worker, spec)) continue;
        first_run(participant);
      } catch (const Error& error) {
        participant.failed = error;
      }
      participants_.push_back(std::move(participant));
    }
    if (participants_.empty()) {
      throw Error(ErrorKind::failed, "no backend has one of these precisions",
                  "see concord devices");
    }
    try {
      start_twin();
    } catch (const Error& error) {
      twin_.reset();
      if (!common_.quiet) std::cerr << "concord: noise is not measured: " << error.what() << "\n";
    }
  }

  void measure() {
    parity::MeasureOptions measuring;
    measuring.seconds = options_.seconds;
    measuring.per_step = options_.per_step;
    measuring.progress = [this](double fraction) { progress("measuring", fraction); };
    while (true) {
      std::vector<parity::Worker*> workers;
      std::vector<parity::Performance> results = alive_results();
      for (Participant* participant : alive()) workers.push_back(participant->worker.get());
      try {
        calibration_ = parity::measure(workers, twin_.get(), measuring, results);
      } catch (const Error&) {
        if (!drop_dead()) throw;
        twin_.reset();  // it may be the second process of one that has gone
        continue;
      }
      std::size_t next = 0;
      for (Participant* participant : alive()) participant->result = std::move(results[next++]);
      break;
    }
    twin_.reset();
  }

  void explain() {
    if (!options_.per_step) return;
    const Bindings dims = bindings_of(*imported_, one_.inputs);
    for (Participant* participant : alive()) {
      progress("ceilings of " + participant->spec.text, 0);
      parity::explain(participant->result, participant->spec, participant->worker->ready().device,
                      imported_, {common_.disabled_passes.begin(), common_.disabled_passes.end()},
                      dims);
    }
  }

  std::string text() {
    progress("", 1);
    std::string text =
        parity::performance_text(alive_results(), calibration_, options_.per_step, 0);
    for (const Participant& participant : participants_) {
      if (!participant.failed) continue;
      text += participant.spec.text + ": " + std::string(verdict(*participant.failed)) + "\n";
    }
    return text;
  }

  nlohmann::json json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const Participant& participant : participants_) {
      if (!participant.failed) {
        list.push_back(parity::to_json(participant.result));
        continue;
      }
      list.push_back(
          {{"spec", participant.spec.text},
           {"verdict", verdict(*participant.failed)},
           {"error",
            {{"message", participant.failed->what()}, {"hint", participant.failed->hint()}}}});
    }
    return {{"label", one_.label},
            {"dims", one_.dims},
            {"backends", std::move(list)},
            {"noise", parity::to_json(calibration_)}};
  }

  // The first that was measured.
  std::optional<BackendSpec> first() {
    const std::vector<Participant*> measured = alive();
    return measured.empty() ? std::nullopt : std::optional(measured.front()->spec);
  }

  // By spec.
  void collect_errors(std::map<std::string, Error>& errors) const {
    for (const Participant& participant : participants_) {
      if (!participant.failed) continue;
      errors.emplace(participant.spec.text,
                     participant.failed->with_context(participant.spec.text));
    }
  }

 private:
  struct Participant {
    BackendSpec spec;
    std::unique_ptr<parity::Worker> worker;
    parity::Performance result;
    std::optional<Error> failed;
  };

  static std::string_view verdict(const Error& error) {
    return to_string(error.kind() == ErrorKind::unsupported ? parity::Verdict::unsupported
                                                            : parity::Verdict::failed);
  }

  std::vector<Participant*> alive() {
    std::vector<Participant*> list;
    for (Participant& participant : participants_) {
      if (!participant.failed) list.push_back(&participant);
    }
    return list;
  }

  std::vector<parity::Performance> alive_results() {
    std::vector<parity::Performance> results;
    for (const Participant* participant : alive()) results.push_back(participant->result);
    return results;
  }

  std::unique_ptr<parity::Worker> worker(const BackendSpec& spec) const {
    parity::WorkerJob job = common_.job(options_.model, spec.text);
    job.ranks = ranks_;
    return std::make_unique<parity::Worker>(job);
  }

  // Of precisions multiplied, some a backend does not have; what was named outright must start.
  bool starts(parity::Worker& fresh, const BackendSpec& spec) const {
    if (options_.precisions.empty()) return true;
    try {
      fresh.ready();
      return true;
    } catch (const Error& error) {
      if (!common_.quiet) std::cerr << "skipped " << spec.text << ": " << error.what() << "\n";
      return false;
    }
  }

  void first_run(Participant& participant) const {
    const parity::WorkerReady& ready = participant.worker->ready();
    if (!parity::has_speed(ready.device)) {
      throw Error(ErrorKind::failed, ready.device.name + " only imitates a device: it has no speed",
                  "use concord parity, or a device");
    }
    const parity::WorkerRun first = participant.worker->run(one_.inputs, false);
    parity::Performance& result = participant.result;
    result.load_ms = ready.load_ms;
    result.compile_ms = ready.compile_ms;
    result.plan_ms = first.plan_ms;
    result.first_run_ms = first.run_ms;
    for (const parity::WorkerFallback& f : ready.fallbacks) {
      if (f.by_nature || common_.quiet) continue;
      std::cerr << "concord: " << result.spec << " runs " << f.name << " (" << f.op
                << ") on the CPU: " << f.reason << "\n";
    }
  }

  // A second process of the first participant, which shows what the noise is.
  void start_twin() {
    if (alive().empty()) return;
    const Participant& first = *alive().front();
    if (first.worker->memory().peak_bytes >= parity::this_machine().memory_bytes / 4) return;
    progress("starting a second " + first.spec.text, 0);
    twin_ = worker(first.spec);
    twin_->run(one_.inputs, false);
  }

  // Finds those whose workers have gone; false if there are none.
  bool drop_dead() {
    bool found = false;
    for (Participant* participant : alive()) {
      try {
        static_cast<void>(participant->worker->memory());
      } catch (const Error& error) {
        participant->failed = error;
        found = true;
      }
    }
    return found;
  }

  // On a terminal only; an empty text wipes the line.
  void progress(const std::string& what, double fraction) const {
    show_progress(common_, what.empty() ? "" : one_.label + ": " + what, fraction);
  }

  const Options& options_;
  const CommonOptions& common_;
  const InputCase& one_;
  std::vector<std::int64_t> ranks_;
  std::shared_ptr<const graph::Graph> imported_;
  std::vector<Participant> participants_;
  std::unique_ptr<parity::Worker> twin_;
  parity::Calibration calibration_;
};

// The exit code: 0, or that of the first participant that failed.
int bench(const Options& options, const CommonOptions& common) {
  check_targets({{"--json", options.json}, {"--profile", options.profile}});
  const importer::Imported model = importer::load(options.model, common.import_options());
  const std::vector<InputCase> cases =
      input_cases(options.model, *model.graph, options.inputs, false);
  std::vector<std::string> skipped;
  const std::vector<BackendSpec> specs =
      in_precisions(chosen_backends(options.backends, common, skipped), options.precisions);
  if (specs.empty()) {
    throw Error(ErrorKind::failed, "no backend starts here", "see concord devices");
  }
  const bool text = options.json != "-";
  if (text && !common.quiet) {
    for (const std::string& line : skipped) std::cout << "skipped " << line << "\n";
  }
  std::optional<BackendSpec> first;
  std::map<std::string, Error> errors;
  nlohmann::json case_list = nlohmann::json::array();
  for (const InputCase& one : cases) {
    Bench run(options, common, model.graph, one);
    run.start(specs);
    run.measure();
    run.explain();
    const std::string table = run.text();
    if (text) {
      if (!common.quiet) {
        std::cout << one.label << one.generated_text() << "\n";
      }
      std::cout << table;
    }
    case_list.push_back(run.json());
    if (&one == &cases.front()) first = run.first();
    run.collect_errors(errors);
  }
  if (!options.profile.empty() && first) {
    write_profile(options.profile, model.graph, cases.front().inputs, *first, common);
  }
  int exit = 0;
  for (const auto& [spec, error] : errors) {
    const int code = print_error(about_model(error, options.model));
    if (exit == 0) exit = code;
  }
  if (options.json.empty()) return exit;
  nlohmann::json report = {{"schema", 1}, {"model", options.model}};
  report["backends"] = case_list.front()["backends"];
  report["noise"] = case_list.front()["noise"];
  if (case_list.size() > 1) report["cases"] = case_list;
  write_report(options.json,
               report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return exit;
}

}  // namespace

void add_bench(CLI::App& app, CommonOptions& common, int& exit) {
  CLI::App* command = app.add_subcommand("bench", "How fast backends run a model");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, ".onnx file, or a folder with model.onnx")
      ->required();
  command->add_option("--backends", options->backends, "Default: all that start here")
      ->type_name("SPEC[,SPEC]");
  add_precision_option(*command, options->precisions);
  command->add_option("--seconds", options->seconds, "Measured time per backend (default 2)")
      ->check(number_within(0, 3600))
      ->type_name("S");
  command->add_flag("--per-step", options->per_step,
                    "Also time each step and place it under the device's ceilings");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  command->add_option("--profile", options->profile, "Write a Chrome trace of the first backend")
      ->type_name("FILE");
  add_input_options(*command, options->inputs);
  add_common_options(*command, common);
  command->footer("Example: concord bench model.onnx --backends cpu,cpu:threads=1 --set seq=128");
  command->callback([options, &common, &exit] {
    about_model(options->model, [&] { exit = bench(*options, common); });
  });
}

}  // namespace concord::tools
