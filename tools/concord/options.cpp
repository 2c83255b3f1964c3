#include "tools/concord/options.h"

#include <charconv>
#include <ctime>
#include <iostream>

#include <unistd.h>

#include "backends/check_input.h"
#include "backends/ranks.h"
#include "backends/registry.h"
#include "backends/session.h"
#include "graph/error.h"
#include "graph/text.h"
#include "importer/some_inputs.h"
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

Bindings checked_dims(const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  check_inputs(graph, inputs);
  return bindings_of(graph, inputs);
}

// The other inputs are generated, with sizes that fit those that are given.
void generate_rest(const graph::Graph& graph, const InputOptions& options,
                   std::map<std::string, Tensor>& named, InputCase& result) {
  Bindings dims;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.value(id);
    const auto it = named.find(value.name);
    if (it == named.end()) {
      result.generated_inputs.push_back(value.name);
    } else {
      check_input(graph, value, it->second, dims);
    }
  }
  if (result.generated_inputs.empty()) return;
  dims = parity::choose_dims(graph, dims);
  const std::vector<Tensor> all = parity::generate_inputs(graph, dims, options.seed);
  for (std::size_t i = 0; i < all.size(); ++i)
    named.emplace(graph.value(graph.inputs[i]).name, all[i]);
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
    if (std::error_code failure;
        equals != std::string::npos && !std::filesystem::exists(word, failure)) {
      const std::string name = printable(word.substr(0, equals));
      if (!named.emplace(name, read_one(word.substr(equals + 1), name, graph)).second) {
        throw Error(ErrorKind::usage, "--inputs gives '" + name + "' twice", "leave one of them");
      }
    } else {
      importer::DataSet set = importer::read_some_inputs(word, graph);
      named.merge(set.inputs);
      result.expected.merge(set.outputs);
    }
    result.label += (result.label.empty() ? "" : " ") + word;
  }
  generate_rest(graph, options, named, result);
  result.inputs = in_order(graph, named, result.label);
  result.dims = checked_dims(graph, result.inputs);
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
  if (written.backend == "reference") return parse_spec(text);
  if (threads > 0) add("threads", std::to_string(threads));
  add("isa", isa);
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
  // Each is a case of its own, whose inputs are kept until it has run.
  constexpr std::size_t kMostCombinations = 1024;
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
    if (extents.size() > kMostCombinations / combinations.size()) {
      throw Error(ErrorKind::usage,
                  "--set gives " + std::to_string(combinations.size()) + " × " +
                      std::to_string(extents.size()) + " combinations of sizes, more than " +
                      std::to_string(kMostCombinations),
                  "give fewer sizes, or several commands a part of them each");
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
  if (std::error_code failure;
      options.set.empty() && std::filesystem::is_directory(model, failure)) {
    for (const std::filesystem::path& folder : importer::data_sets(model)) {
      importer::DataSet set = importer::read_data_set(folder, graph);
      InputCase one;
      one.label = folder.filename().string();
      one.inputs = in_order(graph, set.inputs, folder.string());
      one.dims = checked_dims(graph, one.inputs);
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

std::string InputCase::generated_text() const {
  if (generated) return " (generated inputs)";
  std::string text;
  for (const std::string& name : generated_inputs) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "" : " (generated: " + text + ")";
}

void check_targets(std::initializer_list<Target> targets) {
  namespace fs = std::filesystem;
  std::map<std::string, const char*> taken;
  for (const auto& [option, file] : targets) {
    if (file.empty()) continue;
    std::error_code failure;
    const fs::path path(file);
    const fs::path full = file == "-" ? path : fs::weakly_canonical(path, failure);
    const std::string place = failure ? file : full.string();
    if (const auto [it, fresh] = taken.emplace(place, option); !fresh) {
      throw Error(ErrorKind::usage,
                  std::string(it->second) + " and " + option + " both write to " +
                      (file == "-" ? "the standard output" : "'" + file + "'"),
                  "give each a file of its own");
    }
    if (file == "-") continue;
    if (fs::is_directory(path, failure)) {
      throw Error(ErrorKind::usage, std::string(option) + " '" + file + "' is a folder",
                  "name a file in it");
    }
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (!fs::is_directory(folder, failure)) {
      throw Error(ErrorKind::usage,
                  std::string("cannot write ") + option + " '" + file + "': there is no folder '" +
                      folder.string() + "'",
                  "make the folder first");
    }
  }
}

Error about_model(const Error& error, const std::filesystem::path& model) {
  const std::string path = printable(model.string());
  if (std::string_view(error.what()).find(path) != std::string_view::npos) return error;
  return error.with_context("'" + path + "'");
}

void about_model(const std::filesystem::path& model, const std::function<void()>& work) {
  try {
    work();
  } catch (const importer::UnsupportedOperators&) {
    throw;
  } catch (const Error& error) {
    throw about_model(error, model);
  } catch (const std::bad_alloc&) {
    throw about_model(caught_error(), model);
  }
}

Error caught_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::failed, "out of memory", "use smaller sizes (--set) or a machine with more"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ErrorKind::usage, "'" + error.path1().string() + "': " + error.code().message(),
            "check the path"};
  } catch (const std::exception& error) {
    return {ErrorKind::failed, std::string("internal: ") + error.what(),
            "please report this, with the command and the model"};
  }
}

namespace {

// For errors whose place knows nothing better.
std::string hint_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "see concord --help";
    case ErrorKind::invalid:
      return "check the model and its inputs; concord inspect shows what the model wants";
    case ErrorKind::unsupported:
      return "try another backend, or export the model with other operators or types";
    case ErrorKind::diverged:
    case ErrorKind::slower:
      return "see the report";
    case ErrorKind::failed:
      break;
  }
  return "see concord devices for what this machine has";
}

}  // namespace

int print_error(const Error& error) {
  // A table's lines are lines; all else that moves the cursor is not.
  const auto print = [](const char* before, std::string_view text) {
    std::cerr << before;
    for (std::size_t start = 0;;) {
      const std::size_t end = text.find('\n', start);
      std::cerr << printable(text.substr(start, end - start)) << "\n";
      if (end == std::string_view::npos) return;
      start = end + 1;
    }
  };
  print("concord: error: ", error.what());
  print("hint: ", error.hint().empty() ? hint_of(error.kind()) : error.hint());
  return exit_code(error.kind());
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
  if (!std::cout) {
    throw Error(ErrorKind::failed, "cannot write to the standard output",
                "see whether its disk is full or its reader has gone");
  }
}

}  // namespace concord::tools
