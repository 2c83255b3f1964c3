#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/dim.h"
#include "graph/dtype.h"
#include "importer/tensor_io.h"

// Cuts a part out of an ONNX file and writes it as a model of its own: the nodes as the exporter
// wrote them, with the weights, functions and opsets that they need.
namespace concord::importer {

// A node of the file's own graph (not of bodies or functions).
struct FileNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;  // what it reads, its bodies' captures included; no omitted ones
  std::vector<std::string> outputs;  // omitted ones are empty
  bool is_constant = false;          // a Constant node: follows the nodes that read it
};

// A value on the border of a part.
struct Border {
  std::string name;
  DataType dtype = DataType::undefined;
  std::optional<SymShape> shape;  // nullopt: the file does not say
};

class ModelCutter {
 public:
  // Parses the whole file, weights included. Throws Error as load does.
  explicit ModelCutter(const std::filesystem::path& file,
                       const std::optional<std::filesystem::path>& external_root = {});
  ~ModelCutter();
  ModelCutter(const ModelCutter&) = delete;
  ModelCutter& operator=(const ModelCutter&) = delete;

  const std::vector<FileNode>& nodes() const;
  // Whether a name is a weight, which comes along by itself.
  bool is_weight(const std::string& name) const;

  // Writes the part that consists of `nodes` (indices into nodes(), in any order). `frozen` values
  // become weights of the part. External data is written into the file. Throws Error(failed) if
  // that makes it larger than protobuf can hold.
  void write(const std::filesystem::path& file, std::span<const std::size_t> nodes,
             std::span<const Border> inputs, std::span<const Border> outputs,
             std::span<const NamedTensor> frozen) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace concord::importer
