#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

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

void write_profile(const std::string& file, const graph::Graph& imported,
                   const std::vector<InputCase>& cases, const std::string& spec,
                   const CommonOptions& common) {
  SessionOptions options;
  options.allow_fallback = !common.no_fallback;
  options.disabled_passes = {common.disabled_passes.begin(), common.disabled_passes.end()};
  Session session(std::make_shared<const graph::Graph>(imported), parse_spec(spec), options);
  session.run(cases.front().inputs);
  std::vector<SessionStep> steps;
  RunOptions run;
  run.steps = &steps;
  session.run(cases.front().inputs, run);
  write_report(file, chrome_trace(session, steps));
}

// The participants of one case, started one at a time, since starts are timed as well.
class Bench {
 public:
  Bench(const Options& options, const CommonOptions& common, const InputCase& one)
      : options_(options), common_(common), one_(one) {}

  void start(const std::vector<BackendSpec>& specs) {
    for (const BackendSpec& spec : specs) {
      progress("starting " + spec.text, 0);
      std::unique_ptr<parity::Worker> fresh = worker(spec);
      if (!starts(*fresh, spec)) continue;
      specs_.push_back(spec);
      workers_.push_back(std::move(fresh));
      const parity::WorkerReady& ready = workers_.back()->ready();
      const parity::WorkerRun first = workers_.back()->run(one_.inputs, false);
      parity::Performance& result = results_.emplace_back();
      result.spec = spec.text;
      result.load_ms = ready.load_ms;
      result.compile_ms = ready.compile_ms;
      result.plan_ms = first.plan_ms;
      result.first_run_ms = first.run_ms;
      for (const parity::WorkerFallback& f : ready.fallbacks) {
        if (f.by_nature || common_.quiet) continue;
        std::cerr << "concord: " << spec.text << " runs " << f.name << " (" << f.op
                  << ") on the CPU: " << f.reason << "\n";
      }
    }
    if (workers_.empty()) {
      throw Error(ErrorKind::failed, "no backend has one of these precisions",
                  "see concord devices");
    }
    if (workers_.front()->memory().peak_bytes < parity::this_machine().memory_bytes / 4) {
      progress("starting a second " + specs_.front().text, 0);
      twin_ = worker(specs_.front());
      twin_->run(one_.inputs, false);
    }
  }

  void measure() {
    parity::MeasureOptions measuring;
    measuring.seconds = options_.seconds;
    measuring.per_step = options_.per_step;
    measuring.progress = [this](double fraction) { progress("measuring", fraction); };
    std::vector<parity::Worker*> workers;
    for (const auto& worker : workers_) workers.push_back(worker.get());
    calibration_ = parity::measure(workers, twin_.get(), measuring, results_);
    twin_.reset();
  }

  void explain(const std::shared_ptr<const graph::Graph>& imported) {
    if (!options_.per_step) return;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      progress("ceilings of " + specs_[i].text, 0);
      parity::explain(results_[i], specs_[i], workers_[i]->ready().device, imported,
                      {common_.disabled_passes.begin(), common_.disabled_passes.end()}, one_.dims);
    }
  }

  std::string text() const {
    progress("", 1);
    return parity::performance_text(results_, calibration_, options_.per_step, 0);
  }

  nlohmann::json json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const parity::Performance& result : results_) list.push_back(parity::to_json(result));
    return {{"label", one_.label},
            {"dims", one_.dims},
            {"backends", std::move(list)},
            {"noise", parity::to_json(calibration_)}};
  }

 private:
  std::unique_ptr<parity::Worker> worker(const BackendSpec& spec) const {
    return std::make_unique<parity::Worker>(common_.job(options_.model, spec.text));
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
  // On a terminal only; an empty text wipes the line.
  void progress(const std::string& what, double fraction) const {
    show_progress(common_, what.empty() ? "" : one_.label + ": " + what, fraction);
  }

  const Options& options_;
  const CommonOptions& common_;
  const InputCase& one_;
  std::vector<BackendSpec> specs_;
  std::vector<std::unique_ptr<parity::Worker>> workers_;
  std::unique_ptr<parity::Worker> twin_;
  std::vector<parity::Performance> results_;
  parity::Calibration calibration_;
};

void bench(const Options& options, const CommonOptions& common) {
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
  nlohmann::json case_list = nlohmann::json::array();
  for (const InputCase& one : cases) {
    Bench run(options, common, one);
    run.start(specs);
    run.measure();
    run.explain(model.graph);
    const std::string table = run.text();
    if (text) {
      if (!common.quiet) {
        std::cout << one.label << (one.generated ? " (generated inputs)" : "") << "\n";
      }
      std::cout << table;
    }
    case_list.push_back(run.json());
  }
  if (!options.profile.empty()) {
    write_profile(options.profile, *model.graph, cases, specs.front().text, common);
  }
  if (options.json.empty()) return;
  nlohmann::json report = {{"schema", 1}, {"model", options.model}};
  report["backends"] = case_list.front()["backends"];
  report["noise"] = case_list.front()["noise"];
  if (case_list.size() > 1) report["cases"] = case_list;
  write_report(options.json, report.dump(1) + "\n");
}

}  // namespace

void add_bench(CLI::App& app, CommonOptions& common, int&) {
  CLI::App* command = app.add_subcommand("bench", "How fast backends run a model");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, ".onnx file, or a folder with model.onnx")
      ->required();
  command->add_option("--backends", options->backends, "Default: all that start here")
      ->type_name("SPEC[,SPEC]");
  add_precision_option(*command, options->precisions);
  command->add_option("--seconds", options->seconds, "Measured time per backend (default 2)")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("S");
  command->add_flag("--per-step", options->per_step,
                    "Also time each step and place it under the device's ceilings");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  command->add_option("--profile", options->profile, "Write a Chrome trace of the first backend")
      ->type_name("FILE");
  add_input_options(*command, options->inputs);
  add_common_options(*command, common);
  command->footer("Example: concord bench model.onnx --backends cpu,cpu:threads=1 --set seq=128");
  command->callback([options, &common] { bench(*options, common); });
}

}  // namespace concord::tools
