#include "importer/model_cutter.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "graph/error.h"
#include "importer/external_data.h"
#include "importer/file_writer.h"
#include "importer/importer.h"
#include "importer/node_order.h"
#include "importer/onnx_proto.h"
#include "importer/tensor_reader.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

void fill(const Border& border, onnx::ValueInfoProto& info) {
  info.set_name(border.name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(border.dtype));
  if (!border.shape) return;
  auto* shape = tensor->mutable_shape();
  for (const Dim& dim : *border.shape) {
    auto* to = shape->add_dim();
    if (const auto value = dim.constant()) {
      to->set_dim_value(*value);
      continue;
    }
    // A symbol that only a run of the whole model gave becomes an ordinary one.
    std::string text = dim.to_string();
    std::replace(text.begin(), text.end(), '?', '_');
    to->set_dim_param(text);
  }
}

}  // namespace

struct ModelCutter::State {
  std::shared_ptr<MappedFile> file;
  std::string name;
  onnx::ModelProto model;
  std::vector<FileNode> nodes;
  std::map<std::string, const onnx::TensorProto*> weights;
  std::map<std::string, const onnx::SparseTensorProto*> sparse;
  std::map<std::string, std::size_t> producers;
  ImportLimits limits;
  mutable std::unique_ptr<ExternalData> external;

  // The weight with its elements in the file itself.
  void copy(const onnx::TensorProto& from, onnx::TensorProto& to) const {
    if (from.data_location() != onnx::TensorProto::EXTERNAL) {
      to = from;
      return;
    }
    TensorReader reader(file, {}, *external, limits);
    const Tensor tensor = reader.read(from);
    to.set_name(from.name());
    to.set_data_type(from.data_type());
    *to.mutable_dims() = from.dims();
    to.set_raw_data(tensor.in_place(), static_cast<std::size_t>(tensor.bytes()));
  }
};

ModelCutter::ModelCutter(const std::filesystem::path& path,
                         const std::optional<std::filesystem::path>& external_root)
    : state_(std::make_unique<State>()) {
  state_->name = quote(path.string());
  state_->file = MappedFile::open(path, state_->limits.file_bytes);
  const std::span<const std::byte> bytes = state_->file->bytes();
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !state_->model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(ErrorKind::invalid, state_->name + " cannot be cut: it is damaged or too large",
                "keep its weights in external files");
  }
  state_->external =
      std::make_unique<ExternalData>(path.parent_path(), external_root, state_->limits.file_bytes);
  FreeNames free;
  for (const auto& node : state_->model.graph().node()) {
    FileNode one;
    one.name = node.name();
    one.op = operator_name(node.domain(), node.op_type());
    one.inputs = free.read_by(node);
    one.outputs.assign(node.output().begin(), node.output().end());
    one.is_constant = node.op_type() == "Constant" && one.inputs.empty();
    for (const std::string& output : one.outputs) {
      if (!output.empty()) state_->producers[output] = state_->nodes.size();
    }
    state_->nodes.push_back(std::move(one));
  }
  for (const auto& tensor : state_->model.graph().initializer()) {
    state_->weights[tensor.name()] = &tensor;
  }
  for (const auto& tensor : state_->model.graph().sparse_initializer()) {
    state_->sparse[tensor.values().name()] = &tensor;
  }
}

ModelCutter::~ModelCutter() = default;

const std::vector<FileNode>& ModelCutter::nodes() const {
  return state_->nodes;
}

bool ModelCutter::is_weight(const std::string& name) const {
  return state_->weights.contains(name) || state_->sparse.contains(name);
}

void ModelCutter::write(const std::filesystem::path& path, std::span<const std::size_t> nodes,
                        std::span<const Border> inputs, std::span<const Border> outputs,
                        std::span<const NamedTensor> frozen) const {
  std::set<std::size_t> kept(nodes.begin(), nodes.end());
  std::set<std::string> read;
  for (const Border& output : outputs) read.insert(output.name);
  for (const std::size_t node : nodes) {
    read.insert(state_->nodes.at(node).inputs.begin(), state_->nodes.at(node).inputs.end());
  }
  std::set<std::string> given;
  for (const Border& input : inputs) given.insert(input.name);
  for (const NamedTensor& value : frozen) given.insert(value.name);
  for (const std::string& name : read) {
    const auto it = state_->producers.find(name);
    if (it != state_->producers.end() && state_->nodes[it->second].is_constant &&
        !given.contains(name)) {
      kept.insert(it->second);
    }
  }
  onnx::ModelProto part;
  part.set_ir_version(state_->model.ir_version());
  part.set_producer_name("concord");
  *part.mutable_opset_import() = state_->model.opset_import();
  *part.mutable_functions() = state_->model.functions();
  auto* graph = part.mutable_graph();
  graph->set_name(state_->model.graph().name());
  for (const std::size_t node : kept) {
    *graph->add_node() = state_->model.graph().node(static_cast<int>(node));
  }
  for (const std::string& name : read) {
    if (given.contains(name)) continue;
    if (const auto it = state_->weights.find(name); it != state_->weights.end()) {
      state_->copy(*it->second, *graph->add_initializer());
    }
    if (const auto it = state_->sparse.find(name); it != state_->sparse.end()) {
      *graph->add_sparse_initializer() = *it->second;
    }
  }
  for (const NamedTensor& value : frozen) {
    auto* to = graph->add_initializer();
    to->set_name(value.name);
    to->set_data_type(static_cast<int>(value.tensor.dtype()));
    for (const std::int64_t extent : value.tensor.shape()) to->add_dims(extent);
    to->set_raw_data(value.tensor.in_place(), static_cast<std::size_t>(value.tensor.bytes()));
  }
  for (const Border& input : inputs) fill(input, *graph->add_input());
  for (const Border& output : outputs) fill(output, *graph->add_output());
  std::string bytes;
  if (part.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !part.SerializeToString(&bytes)) {
    throw Error(ErrorKind::failed,
                "the part cut out of " + state_->name + " is too large for one file");
  }
  const std::string_view all[] = {bytes};
  write_parts(path, all);
}

}  // namespace concord::importer
