#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/graph.h"

namespace concord::importer {

// What a model may ask for before it is refused; checked before anything is allocated.
struct ImportLimits {
  std::int64_t file_bytes = std::int64_t{1} << 38;       // of one file, external data included
  std::int64_t structure_bytes = std::int64_t{1} << 30;  // of the model without its weights
  std::int64_t nodes = 2'000'000;                        // inlined functions included
  std::int64_t rank = 64;                                // dimensions of one tensor
  std::int64_t nesting = 24;                             // of branch and loop bodies
  std::int64_t calls = 24;                               // of functions within functions
  std::int64_t constant_bytes = std::int64_t{1} << 36;   // of all weights together
  std::int64_t decoded_bytes = std::int64_t{1} << 33;  // of weights that must be decoded to memory
};

struct ImportOptions {
  // A folder that external data may also lie in, by links too (the Hugging Face cache keeps weights
  // as links to ../../blobs). Without it, only the model's own folder and no links.
  std::optional<std::filesystem::path> external_root;
  // Symbolic dimensions that are to be constants in the imported graph. Throws Error(usage) for a
  // name that the model does not have.
  std::map<std::string, std::int64_t> dims;
  ImportLimits limits;
};

struct OpsetImport {
  std::string domain;  // "" is ONNX's own
  std::int64_t version = 0;
};

// Of one ONNX operator, how often the model uses it (bodies and functions included).
struct OperatorUse {
  std::string domain;
  std::string op;
  std::int64_t opset = 0;
  std::int64_t nodes = 0;
};

// What the file says about itself.
struct ModelInfo {
  std::filesystem::path path;  // the .onnx file
  std::int64_t file_bytes = 0;
  std::int64_t ir_version = 0;
  std::vector<OpsetImport> opsets;   // ONNX's first
  std::string producer;              // "pytorch 2.15.0"
  std::vector<std::string> symbols;  // symbolic dimensions of the inputs, sorted
  std::vector<OperatorUse> operators;
  std::int64_t weight_bytes = 0;            // initialisers and Constant nodes
  std::vector<std::string> external_files;  // as the model names them, sorted
  std::vector<std::string> oddities;        // one plain sentence each, for `inspect`
};

struct Imported {
  std::shared_ptr<const graph::Graph> graph;
  ModelInfo info;
};

// Operators that no converter takes, or takes only in another form.
struct UnsupportedOperator {
  std::string domain;
  std::string op;
  std::int64_t opset = 0;
  std::string dtype;  // of the first node's first typed input, "-" where it is not known
  std::int64_t nodes = 0;
  std::string reason;   // "no such operator in opset 17", "mode 'cubic' on 5-D input"
  std::string example;  // name of the first such node
};

// Every unsupported operator of a model at once; the message is one line, the hint a table.
class UnsupportedOperators : public Error {
 public:
  UnsupportedOperators(const std::string& file, std::vector<UnsupportedOperator> rows);
  const std::vector<UnsupportedOperator>& rows() const { return rows_; }

 private:
  std::vector<UnsupportedOperator> rows_;
};

// The .onnx file that a path given by the user means: itself, or model.onnx in a folder.
std::filesystem::path model_file(const std::filesystem::path& path);

// Reads a .onnx file, or a folder that holds model.onnx, into core operators. Weights stay where
// they lie: the graph's constants view the mapped files. Throws Error(invalid) for what is not a
// sound model, UnsupportedOperators, Error(unsupported) for a model of a future IR or opset.
Imported load(const std::filesystem::path& path, const ImportOptions& options = {});

// Hex SHA-256 of a file (of the .onnx file for a model's identity). Reads all of it: a second or
// so for large models, so it is asked for apart.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace concord::importer
