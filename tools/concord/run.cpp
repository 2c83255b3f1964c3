#include <cmath>
#include <iostream>

#include <CLI/CLI.hpp>

#include "backends/ranks.h"
#include "backends/session.h"
#include "graph/complex.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "tools/concord/commands.h"
#include "tools/concord/profile.h"

namespace concord::tools {
namespace {

struct Options {
  std::string model;
  std::string backend;
  std::string output;
  std::string format = "pb";
  std::string profile;
  InputOptions inputs;
};

std::string summary(const Tensor& tensor) {
  std::string text = std::string(to_string(tensor.dtype())) + to_string(tensor.shape());
  if (is_container(tensor.dtype())) {
    const char* separator = ": ";
    for (const Tensor& item : tensor.items()) {
      text += separator + summary(item);
      separator = "; ";
    }
    return text;
  }
  if (tensor.dtype() == DataType::string || tensor.count() == 0) return text;
  const Tensor parts = parts_of(tensor);
  double least = INFINITY;
  double most = -INFINITY;
  std::int64_t odd = 0;
  for (std::int64_t i = 0; i < parts.count(); ++i) {
    const double v = parts.at_double(i);
    if (!std::isfinite(v)) {
      ++odd;
      continue;
    }
    least = std::min(least, v);
    most = std::max(most, v);
  }
  char range[96];
  std::snprintf(range, sizeof range, ", %.6g to %.6g", least, most);
  if (odd < parts.count()) text += range;
  if (odd > 0) text += ", " + std::to_string(odd) + " NaN or infinite";
  return text;
}

void run(const Options& options, const CommonOptions& common) {
  check_targets({{"--profile", options.profile}});
  const importer::Imported model = importer::load(options.model, common.import_options());
  const graph::Graph& graph = *model.graph;
  const std::vector<InputCase> cases = input_cases(options.model, graph, options.inputs, false);
  if (cases.size() != 1) {
    throw Error(ErrorKind::usage,
                "run takes one set of sizes, --set gives " + std::to_string(cases.size()),
                "give one size for each dimension, or use concord parity");
  }
  const InputCase& one = cases.front();
  if (!one.generated_text().empty() && !common.quiet) {
    std::cerr << "inputs: " << one.label << one.generated_text() << "\n";
  }
  SessionOptions session_options;
  session_options.allow_fallback = !common.no_fallback;
  session_options.disabled_passes = {common.disabled_passes.begin(), common.disabled_passes.end()};
  if (common.quiet) session_options.log = [](const std::string&) {};
  Session session(with_ranks(model.graph, ranks_of(one.inputs)),
                  common.spec(parse_spec(options.backend)), session_options);
  if (common.verbose) std::cerr << session.describe();
  RunOptions run_options;
  std::vector<SessionStep> steps;
  if (!options.profile.empty()) {
    session.run(one.inputs);  // warm
    run_options.steps = &steps;
  }
  const std::vector<Tensor> outputs = session.run(one.inputs, run_options);
  if (!options.profile.empty()) write_report(options.profile, chrome_trace(session, steps));
  if (!options.output.empty()) {
    importer::write_outputs(
        options.output, graph, outputs,
        options.format == "npy" ? importer::TensorFormat::npy : importer::TensorFormat::pb);
  }
  if (common.quiet) return;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::cout << graph.value(graph.outputs[i]).name << ": " << summary(outputs[i]) << "\n";
  }
}

}  // namespace

void add_run(CLI::App& app, CommonOptions& common, int&) {
  CLI::App* command = app.add_subcommand("run", "Run a model on one backend");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, ".onnx file, or a folder with model.onnx")
      ->required();
  command->add_option("--backend", options->backend, "Such as cpu, cpu:threads=1, vulkan")
      ->type_name("SPEC")
      ->required();
  command->add_option("--output", options->output, "Folder for the outputs")->type_name("DIR");
  command->add_option("--format", options->format, "Of the outputs: pb (default) or npy")
      ->check(CLI::IsMember({"pb", "npy"}));
  command->add_option("--profile", options->profile, "Write a Chrome trace of the steps")
      ->type_name("FILE");
  add_input_options(*command, options->inputs);
  add_common_options(*command, common);
  command->footer("Example: concord run model.onnx --backend cpu --set seq=16 --output out");
  command->callback(
      [options, &common] { about_model(options->model, [&] { run(*options, common); }); });
}

}  // namespace concord::tools
