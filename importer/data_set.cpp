#include <algorithm>
#include <charconv>
#include <functional>

#include "graph/error.h"
#include "importer/npy.h"
#include "importer/tensor_io.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

// N of "prefix" + N + "suffix".
std::optional<int> numbered(const std::string& name, std::string_view prefix,
                            std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return std::nullopt;
  }
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - suffix.size();
  int number = 0;
  const auto [stop, failure] = std::from_chars(begin, end, number);
  return failure == std::errc() && stop == end && number >= 0 ? std::optional(number)
                                                              : std::nullopt;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().filename().string().front() != '.') files.push_back(entry.path());
  }
  if (failure) {
    throw Error(ErrorKind::invalid,
                "cannot read folder " + quote(folder.string()) + ": " + failure.message(),
                "check the path");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string file_name(const std::string& value_name) {
  std::string safe = value_name;
  for (char& c : safe) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!good) c = '_';
  }
  return safe.empty() || safe[0] == '.' ? "_" + safe : safe;
}

std::string names_of(const graph::Graph& graph, const std::vector<graph::ValueId>& values) {
  std::string text;
  for (const graph::ValueId id : values) {
    text += (text.empty() ? "" : ", ") + quote(graph.value(id).name);
  }
  return text.empty() ? "none" : text;
}

// prefix_N.pb in the order of the values, or by the tensors' names where all of them fit.
std::map<std::string, Tensor> read_numbered(const fs::path& folder, std::string_view prefix,
                                            const graph::Graph& graph,
                                            const std::vector<graph::ValueId>& values) {
  std::map<int, NamedTensor> found;
  for (const fs::path& file : files_in(folder)) {
    if (const auto number = numbered(file.filename().string(), prefix, ".pb")) {
      const auto i = static_cast<std::size_t>(*number);
      found[*number] =
          read_pb(file, i < values.size() ? graph.value(values[i]).dtype : DataType::undefined);
    }
  }
  std::map<std::string, Tensor> by_name;
  bool names_fit = true;
  for (const auto& entry : found) {
    const NamedTensor& named = entry.second;
    const bool is_value = std::any_of(values.begin(), values.end(), [&](graph::ValueId id) {
      return graph.value(id).name == named.name;
    });
    names_fit = names_fit && is_value && by_name.emplace(named.name, named.tensor).second;
  }
  if (names_fit) return by_name;
  by_name.clear();
  for (auto& [number, named] : found) {
    if (static_cast<std::size_t>(number) >= values.size()) {
      throw Error(
          ErrorKind::invalid,
          quote((folder / (std::string(prefix) + std::to_string(number) + ".pb")).string()) +
              " belongs to nothing: the model has " +
              counted(static_cast<long long>(values.size()), "value") + " there, numbered from 0",
          "give one file for each of " + names_of(graph, values));
    }
    const graph::ValueId id = values[static_cast<std::size_t>(number)];
    by_name[graph.value(id).name] = std::move(named.tensor);
  }
  return by_name;
}

const graph::Value* value_named(const graph::Graph& graph,
                                const std::vector<graph::ValueId>& values,
                                const std::string& stem) {
  for (const graph::ValueId id : values) {
    if (graph.value(id).name == stem) return &graph.value(id);
  }
  for (const graph::ValueId id : values) {
    if (file_name(graph.value(id).name) == stem) return &graph.value(id);
  }
  return nullptr;
}

// Puts the tensor with the values that its name is one of; false if it is none of them.
bool place(DataSet& set, const graph::Graph& graph, const std::string& stem,
           const std::function<Tensor(DataType)>& read) {
  if (const graph::Value* input = value_named(graph, graph.inputs, stem)) {
    set.inputs[input->name] = read(input->dtype);
    return true;
  }
  if (const graph::Value* output = value_named(graph, graph.outputs, stem)) {
    set.outputs[output->name] = read(output->dtype);
    return true;
  }
  return false;
}

void read_archive(DataSet& set, const fs::path& file, const graph::Graph& graph) {
  for (auto& [name, tensor] : read_npz(file)) {
    const Tensor& found = tensor;
    if (place(set, graph, name, [&](DataType as) { return as_stored(found, as); })) continue;
    throw Error(ErrorKind::invalid,
                quote(file.string()) + ": member " + quote(name) + " is no input or output",
                "the model's inputs are " + names_of(graph, graph.inputs));
  }
}

DataSet read_named(const fs::path& folder, const graph::Graph& graph) {
  DataSet set;
  for (const fs::path& file : files_in(folder)) {
    const std::string extension = file.extension().string();
    const std::string stem = file.stem().string();
    if (extension == ".npz") {
      read_archive(set, file, graph);
      continue;
    }
    if (extension != ".npy" && extension != ".pb") continue;
    const bool known = place(set, graph, stem, [&](DataType as) {
      if (extension == ".npy" && is_container(as)) {
        throw Error(ErrorKind::invalid,
                    quote(file.string()) + " stands for " + std::string(to_string(as)) +
                        ", which .npy cannot hold",
                    "give it as " + stem + ".pb");
      }
      return extension == ".npy" ? read_npy(file, as) : read_pb(file, as).tensor;
    });
    if (!known) {
      throw Error(ErrorKind::invalid,
                  quote(file.string()) + " is named after no input or output of the model",
                  "the model's inputs are " + names_of(graph, graph.inputs));
    }
  }
  return set;
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error(failure == std::errc::no_space_on_device ? ErrorKind::failed : ErrorKind::usage,
                "cannot make folder " + quote(folder.string()) + ": " + failure.message(),
                "write to another place");
  }
}

}  // namespace

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::map<int, fs::path> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto number = numbered(entry.path().filename().string(), "test_data_set_", "");
    if (number && entry.is_directory(failure)) found[*number] = entry.path();
  }
  std::vector<fs::path> sets;
  for (auto& [number, path] : found) sets.push_back(std::move(path));
  return sets;
}

DataSet read_data_set(const fs::path& path, const graph::Graph& graph) {
  std::error_code failure;
  if (!fs::exists(path, failure)) {
    throw Error(ErrorKind::invalid, quote(path.string()) + " does not exist", "check the path");
  }
  DataSet set;
  if (fs::is_regular_file(path, failure)) {
    read_archive(set, path, graph);
  } else {
    const auto files = files_in(path);
    const bool is_numbered = std::any_of(files.begin(), files.end(), [](const fs::path& file) {
      const std::string name = file.filename().string();
      return numbered(name, "input_", ".pb") || numbered(name, "output_", ".pb");
    });
    if (is_numbered) {
      set.inputs = read_numbered(path, "input_", graph, graph.inputs);
      set.outputs = read_numbered(path, "output_", graph, graph.outputs);
    } else {
      set = read_named(path, graph);
    }
  }
  if (set.inputs.size() != graph.inputs.size()) {
    std::string missing;
    for (const graph::ValueId id : graph.inputs) {
      const std::string& name = graph.value(id).name;
      if (!set.inputs.contains(name)) missing += (missing.empty() ? "" : ", ") + quote(name);
    }
    throw Error(ErrorKind::invalid,
                quote(path.string()) + " holds " +
                    counted(static_cast<long long>(set.inputs.size()), "input") +
                    ", the model wants " + std::to_string(graph.inputs.size()) +
                    ": there is none for " + missing,
                "add input_N.pb (numbered from 0 in the model's order) or NAME.npy files");
  }
  return set;
}

std::map<std::string, Tensor> read_outputs(const fs::path& path, const graph::Graph& graph) {
  std::error_code failure;
  if (!fs::exists(path, failure)) {
    throw Error(ErrorKind::invalid, quote(path.string()) + " does not exist", "check the path");
  }
  if (fs::is_regular_file(path, failure)) {
    DataSet set;
    read_archive(set, path, graph);
    return set.outputs;
  }
  const auto files = files_in(path);
  const bool is_numbered = std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    return numbered(file.filename().string(), "output_", ".pb").has_value();
  });
  return is_numbered ? read_numbered(path, "output_", graph, graph.outputs)
                     : read_named(path, graph).outputs;
}

void write_outputs(const fs::path& folder, const graph::Graph& graph,
                   const std::vector<Tensor>& outputs, TensorFormat format) {
  make_folder(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.value(graph.outputs.at(i)).name;
    if (format == TensorFormat::npy && is_container(outputs[i].dtype())) {
      throw Error(ErrorKind::usage,
                  "output " + quote(name) + " is " + std::string(to_string(outputs[i].dtype())) +
                      ", which .npy cannot hold",
                  "write the outputs with --format pb");
    }
    if (format == TensorFormat::npy) {
      write_npy(folder / (file_name(name) + ".npy"), outputs[i]);
    } else {
      write_pb(folder / ("output_" + std::to_string(i) + ".pb"), outputs[i], name);
    }
  }
}

void write_data_set(const fs::path& folder, const graph::Graph& graph,
                    const std::map<std::string, Tensor>& inputs,
                    const std::vector<Tensor>& outputs) {
  make_folder(folder);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.value(graph.inputs[i]).name;
    const auto it = inputs.find(name);
    if (it == inputs.end()) {
      throw Error(ErrorKind::usage, "input " + quote(name) + " is not given",
                  "give a tensor for each of " + names_of(graph, graph.inputs));
    }
    write_pb(folder / ("input_" + std::to_string(i) + ".pb"), it->second, name);
  }
  if (!outputs.empty()) write_outputs(folder, graph, outputs, TensorFormat::pb);
}

}  // namespace concord::importer
