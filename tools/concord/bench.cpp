#include <algorithm>
#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backends/session.h"
#include "graph/error.h"
#include "graph/passes.h"
#include "importer/importer.h"
#include "parity/performance.h"
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
  InputOptions inputs;
};

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.3f" : ms < 100 ? "%.2f" : "%.1f", ms);
  return text;
}

void print_table(const std::vector<parity::Performance>& results) {
  std::size_t width = 7;
  for (const auto& r : results) width = std::max(width, r.spec.size());
  std::printf("%-*s %9s %9s %9s %9s %9s %9s %9s %8s\n", static_cast<int>(width), "backend",
              "median", "min", "p90", "load", "compile", "plan", "first", "peak MB");
  for (const auto& r : results) {
    std::printf("%-*s %9s %9s %9s %9s %9s %9s %9s %8.0f\n", static_cast<int>(width), r.spec.c_str(),
                milliseconds(r.latency.median).c_str(), milliseconds(r.latency.min).c_str(),
                milliseconds(r.latency.p90).c_str(), milliseconds(r.load_ms).c_str(),
                milliseconds(r.compile_ms).c_str(), milliseconds(r.plan_ms).c_str(),
                milliseconds(r.first_run_ms).c_str(),
                static_cast<double>(r.memory.peak_bytes) / 1e6);
  }
  std::printf("times in ms\n");
}

// Kernels by the time that they take together.
void print_steps(const parity::Performance& result) {
  struct Row {
    double ms = 0, flops = 0, bytes = 0;
    int steps = 0;
  };
  std::map<std::string, Row> rows;
  double total = 0;
  for (const parity::WorkerStep& step : result.steps) {
    Row& row = rows[step.backend + " " + step.kernel];
    row.ms += step.ms;
    row.flops += step.flops;
    row.bytes += step.bytes;
    ++row.steps;
    total += step.ms;
  }
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.ms > b.second.ms; });
  std::printf("\n%s: %zu steps, %s ms together\n", result.spec.c_str(), result.steps.size(),
              milliseconds(total).c_str());
  std::printf("  %9s %6s %6s %9s %8s  %s\n", "ms", "share", "steps", "GFLOP/s", "GB/s", "kernel");
  for (const auto& [name, row] : sorted) {
    const double seconds = std::max(row.ms, 1e-9) * 1e-3;
    std::printf("  %9s %5.1f%% %6d %9.1f %8.1f  %s\n", milliseconds(row.ms).c_str(),
                100 * row.ms / std::max(total, 1e-9), row.steps, row.flops / seconds * 1e-9,
                row.bytes / seconds * 1e-9, name.c_str());
  }
}

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

void bench(const Options& options, const CommonOptions& common) {
  check_targets({{"--json", options.json}, {"--profile", options.profile}});
  const importer::Imported model = importer::load(options.model, common.import_options());
  const std::vector<InputCase> cases =
      input_cases(options.model, *model.graph, options.inputs, false);
  std::vector<std::string> skipped;
  const std::vector<BackendSpec> specs = chosen_backends(options.backends, common, skipped);
  if (specs.empty()) {
    throw Error(ErrorKind::failed, "no backend starts here", "see concord devices");
  }
  const bool text = options.json != "-";
  if (text && !common.quiet) {
    for (const std::string& line : skipped) std::cout << "skipped " << line << "\n";
  }
  nlohmann::json case_list = nlohmann::json::array();
  for (const InputCase& one : cases) {
    std::vector<parity::Performance> results(specs.size());
    std::vector<std::unique_ptr<parity::Worker>> workers;
    std::vector<parity::Worker*> pointers;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      // One at a time: starts are timed as well.
      workers.push_back(std::make_unique<parity::Worker>(common.job(options.model, specs[i].text)));
      pointers.push_back(workers.back().get());
      parity::Performance& result = results[i];
      const parity::WorkerReady& ready = workers.back()->ready();
      const parity::WorkerRun first = workers.back()->run(one.inputs, false);
      result.spec = specs[i].text;
      result.load_ms = ready.load_ms;
      result.compile_ms = ready.compile_ms;
      result.plan_ms = first.plan_ms;
      result.first_run_ms = first.run_ms;
      for (const parity::WorkerFallback& f : ready.fallbacks) {
        if (f.by_nature || common.quiet) continue;
        std::cerr << "concord: " << specs[i].text << " runs " << f.name << " (" << f.op
                  << ") on the CPU: " << f.reason << "\n";
      }
    }
    parity::MeasureOptions measure;
    measure.seconds = options.seconds;
    measure.per_step = options.per_step;
    parity::measure(pointers, measure, results);
    if (text) {
      if (!common.quiet) std::cout << one.label << one.generated_text() << "\n";
      print_table(results);
      if (options.per_step) {
        for (const parity::Performance& result : results) print_steps(result);
      }
    }
    nlohmann::json list = nlohmann::json::array();
    for (const parity::Performance& result : results) list.push_back(to_json(result));
    case_list.push_back({{"label", one.label}, {"dims", one.dims}, {"backends", list}});
  }
  if (!options.profile.empty()) {
    write_profile(options.profile, *model.graph, cases, specs.front().text, common);
  }
  if (options.json.empty()) return;
  nlohmann::json report = {{"schema", 1}, {"model", options.model}};
  report["backends"] = case_list.front()["backends"];
  if (case_list.size() > 1) report["cases"] = case_list;
  write_report(options.json,
               report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_bench(CLI::App& app, CommonOptions& common, int&) {
  CLI::App* command = app.add_subcommand("bench", "How fast backends run a model");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, ".onnx file, or a folder with model.onnx")
      ->required();
  command->add_option("--backends", options->backends, "Default: all that start here")
      ->type_name("SPEC[,SPEC]");
  command->add_option("--seconds", options->seconds, "Measured time per backend (default 2)")
      ->check(number_within(0, 3600))
      ->type_name("S");
  command->add_flag("--per-step", options->per_step, "Also time each step");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  command->add_option("--profile", options->profile, "Write a Chrome trace of the first backend")
      ->type_name("FILE");
  add_input_options(*command, options->inputs);
  add_common_options(*command, common);
  command->footer("Example: concord bench model.onnx --backends cpu,cpu:threads=1 --set seq=128");
  command->callback(
      [options, &common] { about_model(options->model, [&] { bench(*options, common); }); });
}

}  // namespace concord::tools
