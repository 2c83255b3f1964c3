#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "graph/error.h"
#include "importer/importer.h"
#include "importer/onnx_proto.h"

namespace concord::importer {

using Extent = std::variant<std::int64_t, std::string>;

// An attribute of a node.
struct Attr {
  using Value =
      std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                   std::vector<std::string>, Tensor, onnx::GraphProto>;
  std::string name;
  Value value;
  std::string reference;  // to an attribute of the enclosing function

  Attr(std::string n, int v) : name(std::move(n)), value(std::int64_t{v}) {}
  Attr(std::string n, double v) : name(std::move(n)), value(static_cast<float>(v)) {}
  Attr(std::string n, const char* v) : name(std::move(n)), value(std::string(v)) {}
  Attr(std::string n, Value v) : name(std::move(n)), value(std::move(v)) {}
  static Attr refer(std::string n, std::string to) {
    Attr attr(std::move(n), 0);
    attr.reference = std::move(to);
    return attr;
  }
};
using Ints = std::vector<std::int64_t>;

onnx::TensorProto tensor_proto(const std::string& name, const Tensor& tensor);
Tensor floats(Shape shape, const std::vector<float>& values);

// Builds a graph, of a model or of a body.
class GraphText {
 public:
  GraphText() { proto_.set_name("test"); }
  GraphText& input(const std::string& name, DataType dtype, const std::vector<Extent>& dims);
  GraphText& output(const std::string& name);
  GraphText& initializer(const std::string& name, const Tensor& tensor);
  GraphText& node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const std::vector<Attr>& attrs = {},
                  const std::string& domain = "");
  onnx::GraphProto& proto() { return proto_; }

 private:
  onnx::GraphProto proto_;
};
void fill_node(onnx::NodeProto& node, const std::string& op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, const std::vector<Attr>& attrs,
               const std::string& domain);

// A model of one graph.
class OnnxModel : public GraphText {
 public:
  explicit OnnxModel(std::int64_t opset, std::int64_t ir = 8) : opset_(opset), ir_(ir) {}
  OnnxModel& import(const std::string& domain, std::int64_t version);
  onnx::ModelProto model();
  std::string bytes() { return model().SerializeAsString(); }

 private:
  std::int64_t opset_;
  std::int64_t ir_;
  std::map<std::string, std::int64_t> domains_;
};

// A folder of this test's own, emptied.
std::filesystem::path scratch();
void write(const std::filesystem::path& path, const std::string& bytes);
std::string read(const std::filesystem::path& path);

Imported import_bytes(const std::string& bytes, const ImportOptions& options = {});
Imported import(OnnxModel& model, const ImportOptions& options = {});

// The nodes, a line each: "y: float32[2, 3] = unary(x) {alpha=0, beta=0, fn=\"relu\"}", attributes
// that are listed in `hidden` left out.
std::string nodes_of(const graph::Graph& graph, const std::vector<std::string>& hidden = {});

// Outputs of the oracle.
std::vector<Tensor> evaluate(const graph::Graph& graph, const std::vector<Tensor>& inputs);
std::vector<double> numbers(const Tensor& tensor);

// The error that the call throws; a failure if it throws none.
struct Caught {
  ErrorKind kind = ErrorKind::usage;
  std::string message;
  std::string hint;
};
template <typename Call>
Caught caught(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.kind(), e.what(), e.hint()};
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}
void expect_parts(const Caught& error, ErrorKind kind, const std::vector<std::string>& parts);

}  // namespace concord::importer
