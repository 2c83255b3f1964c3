#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "backends/build_id.h"
#include "backends/registry.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "parity/compare.h"
#include "parity/conformance.h"
#include "parity/report.h"
#include "tools/concord/commands.h"

namespace concord::tools {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string backends;
  std::string reference;
  std::optional<double> atol;
  std::optional<double> rtol;
  int repeat = 0;
  bool per_step = false;
  double seconds = 1.0;
  std::string json;
  std::string html;
  std::string junit;
  std::string markdown;
  std::string baseline;
  std::vector<std::string> precisions;
  InputOptions inputs;
};

nlohmann::json read_json(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    throw Error(ErrorKind::usage, path + ": cannot be read", "give the JSON of an earlier report");
  }
  nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (json.is_discarded()) {
    throw Error(ErrorKind::invalid, path + ": is not JSON", "give the JSON of an earlier report");
  }
  return json;
}

// The models that the words mean: files, model folders, and folders of model folders.
std::vector<std::filesystem::path> models_of(const std::vector<std::string>& words) {
  std::vector<std::filesystem::path> models;
  for (const std::string& word : words) {
    if (std::filesystem::is_directory(word)) {
      for (auto& folder : parity::model_folders(word)) models.push_back(std::move(folder));
    } else {
      models.emplace_back(word);
    }
  }
  return models;
}

parity::ModelReport compare(const std::filesystem::path& path, const Options& options,
                            const CommonOptions& common, const parity::CompareOptions& compare) {
  parity::ModelReport report;
  report.path = path.string();
  try {
    const importer::Imported model = importer::load(path, common.import_options());
    report.sha256 = importer::sha256_of_file(model.info.path);
    report.producer = model.info.producer;
    for (const importer::OpsetImport& opset : model.info.opsets) {
      report.opsets[opset.domain.empty() ? "ai.onnx" : opset.domain] = opset.version;
    }
    std::vector<parity::CompareCase> cases;
    for (InputCase& one : input_cases(path, *model.graph, options.inputs, true)) {
      const std::string data =
          one.generated ? "generated, seed " + std::to_string(options.inputs.seed) : "";
      cases.push_back({one.label, data, one.dims, std::move(one.inputs), std::move(one.expected)});
    }
    report.cases = parity::compare_model(model.graph, common.job(path, ""), cases, compare);
  } catch (const Error& error) {
    report.error = error.what();
    report.hint = error.hint();
    report.error_kind = error.kind();
  }
  return report;
}

int run(const Options& options, const CommonOptions& common) {
  parity::Report report;
  report.version = CONCORD_VERSION;
  report.date = now_text();
  report.machine = parity::this_machine();
  // Read first: a file that cannot be is to be told before the work, and may be one that is
  // written.
  nlohmann::json baseline;
  if (!options.baseline.empty()) {
    baseline = read_json(options.baseline);
    static_cast<void>(parity::compare_with_baseline(report, baseline, options.baseline));
  }
  parity::CompareOptions compare_options;
  compare_options.specs = chosen_backends(options.backends, common, report.skipped);
  if (compare_options.specs.empty()) {
    throw Error(ErrorKind::failed, "no backend starts here", "see concord devices");
  }
  if (!options.precisions.empty()) {
    compare_options.specs = in_precisions(compare_options.specs, options.precisions);
    compare_options.skip = [&report](const std::string& line) { report.skipped.push_back(line); };
  }
  if (!options.reference.empty()) {
    compare_options.reference = common.spec(parse_spec(options.reference));
    require_known(compare_options.reference->backend);
  }
  if (options.atol || options.rtol) {
    compare_options.tolerance =
        parity::Tolerance{options.atol.value_or(0), options.rtol.value_or(0)};
  }
  compare_options.per_step = options.per_step;
  compare_options.repeat = options.repeat;
  compare_options.measure = options.seconds > 0;
  compare_options.measuring.seconds = options.seconds;
  for (const std::filesystem::path& path : models_of(options.models)) {
    compare_options.progress = [&path, &common](const std::string& what, double fraction) {
      show_progress(common, path.filename().string() + ": " + what, fraction);
    };
    report.models.push_back(compare(path, options, common, compare_options));
    show_progress(common, "", 1);
  }
  if (!baseline.is_null()) {
    report.baseline = parity::compare_with_baseline(report, baseline, options.baseline);
  }
  parity::TextOptions text;
  text.per_step = options.per_step;
  text.verbose = common.verbose;
  text.colour = isatty(STDOUT_FILENO) != 0;
  if (options.json != "-") std::cout << parity::to_text(report, text);
  for (const parity::ModelReport& model : report.models) {
    if (model.error.empty()) continue;
    std::cerr << "concord: error: " << model.error << "\n";
    if (!model.hint.empty()) std::cerr << "hint: " << model.hint << "\n";
  }
  if (!options.json.empty()) write_report(options.json, parity::to_json_text(report));
  if (!options.html.empty()) write_report(options.html, parity::to_html(report));
  if (!options.junit.empty()) write_report(options.junit, parity::to_junit(report));
  if (!options.markdown.empty()) write_report(options.markdown, parity::to_markdown(report));
  return report.exit_code();
}

}  // namespace

void add_parity(CLI::App& app, CommonOptions& common, int& exit) {
  CLI::App* command =
      app.add_subcommand("parity", "Whether backends agree on a model, and what each costs");
  auto options = std::make_shared<Options>();
  command
      ->add_option("MODEL", options->models,
                   ".onnx files, model folders, or folders of model folders")
      ->required();
  command->add_option("--backends", options->backends, "Default: all that start here")
      ->type_name("SPEC[,SPEC]");
  add_precision_option(*command, options->precisions);
  command->add_option("--reference", options->reference, "Compare with this instead of the oracle")
      ->type_name("SPEC");
  command->add_flag("--per-step", options->per_step, "Also judge each step by its own inputs");
  command->add_option("--repeat", options->repeat, "Run N times more and compare bit by bit")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
  command->add_option("--atol", options->atol, "Absolute tolerance, instead of the budget")
      ->check(CLI::NonNegativeNumber)
      ->type_name("A");
  command->add_option("--rtol", options->rtol, "Relative tolerance, instead of the budget")
      ->check(CLI::NonNegativeNumber)
      ->type_name("R");
  command
      ->add_option("--seconds", options->seconds, "Measured time per backend (default 1; 0: none)")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("S");
  command
      ->add_option("--baseline", options->baseline,
                   "Earlier --json: exit 1 if numbers got worse, 4 if slower, beyond the noise")
      ->type_name("FILE");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  command->add_option("--html", options->html, "Write one HTML file with charts")
      ->type_name("FILE");
  command->add_option("--junit", options->junit, "Write JUnit XML")->type_name("FILE");
  command->add_option("--markdown", options->markdown, "Write a table for a CI step summary")
      ->type_name("FILE");
  add_input_options(*command, options->inputs);
  add_common_options(*command, common);
  command->footer("Example: concord parity model.onnx --backends cpu,vulkan --set seq=16,128");
  command->callback([options, &common, &exit] { exit = run(*options, common); });
}

}  // namespace concord::tools
