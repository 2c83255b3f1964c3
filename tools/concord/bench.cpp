#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backends/ranks.h"
#include "backends/session.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "parity/report.h"
#include "tools/concord/bench_case.h"
#include "tools/concord/commands.h"
#include "tools/concord/models.h"
#include "tools/concord/profile.h"
#include "tools/concord/validators.h"

namespace concord::tools {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string backends;
  std::string json;
  std::string markdown;
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

// What is to be done with each of the models.
struct Job {
  const Options& options;
  const CommonOptions& common;
  std::vector<BackendSpec> specs;
  bool table = false;    // the models' rows are wanted
  bool several = false;  // models
};

// Of one model.
struct Result {
  nlohmann::json json;
  std::vector<parity::BenchRow> rows;
  int exit = 0;
};

bool tells_text(const Options& options) {
  return options.json != "-";
}

Result bench_model(const std::filesystem::path& path, const Job& job) {
  const Options& options = job.options;
  const CommonOptions& common = job.common;
  const std::string name = model_name(path);
  const importer::Imported model = importer::load(path, common.import_options());
  const std::vector<InputCase> cases = input_cases(path, *model.graph, options.inputs, false);
  const BenchOptions how{.seconds = options.seconds,
                         .per_step = options.per_step,
                         .floor = job.table,
                         .skip_unknown = !options.precisions.empty(),
                         .model = path,
                         .progress_before = job.several ? name + ": " : ""};
  Result result;
  std::optional<BackendSpec> first;
  std::map<std::string, Error> errors;
  nlohmann::json case_list = nlohmann::json::array();
  for (const InputCase& one : cases) {
    BenchCase run(how, common, model.graph, one);
    run.start(job.specs);
    run.measure();
    run.explain();
    const std::string text = run.text();
    if (tells_text(options)) {
      if (!common.quiet) {
        std::cout << (job.several ? name + ", " : "") << one.label << one.generated_text() << "\n";
      }
      std::cout << text << std::flush;
    }
    case_list.push_back(run.json());
    result.rows.push_back({name + (cases.size() > 1 ? " " + one.label : ""), run.cells()});
    if (&one == &cases.front()) first = run.first();
    run.collect_errors(errors);
  }
  if (!options.profile.empty() && first) {
    write_profile(options.profile, model.graph, cases.front().inputs, *first, common);
  }
  for (const auto& [spec, error] : errors) {
    result.exit = parity::worse_exit(result.exit, print_error(about_model(error, path)));
  }
  result.json = {{"model", path.string()}};
  result.json["backends"] = case_list.front()["backends"];
  result.json["noise"] = case_list.front()["noise"];
  if (case_list.size() > 1) result.json["cases"] = case_list;
  return result;
}

// Instead of what its cases would have shown.
Result failed_model(const std::filesystem::path& path, const Job& job, const Error& error) {
  Result result;
  result.exit = print_error(error);
  result.json = {{"model", path.string()},
                 {"verdict", to_string(parity::Verdict::failed)},
                 {"error", {{"message", error.what()}, {"hint", error.hint()}}}};
  parity::BenchCell failed;
  failed.verdict = to_string(parity::Verdict::failed);
  result.rows.push_back(
      {model_name(path), std::vector<parity::BenchCell>(job.specs.size(), failed)});
  return result;
}

// The exit code: 0, or that of what failed worst.
int bench(const Options& options, const CommonOptions& common) {
  check_targets(
      {{"--json", options.json}, {"--markdown", options.markdown}, {"--profile", options.profile}});
  const std::vector<std::filesystem::path> models = models_of(options.models);
  const bool several = models.size() > 1;
  if (several && !options.profile.empty()) {
    throw Error(ErrorKind::usage, "--profile is of one model, and there are several",
                "give one model, or leave out --profile");
  }
  std::vector<std::string> skipped;
  Job job{options, common,
          in_precisions(chosen_backends(options.backends, common, skipped), options.precisions),
          several || !options.markdown.empty(), several};
  if (job.specs.empty()) {
    throw Error(ErrorKind::failed, "no backend starts here", "see concord devices");
  }
  if (tells_text(options) && !common.quiet) {
    for (const std::string& line : skipped) std::cout << "skipped " << line << "\n";
  }
  parity::BenchTable table;
  for (const BackendSpec& spec : job.specs) table.specs.push_back(spec.text);
  nlohmann::json list = nlohmann::json::array();
  int exit = 0;
  for (const std::filesystem::path& path : models) {
    Result result;
    if (several) {
      try {
        result = bench_model(path, job);
      } catch (const std::exception&) {  // whatever it is, the other models have their rows
        show_progress(common, "", 1);
        result = failed_model(path, job, about_model(caught_error(), path));
      }
    } else {
      about_model(path, [&] { result = bench_model(path, job); });
    }
    exit = parity::worse_exit(exit, result.exit);
    list.push_back(std::move(result.json));
    std::ranges::move(result.rows, std::back_inserter(table.rows));
  }
  if (several && tells_text(options)) std::cout << "\n" << parity::to_text(table);
  if (!options.markdown.empty()) write_report(options.markdown, parity::to_markdown(table));
  if (options.json.empty()) return exit;
  nlohmann::json report = {{"schema", 1}};
  if (several) {
    report["models"] = std::move(list);
    report["geometric_means"] = nlohmann::json::array();
    for (const parity::BenchMean& mean : parity::geometric_means(table)) {
      report["geometric_means"].push_back(parity::to_json(mean));
    }
  } else {
    report.update(list.front());
  }
  write_report(options.json,
               report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return exit;
}

}  // namespace

void add_bench(CLI::App& app, CommonOptions& common, int& exit) {
  CLI::App* command = app.add_subcommand("bench", "How fast backends run models");
  auto options = std::make_shared<Options>();
  command
      ->add_option("MODEL", options->models,
                   ".onnx files, model folders, or folders of model folders; several end with a "
                   "table")
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
  command->add_option("--markdown", options->markdown, "Write the table of models as Markdown")
      ->type_name("FILE");
  command->add_option("--profile", options->profile, "Write a Chrome trace of the first backend")
      ->type_name("FILE");
  add_input_options(*command, options->inputs);
  add_common_options(*command, common);
  command->footer(
      "Several models end with one table. Its floor is the least time that a run could take: the\n"
      "larger of all FLOPs by the peak of their precision, and the bytes of weights (as wide as\n"
      "products read them), inputs and outputs by the rate at which the device reads weights.\n\n"
      "Example: concord bench model.onnx --backends cpu,cpu:threads=1 --set seq=128");
  command->callback([options, &common, &exit] { exit = bench(*options, common); });
}

}  // namespace concord::tools
