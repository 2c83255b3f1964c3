#include <iostream>
#include <map>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "backends/ranks.h"
#include "backends/session.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "parity/inputs.h"
#include "tools/concord/commands.h"

namespace concord::tools {
namespace {

struct Options {
  std::string model;
  std::string backend;
  std::string json;
  std::vector<std::string> set;
  bool dump = false;
};

using nlohmann::json;

json value_json(const graph::Graph& graph, graph::ValueId id, const Bindings& dims) {
  const graph::Value& value = graph.value(id);
  json shape = json::array();
  if (value.shape) {
    for (const Dim& dim : *value.shape) {
      if (const auto extent = dim.evaluate(dims)) {
        shape.push_back(*extent);
      } else {
        shape.push_back(dim.to_string());
      }
    }
  }
  json result = {{"name", value.name}, {"dtype", std::string(to_string(value.dtype))}};
  if (value.shape) result["shape"] = shape;
  return result;
}

std::string value_line(const graph::Graph& graph, graph::ValueId id, const Bindings& dims) {
  const json v = value_json(graph, id, dims);
  std::string text = "  " + v["name"].get<std::string>() + ": " + v["dtype"].get<std::string>();
  if (!v.contains("shape")) return text + " [any rank]";
  text += " [";
  for (std::size_t i = 0; i < v["shape"].size(); ++i) {
    const json& extent = v["shape"][i];
    text += (i ? ", " : "") + (extent.is_string() ? extent.get<std::string>() : extent.dump());
  }
  return text + "]";
}

json to_json(const importer::Imported& model, const Bindings& dims) {
  const importer::ModelInfo& info = model.info;
  json opsets = json::object();
  for (const importer::OpsetImport& o : info.opsets) {
    opsets[o.domain.empty() ? "ai.onnx" : o.domain] = o.version;
  }
  json operators = json::array();
  for (const importer::OperatorUse& use : info.operators) {
    operators.push_back({{"domain", use.domain.empty() ? "ai.onnx" : use.domain},
                         {"op", use.op},
                         {"opset", use.opset},
                         {"nodes", use.nodes}});
  }
  json inputs = json::array();
  json outputs = json::array();
  for (const graph::ValueId id : model.graph->inputs) {
    inputs.push_back(value_json(*model.graph, id, dims));
  }
  for (const graph::ValueId id : model.graph->outputs) {
    outputs.push_back(value_json(*model.graph, id, dims));
  }
  return {{"schema", 1},
          {"model",
           {{"path", info.path.string()},
            {"file_bytes", info.file_bytes},
            {"weight_bytes", info.weight_bytes},
            {"ir_version", info.ir_version},
            {"producer", info.producer},
            {"opsets", opsets},
            {"symbols", info.symbols},
            {"external_files", info.external_files}}},
          {"inputs", inputs},
          {"outputs", outputs},
          {"operators", operators},
          {"oddities", info.oddities}};
}

void print(const importer::Imported& model, const Bindings& dims) {
  const importer::ModelInfo& info = model.info;
  std::cout << info.path.string() << "\n";
  std::cout << "made by " << (info.producer.empty() ? "(not said)" : info.producer) << ", IR "
            << info.ir_version << ", opsets";
  for (const importer::OpsetImport& o : info.opsets) {
    std::cout << " " << (o.domain.empty() ? "ai.onnx" : o.domain) << ":" << o.version;
  }
  std::cout << "\nweights " << info.weight_bytes << " bytes";
  if (!info.external_files.empty()) {
    std::cout << " (external files: " << info.external_files.size() << ")";
  }
  std::cout << "\ninputs:\n";
  for (const graph::ValueId id : model.graph->inputs) {
    std::cout << value_line(*model.graph, id, dims) << "\n";
  }
  std::cout << "outputs:\n";
  for (const graph::ValueId id : model.graph->outputs) {
    std::cout << value_line(*model.graph, id, dims) << "\n";
  }
  std::cout << "operators:\n";
  for (const importer::OperatorUse& use : info.operators) {
    std::cout << "  " << (use.domain.empty() ? "" : use.domain + ".") << use.op << "-" << use.opset
              << ": " << use.nodes << "\n";
  }
  if (info.oddities.empty()) return;
  std::cout << "odd:\n";
  for (const std::string& oddity : info.oddities) std::cout << "  " << oddity << "\n";
}

void inspect(const Options& options, const CommonOptions& common) {
  check_targets({{"--json", options.json}});
  const importer::Imported model = importer::load(options.model, common.import_options());
  const std::vector<Bindings> sets = parse_set(options.set);
  if (sets.size() != 1) {
    throw Error(ErrorKind::usage, "inspect takes one size for each dimension");
  }
  const Bindings dims =
      sets.front().empty() ? Bindings{} : parity::choose_dims(*model.graph, sets.front());
  if (options.json != "-") print(model, dims);
  if (options.dump) std::cout << graph::dump(*model.graph);
  const graph::Value* open = input_of_any_rank(*model.graph);
  if (!options.backend.empty() && open != nullptr) {
    throw Error(ErrorKind::usage,
                "how a backend would run it depends on the rank of input '" + open->name + "'",
                "leave out --backend, or use concord run --verbose with inputs");
  }
  if (!options.backend.empty()) {
    SessionOptions session_options;
    session_options.allow_fallback = !common.no_fallback;
    session_options.disabled_passes = {common.disabled_passes.begin(),
                                       common.disabled_passes.end()};
    session_options.log = [](const std::string&) {};
    const Session session(model.graph, common.spec(parse_spec(options.backend)), session_options);
    if (options.json != "-") {
      std::cout << "on " << options.backend << ":\n" << session.describe();
      if (options.dump) std::cout << graph::dump(session.optimised());
    }
  }
  if (!options.json.empty())
    write_report(
        options.json,
        to_json(model, dims).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_inspect(CLI::App& app, CommonOptions& common, int&) {
  CLI::App* command = app.add_subcommand("inspect", "What a model is, needs and holds");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, ".onnx file, or a folder with model.onnx")
      ->required();
  command->add_option("--set", options->set, "Sizes of symbolic dimensions")
      ->type_name("DIM=N")
      ->take_all();
  command->add_option("--backend", options->backend, "Also say how this backend would run it")
      ->type_name("SPEC");
  command->add_flag("--dump", options->dump, "Also print the graph's text form");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  add_common_options(*command, common);
  command->footer("Example: concord inspect model.onnx --backend vulkan");
  command->callback(
      [options, &common] { about_model(options->model, [&] { inspect(*options, common); }); });
}

}  // namespace concord::tools
