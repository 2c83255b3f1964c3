#include "tools/concord/options.h"

#include <charconv>
#include <ctime>
#include <iostream>

#include <unistd.h>

#include "backends/registry.h"
#include "backends/session.h"
#include "graph/error.h"
#include "importer/tensor_io.h"
#include "parity/inputs.h"

namespace concord::tools {
namespace {

std::int64_t parse_extent(const std::string& word, const std::string& number) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || value < 0) {
    throw Error(ErrorKind::usage, "--set " + word + ": '" + number + "' is not a size",
                "write --set DIM=N or DIM=N,N for several sizes");
  }
  return value;
}

std::string label_of(const Bindings& dims) {
  std::string label;
  for (const auto& [name, extent] : dims) {
    label += (label.empty() ? "" : " ") + name + "=" + std::to_string(extent);
  }
  return label.empty() ? "fixed sizes" : label;
}

std::vector<Tensor> in_order(const graph::Graph& graph, const std::map<std::string, Tensor>& named,
                             const std::string& from) {
  std::vector<Tensor> inputs;
  std::set<std::string> left;
  for (const auto& [name, tensor] : named) left.insert(name);
  std::string known;
  for (const graph::ValueId id : graph.inputs) {
    const std::string& name = graph.value(id).name;
    known += (known.empty() ? "" : ", ") + name;
    const auto it = named.find(name);
    if (it == named.end()) {
      throw Error(ErrorKind::usage, from + " has no input '" + name + "'",
                  "give a tensor for each of the model's inputs");
    }
    inputs.push_back(it->second);
    left.erase(name);
  }
  if (!left.empty()) {
    throw Error(ErrorKind::usage, from + ": the model has no input '" + *left.begin() + "'",
                "its inputs are " + known);
  }
  return inputs;
}

Bindings bindings_of(const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  check_inputs(graph, inputs);
  Bindings dims;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs[i]);
    if (value.shape) static_cast<void>(bind_shape(*value.shape, inputs[i].shape(), dims));
  }
  return dims;
}

Tensor read_one(const std::filesystem::path& path, const std::string& name,
                const graph::Graph& graph) {
  if (path.extension() == ".pb") return importer::read_pb(path).tensor;
  std::optional<DataType> as;
  for (const graph::ValueId id : graph.inputs) {
    if (graph.value(id).name == name) as = graph.value(id).dtype;
  }
  return importer::read_npy(path, as);
}

InputCase case_from_files(const graph::Graph& graph, const InputOptions& options) {
  InputCase result;
  std::map<std::string, Tensor> named;
  for (const std::string& word : options.inputs) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && !std::filesystem::exists(word)) {
      const std::string name = word.substr(0, equals);
      named[name] = read_one(word.substr(equals + 1), name, graph);
    } else {
      importer::DataSet set = importer::read_data_set(word, graph);
      named.merge(set.inputs);
      result.expected.merge(set.outputs);
    }
    result.label += (result.label.empty() ? "" : " ") + word;
  }
  result.inputs = in_order(graph, named, result.label);
  result.dims = bindings_of(graph, result.inputs);
  return result;
}

}  // namespace

importer::ImportOptions CommonOptions::import_options() const {
  importer::ImportOptions options;
  if (!external_root.empty()) options.external_root = external_root;
  return options;
}

BackendSpec CommonOptions::spec(const BackendSpec& written) const {
  std::string text = written.text;
  const auto add = [&text](const std::string& key, const std::string& value) {
    if (value.empty() || text.find(key + "=") != std::string::npos) return;
    text += (text.find(':') == std::string::npos ? ":" : ",") + key + "=" + value;
  };
  if (threads > 0) add("threads", std::to_string(threads));
  if (written.backend == "cpu") add("isa", isa);
  return parse_spec(text);
}

parity::WorkerJob CommonOptions::job(const std::filesystem::path& model,
                                     const std::string& spec_text) const {
  parity::WorkerJob result;
  result.model = model;
  result.spec = spec_text;
  if (!external_root.empty()) result.external_root = external_root;
  result.disabled_passes.insert(disabled_passes.begin(), disabled_passes.end());
  result.allow_fallback = !no_fallback;
  return result;
}

std::vector<Bindings> parse_set(const std::vector<std::string>& words) {
  std::vector<Bindings> combinations = {{}};
  for (const std::string& word : words) {
    const std::size_t equals = word.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "--set " + word + " is not DIM=N",
                  "for example --set batch=1 --set seq=16,128");
    }
    const std::string name = word.substr(0, equals);
    std::vector<std::int64_t> extents;
    std::size_t start = equals + 1;
    while (true) {
      const std::size_t end = word.find(',', start);
      extents.push_back(parse_extent(word, word.substr(start, end - start)));
      if (end == std::string::npos) break;
      start = end + 1;
    }
    std::vector<Bindings> next;
    for (const Bindings& before : combinations) {
      for (const std::int64_t extent : extents) {
        Bindings more = before;
        if (const auto it = more.find(name); it != more.end() && it->second != extent) {
          throw Error(ErrorKind::usage, "--set gives '" + name + "' twice",
                      "for several sizes write --set " + name + "=N,N");
        }
        more[name] = extent;
        next.push_back(std::move(more));
      }
    }
    combinations = std::move(next);
  }
  return combinations;
}

std::vector<InputCase> input_cases(const std::filesystem::path& model, const graph::Graph& graph,
                                   const InputOptions& options, bool all_data_sets) {
  if (!options.inputs.empty()) {
    if (!options.set.empty()) {
      throw Error(ErrorKind::usage, "--inputs and --set together: the files decide the sizes",
                  "leave out one of the two");
    }
    return {case_from_files(graph, options)};
  }
  std::vector<InputCase> cases;
  if (options.set.empty() && std::filesystem::is_directory(model)) {
    for (const std::filesystem::path& folder : importer::data_sets(model)) {
      importer::DataSet set = importer::read_data_set(folder, graph);
      InputCase one;
      one.label = folder.filename().string();
      one.inputs = in_order(graph, set.inputs, folder.string());
      one.dims = bindings_of(graph, one.inputs);
      one.expected = std::move(set.outputs);
      cases.push_back(std::move(one));
      if (!all_data_sets) break;
    }
    if (!cases.empty()) return cases;
  }
  for (const Bindings& set : parse_set(options.set)) {
    InputCase one;
    one.dims = parity::choose_dims(graph, set);
    one.label = label_of(one.dims);
    one.inputs = parity::generate_inputs(graph, one.dims, options.seed);
    one.generated = true;
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<BackendSpec> chosen_backends(const std::string& list, const CommonOptions& common,
                                         std::vector<std::string>& skipped) {
  std::vector<BackendSpec> specs;
  if (!list.empty()) {
    for (const BackendSpec& spec : parse_specs(list)) {
      require_known(spec.backend);
      specs.push_back(common.spec(spec));
    }
    return specs;
  }
  for (const BackendStatus& status : list_backends()) {
    if (status.name == "reference") continue;
    if (status.available) {
      specs.push_back(common.spec(parse_spec(status.name)));
    } else {
      skipped.push_back(status.name + ": " + status.reason);
    }
  }
  return specs;
}

std::vector<BackendSpec> in_precisions(const std::vector<BackendSpec>& specs,
                                       const std::vector<std::string>& precisions) {
  if (precisions.empty()) return specs;
  std::vector<BackendSpec> result;
  for (const BackendSpec& spec : specs) {
    if (spec.text.find("precision=") != std::string::npos) {
      result.push_back(spec);
      continue;
    }
    const std::string separator = spec.text.find(':') == std::string::npos ? ":" : ",";
    for (const std::string& precision : precisions) {
      result.push_back(parse_spec(spec.text + separator + "precision=" + precision));
    }
  }
  return result;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

void show_progress(const CommonOptions& common, const std::string& what, double fraction) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal || common.quiet) return;
  std::cerr << "\r\033[K";
  if (!what.empty()) std::cerr << what << " " << static_cast<int>(fraction * 100) << "%";
  std::cerr << std::flush;
}

void write_report(const std::string& target, const std::string& text) {
  if (target != "-") {
    importer::write_file(target, text);
    return;
  }
  std::cout << text << std::flush;
  if (!std::cout) throw Error(ErrorKind::failed, "cannot write to the standard output");
}

}  // namespace concord::tools
