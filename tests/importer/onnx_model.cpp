#include "tests/importer/onnx_model.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "backends/reference/evaluate_graph.h"
#include "graph/dim.h"

namespace concord::importer {

namespace fs = std::filesystem;

onnx::TensorProto tensor_proto(const std::string& name, const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const std::int64_t extent : tensor.shape()) proto.add_dims(extent);
  if (tensor.dtype() == DataType::string) {
    for (const std::string& text : tensor.strings()) proto.add_string_data(text);
  } else {
    proto.set_raw_data(tensor.data(), static_cast<std::size_t>(tensor.bytes()));
  }
  return proto;
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}

GraphText& GraphText::input(const std::string& name, DataType dtype,
                            const std::vector<Extent>& dims) {
  auto* info = proto_.add_input();
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(dtype));
  auto* shape = type->mutable_shape();
  for (const Extent& extent : dims) {
    auto* dim = shape->add_dim();
    if (const auto* number = std::get_if<std::int64_t>(&extent)) {
      dim->set_dim_value(*number);
    } else if (!std::get<std::string>(extent).empty()) {
      dim->set_dim_param(std::get<std::string>(extent));
    }
  }
  return *this;
}

GraphText& GraphText::output(const std::string& name) {
  proto_.add_output()->set_name(name);
  return *this;
}

GraphText& GraphText::initializer(const std::string& name, const Tensor& tensor) {
  *proto_.add_initializer() = tensor_proto(name, tensor);
  return *this;
}

void fill_node(onnx::NodeProto& node, const std::string& op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, const std::vector<Attr>& attrs,
               const std::string& domain) {
  node.set_op_type(op);
  node.set_domain(domain);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  for (const Attr& attr : attrs) {
    auto* proto = node.add_attribute();
    proto->set_name(attr.name);
    proto->set_ref_attr_name(attr.reference);
    using Type = onnx::AttributeProto;
    struct Fill {
      onnx::AttributeProto* p;
      void operator()(std::int64_t v) const { p->set_type(Type::INT), p->set_i(v); }
      void operator()(float v) const { p->set_type(Type::FLOAT), p->set_f(v); }
      void operator()(const std::string& v) const { p->set_type(Type::STRING), p->set_s(v); }
      void operator()(const std::vector<std::int64_t>& v) const {
        p->set_type(Type::INTS);
        for (const std::int64_t i : v) p->add_ints(i);
      }
      void operator()(const std::vector<float>& v) const {
        p->set_type(Type::FLOATS);
        for (const float f : v) p->add_floats(f);
      }
      void operator()(const std::vector<std::string>& v) const {
        p->set_type(Type::STRINGS);
        for (const std::string& s : v) p->add_strings(s);
      }
      void operator()(const Tensor& v) const {
        p->set_type(Type::TENSOR);
        *p->mutable_t() = tensor_proto("", v);
      }
      void operator()(const onnx::GraphProto& v) const {
        p->set_type(Type::GRAPH);
        *p->mutable_g() = v;
      }
    };
    std::visit(Fill{proto}, attr.value);
  }
}

GraphText& GraphText::node(const std::string& op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const std::vector<Attr>& attrs,
                           const std::string& domain) {
  auto* node = proto_.add_node();
  fill_node(*node, op, inputs, outputs, attrs, domain);
  node->set_name("n" + std::to_string(proto_.node_size()));
  return *this;
}

OnnxModel& OnnxModel::import(const std::string& domain, std::int64_t version) {
  domains_[domain] = version;
  return *this;
}

onnx::ModelProto OnnxModel::model() {
  onnx::ModelProto model;
  model.set_ir_version(ir_);
  model.set_producer_name("test");
  auto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(opset_);
  for (const auto& [domain, version] : domains_) {
    auto* other = model.add_opset_import();
    other->set_domain(domain);
    other->set_version(version);
  }
  *model.mutable_graph() = proto();
  return model;
}

fs::path scratch() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  fs::path folder = fs::temp_directory_path() / ("concord_importer_test." + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Imported import_bytes(const std::string& bytes, const ImportOptions& options) {
  static fs::path file;
  static const void* test = nullptr;
  const void* current = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test != current) file = scratch() / "model.onnx";
  test = current;
  write(file, bytes);
  return load(file, options);
}

Imported import(OnnxModel& model, const ImportOptions& options) {
  return import_bytes(model.bytes(), options);
}

std::string nodes_of(const graph::Graph& graph, const std::vector<std::string>& hidden) {
  std::string text;
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (i != 0) text += ", ";
      if (!node.outputs[i].valid()) {
        text += "-";
        continue;
      }
      const graph::Value& value = graph.value(node.outputs[i]);
      text += value.name + ": " + std::string(to_string(value.dtype)) +
              (value.shape ? to_string(std::span<const Dim>(*value.shape)) : "[?]");
    }
    text += " = " + std::string(to_string(node.op)) + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (i != 0) text += ", ";
      text += node.inputs[i].valid() ? graph.value(node.inputs[i]).name : "-";
    }
    text += ")";
    std::string attrs;
    for (const auto& [name, value] : node.attrs) {
      if (std::find(hidden.begin(), hidden.end(), name) != hidden.end()) continue;
      attrs += (attrs.empty() ? "" : ", ") + name + "=" + graph::to_string(value);
    }
    if (!attrs.empty()) text += " {" + attrs + "}";
    text += "\n";
  }
  // Dynamic extents are numbered through the life of the process.
  return std::regex_replace(text, std::regex("\\?[a-z]*[0-9]+"), "?");
}

std::vector<Tensor> evaluate(const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  Bindings bindings;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value& value = graph.value(graph.inputs.at(i));
    if (!value.shape) continue;
    const auto problem = bind_shape(*value.shape, inputs[i].shape(), bindings);
    EXPECT_FALSE(problem) << value.name << " " << *problem;
  }
  std::vector<Tensor> outputs;
  for (auto& value : reference::evaluate_graph(graph, std::span<const Tensor>(inputs), bindings)) {
    outputs.push_back(value.rounded());
  }
  return outputs;
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.count(); ++i) values.push_back(tensor.at_double(i));
  return values;
}

void expect_parts(const Caught& error, ErrorKind kind, const std::vector<std::string>& parts) {
  EXPECT_EQ(exit_code(error.kind), exit_code(kind)) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  for (const std::string& part : parts) {
    EXPECT_NE(error.message.find(part), std::string::npos)
        << "'" << part << "' is not in: " << error.message;
  }
}

}  // namespace concord::importer
