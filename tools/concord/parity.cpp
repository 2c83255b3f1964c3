#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "backends/build_id.h"
#include "backends/registry.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "parity/compare.h"
#include "parity/exact.h"
#include "parity/report.h"
#include "tools/concord/commands.h"
#include "tools/concord/models.h"
#include "tools/concord/tolerances.h"
#include "tools/concord/validators.h"

namespace concord::tools {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string backends;
  std::string reference;
  std::optional<double> atol;
  std::optional<double> rtol;
  std::string tolerance;
  int repeat = 0;
  bool per_step = false;
  bool toggle = false;
  bool exact = false;
  int decode = 0;
  std::string minimise;
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
  nlohmann::json report = nlohmann::json::parse(in, nullptr, false);
  if (report.is_discarded()) {
    throw Error(ErrorKind::invalid, path + ": is not JSON", "give the JSON of an earlier report");
  }
  return report;
}

// A tolerance for an output that the model does not have would be none at all.
void require_outputs(const graph::Graph& graph,
                     const std::map<std::string, parity::Tolerance>& tolerances,
                     const std::string& file) {
  for (const auto& [name, tolerance] : tolerances) {
    const bool known = std::any_of(
        graph.outputs.begin(), graph.outputs.end(),
        [&name = name, &graph](graph::ValueId id) { return graph.value(id).name == name; });
    if (known) continue;
    std::string names;
    for (const graph::ValueId id : graph.outputs) {
      names += (names.empty() ? "" : ", ") + graph.value(id).name;
    }
    throw Error(ErrorKind::usage, file + ": the model has no output '" + name + "'",
                "its outputs: " + names);
  }
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
    parity::WorkerJob job = common.job(path, "");
    job.exact = options.exact;
    std::shared_ptr<const graph::Graph> graph = model.graph;
    if (options.exact) graph = parity::with_integer_weights(graph);
    require_outputs(*graph, compare.tolerances, options.tolerance);
    std::vector<parity::CompareCase> cases;
    for (InputCase& one : input_cases(path, *model.graph, options.inputs, true)) {
      std::string data =
          one.generated ? "generated, seed " + std::to_string(options.inputs.seed) : "";
      if (options.exact) {
        one.inputs = parity::integer_inputs(one.inputs);
        one.expected.clear();  // they are of other weights
        data = "integers";
      }
      cases.push_back({one.label, data, one.dims, std::move(one.inputs), std::move(one.expected)});
    }
    report.cases = parity::compare_model(graph, job, cases, compare);
  } catch (const std::exception&) {  // whatever it is, the other models have their reports
    const Error error = about_model(caught_error(), path);
    report.error = error.what();
    report.hint = error.hint();
    report.error_kind = error.kind();
  }
  return report;
}

// Each once: a participant that failed in one case is out of the others.
void print_errors(const parity::ModelReport& model) {
  if (!model.error.empty()) print_error(Error(model.error_kind, model.error, model.hint));
  std::set<std::string> told;
  for (const parity::CaseReport& one : model.cases) {
    for (const parity::ParticipantReport& participant : one.participants) {
      if (participant.error.empty() || !told.insert(participant.spec).second) continue;
      const Error error(participant.error_kind, participant.error, participant.hint);
      print_error(about_model(error.with_context(participant.spec), model.path));
    }
  }
}

std::string format_number(double v) {
  std::ostringstream text;
  text << v;
  return text.str();
}

// Options that belong to the command which shows a minimised failure.
std::vector<std::string> command_tail(const Options& options, const CommonOptions& common) {
  std::vector<std::string> words;
  if (options.atol) words.insert(words.end(), {"--atol", format_number(*options.atol)});
  if (options.rtol) words.insert(words.end(), {"--rtol", format_number(*options.rtol)});
  for (const std::string& pass : common.disabled_passes) {
    words.insert(words.end(), {"--disable-pass", pass});
  }
  if (common.no_fallback) words.emplace_back("--no-fallback");
  return words;
}

// A folder that can take what --minimise writes.
void require_folder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure || !std::filesystem::is_directory(folder)) {
    throw Error(ErrorKind::usage, "--minimise: '" + folder + "' cannot be made a folder",
                "give a folder that can be written");
  }
}

int run(const Options& options, const CommonOptions& common) {
  check_targets({{"--json", options.json},
                 {"--html", options.html},
                 {"--junit", options.junit},
                 {"--markdown", options.markdown}});
  if (options.exact && !options.minimise.empty()) {
    throw Error(ErrorKind::usage, "--exact and --minimise do not go together",
                "a part that is written has the model's own weights, not integers");
  }
  if (!options.minimise.empty()) require_folder(options.minimise);
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
  if (!options.tolerance.empty()) {
    Tolerances read = read_tolerances(options.tolerance);
    compare_options.tolerance = read.others;
    compare_options.tolerances = std::move(read.outputs);
  }
  compare_options.per_step = options.per_step || options.exact;
  compare_options.decode = options.decode;
  compare_options.repeat = options.repeat;
  compare_options.toggle = options.toggle;
  compare_options.minimise = options.minimise;
  compare_options.command_tail = command_tail(options, common);
  compare_options.measure = options.seconds > 0;
  compare_options.measuring.seconds = options.seconds;
  for (const std::filesystem::path& path : models_of(options.models)) {
    compare_options.progress = [&path, &common](const std::string& what, double fraction) {
      show_progress(common, model_name(path) + ": " + what, fraction);
    };
    report.models.push_back(compare(path, options, common, compare_options));
    show_progress(common, "", 1);
  }
  if (!baseline.is_null()) {
    report.baseline = parity::compare_with_baseline(report, baseline, options.baseline);
  }
  parity::TextOptions text;
  text.per_step = compare_options.per_step;
  text.verbose = common.verbose;
  text.colour = isatty(STDOUT_FILENO) != 0;
  if (options.json != "-") std::cout << parity::to_text(report, text);
  for (const parity::ModelReport& model : report.models) print_errors(model);
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
  command
      ->add_option("--repeat", options->repeat,
                   "Run N times more, on other thread counts and in other places of the batch, "
                   "and compare bit by bit")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
  command->add_flag("--exact", options->exact,
                    "Integers for weights and inputs: steps that have nothing to round must be "
                    "exact");
  command
      ->add_option("--decode", options->decode,
                   "Let a decoder go on for N steps, each with its own caches")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
  command->add_flag("--toggle", options->toggle,
                    "Switch one thing at a time and tell what error each removes, even where all "
                    "is well");
  command
      ->add_option("--minimise", options->minimise,
                   "Write the smallest part of the model that fails in the same way")
      ->type_name("DIR");
  command->add_option("--atol", options->atol, "Absolute tolerance, instead of the budget")
      ->check(number_within(0, 1e300))
      ->type_name("A");
  command->add_option("--rtol", options->rtol, "Relative tolerance, instead of the budget")
      ->check(number_within(0, 1e300))
      ->type_name("R");
  command
      ->add_option("--tolerance", options->tolerance,
                   "Tolerances by output as JSON, instead of the budget: "
                   R"({"logits": {"atol": 1e-4, "rtol": 1e-3}, "*": {...}})")
      ->excludes("--atol")
      ->excludes("--rtol")
      ->type_name("FILE");
  command
      ->add_option("--seconds", options->seconds, "Measured time per backend (default 1; 0: none)")
      ->check(number_within(0, 3600))
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
