#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "importer/model_cutter.h"
#include "importer/tensor_io.h"
#include "parity/report.h"
#include "parity/spool.h"
#include "parity/worker.h"

namespace concord::parity {

// The values that the oracle gives to everything in a model, in their declared types, spooled to a
// file in `folder`.
class OracleValues {
 public:
  OracleValues(const graph::Graph& imported, const std::vector<Tensor>& inputs,
               const std::filesystem::path& folder);
  std::optional<Tensor> find(const std::string& name) const;
  const Bindings& bindings() const { return bindings_; }

 private:
  std::map<std::string, Tensor> values_;
  Bindings bindings_;
};

// Makes parts of a model: ONNX nodes with the oracle's values on their borders.
class PartMaker {
 public:
  PartMaker(std::shared_ptr<const graph::Graph> imported, const WorkerJob& job,
            const std::vector<Tensor>& inputs, const std::filesystem::path& scratch);

  using Nodes = std::set<std::size_t>;  // indices of the file's nodes
  // Nodes of the file that a step of the optimised graph stands for.
  Nodes members(const graph::Graph& optimised, const StepReport& step) const;
  Nodes all() const;  // but Constant nodes
  // With the nodes next to them, before and behind.
  Nodes grown(const Nodes& nodes) const;

  struct Part {
    Nodes nodes;
    Bindings sizes;      // of symbols that are set anew
    bool fixed = false;  // inputs' shapes are numbers, as those are that became weights
  };
  // Writes model.onnx and test_data_set_0 to a folder. False if there is no such part: a border
  // whose value is not known.
  bool write(const Part& part, const std::filesystem::path& folder) const;
  // Symbols of the borders' shapes with their sizes.
  Bindings symbols(const Nodes& nodes) const;

 private:
  struct Borders {
    Nodes nodes;
    std::vector<importer::Border> inputs;
    std::vector<importer::Border> outputs;
    std::vector<std::string> frozen;
  };
  std::optional<Borders> borders(const Nodes& nodes) const;
  const graph::Value* value(const std::string& name) const;
  std::optional<Tensor> sized(const std::string& name, const Bindings& sizes) const;

  std::shared_ptr<const graph::Graph> imported_;
  importer::ModelCutter cutter_;
  OracleValues values_;
  std::map<std::string, std::size_t> producers_;
  std::map<std::string, std::vector<std::size_t>> readers_;
  std::map<std::string, graph::ValueId> ids_;
};

}  // namespace concord::parity
