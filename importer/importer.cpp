#include "importer/importer.h"

#include <algorithm>
#include <new>

#include <google/protobuf/arena.h>

#include "graph/text.h"
#include "importer/builder.h"
#include "importer/converter_table.h"
#include "importer/external_data.h"
#include "importer/mapped_file.h"
#include "importer/onnx_proto.h"
#include "importer/tensor_reader.h"
#include "importer/text.h"
#include "importer/wire_scan.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

// What a file is that is no ONNX model, told by its first bytes.
std::string other_format(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min<std::size_t>(bytes.size(), 64));
  const auto starts = [&](std::string_view prefix) { return head.starts_with(prefix); };
  if (starts("version https://git-lfs")) {
    return "it is a Git LFS pointer: fetch the file itself with `git lfs pull`";
  }
  if (starts("PK\x03\x04")) return "it is a zip archive, perhaps of PyTorch: export it to ONNX";
  if (starts("\x89HDF")) return "it is an HDF5 file, perhaps of Keras: export it to ONNX";
  if (starts("\x80\x02") || starts("\x80\x04")) return "it is a Python pickle: export it to ONNX";
  if (starts("GGUF")) return "it is a GGUF file: export the model to ONNX";
  if (starts("<!DOCTYPE") || starts("<html") || starts("<!doctype")) {
    return "it is a web page: the download went wrong";
  }
  if (head.size() >= 8 && head.substr(4, 4) == "ORTM") {
    return "it is onnxruntime's ORT format: save the model as .onnx";
  }
  if (head.size() >= 8 && head.substr(4, 4) == "TFL3") {
    return "it is a TensorFlow Lite file: export the model to ONNX";
  }
  return "give a .onnx file";
}

struct Parsed {
  google::protobuf::Arena arena;
  onnx::ModelProto* model = nullptr;
  std::vector<Payload> payloads;
};

std::unique_ptr<Parsed> parse(const std::shared_ptr<MappedFile>& file, const ImportLimits& limits) {
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.empty()) throw Error(ErrorKind::invalid, "the file is empty", "export it again");
  const auto no_model = [&](const std::string& cause) {
    return Error(ErrorKind::invalid, "it is no ONNX model" + cause, other_format(bytes));
  };
  auto parsed = std::make_unique<Parsed>();
  StrippedProto stripped;
  try {
    stripped = strip_payloads(bytes, ProtoRoot::model, limits);
  } catch (const Error& e) {
    // Field 1, the IR version, comes first in every file that a writer of ONNX has made.
    if (bytes[0] == std::byte{0x08}) throw;
    throw no_model(std::string(": ") + e.what());
  }
  parsed->model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&parsed->arena);
  if (!parsed->model->ParseFromArray(stripped.bytes.data(),
                                     static_cast<int>(stripped.bytes.size()))) {
    throw no_model(" or is damaged");
  }
  if (!parsed->model->has_ir_version() || !parsed->model->has_graph()) {
    throw no_model(parsed->model->has_ir_version() ? ": it has no graph" : "");
  }
  parsed->payloads = std::move(stripped.payloads);
  return parsed;
}

void check_versions(const onnx::ModelProto& model) {
  if (model.ir_version() < 1) {
    throw Error(ErrorKind::invalid, "its IR version is " + std::to_string(model.ir_version()),
                "export it again");
  }
  if (model.ir_version() > kNewestIr) {
    throw Error(ErrorKind::unsupported,
                "its IR version is " + std::to_string(model.ir_version()) +
                    ", newer than the newest known one, " + std::to_string(kNewestIr),
                "export it for an older version, or update this program");
  }
  for (const auto& import : model.opset_import()) {
    if (!import.domain().empty() && import.domain() != "ai.onnx") continue;
    if (import.version() < 1) {
      throw Error(ErrorKind::invalid,
                  "it imports opset " + std::to_string(import.version()) + " of ONNX",
                  "export it again");
    }
    if (import.version() > kNewestOpset) {
      throw Error(ErrorKind::unsupported,
                  "it uses opset " + std::to_string(import.version()) +
                      " of ONNX, newer than the newest known one, " + std::to_string(kNewestOpset),
                  "export it with an opset of " + std::to_string(kNewestOpset) +
                      " or less, or update this program");
    }
  }
}

void fill_info(const onnx::ModelProto& model, ModelInfo& info) {
  info.ir_version = model.ir_version();
  for (const auto& import : model.opset_import()) {
    info.opsets.push_back(
        {import.domain() == "ai.onnx" ? std::string() : printable(import.domain()),
         import.version()});
  }
  std::stable_sort(info.opsets.begin(), info.opsets.end(),
                   [](const OpsetImport& a, const OpsetImport& b) { return a.domain < b.domain; });
  info.producer = model.producer_name();
  if (!model.producer_version().empty()) info.producer += " " + model.producer_version();
  info.producer = printable(info.producer);
  std::string unused;
  for (const OpsetImport& import : info.opsets) {
    const bool is_used =
        import.domain.empty() ||
        std::any_of(info.operators.begin(), info.operators.end(),
                    [&](const OperatorUse& use) { return use.domain == import.domain; }) ||
        std::any_of(model.functions().begin(), model.functions().end(),
                    [&](const auto& function) { return function.domain() == import.domain; });
    if (!is_used) unused += (unused.empty() ? "" : ", ") + import.domain;
  }
  if (!unused.empty()) info.oddities.push_back("domains that are imported and not used: " + unused);
  if (model.training_info_size() > 0) info.oddities.emplace_back("training information, ignored");
}

std::string table(const std::vector<UnsupportedOperator>& rows) {
  std::vector<std::vector<std::string>> cells{{"operator", "opset", "type", "nodes", "reason"}};
  for (const UnsupportedOperator& row : rows) {
    cells.push_back({operator_name(row.domain, row.op), std::to_string(row.opset), row.dtype,
                     std::to_string(row.nodes), row.reason.empty() ? "not known" : row.reason});
  }
  std::vector<std::size_t> widths(cells.front().size(), 0);
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : cells) {
    if (!text.empty()) text += "\n";
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (i + 1 < line.size()) text += std::string(widths[i] - line[i].size() + 2, ' ');
    }
  }
  return text;
}

std::string summary(const std::string& file, const std::vector<UnsupportedOperator>& rows) {
  std::int64_t nodes = 0;
  for (const UnsupportedOperator& row : rows) nodes += row.nodes;
  std::string text = quote(file) + " has " + counted(nodes, "node") + " that " +
                     (nodes == 1 ? "is" : "are") + " not supported: ";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const UnsupportedOperator& row = rows[i];
    if (i != 0) text += "; ";
    text += operator_name(row.domain, row.op) + " (opset " + std::to_string(row.opset) + ", " +
            row.dtype + ", " + counted(row.nodes, "node");
    if (!row.reason.empty()) text += ": " + row.reason;
    text += ")";
  }
  return text;
}

// Names as they will be shown, given on the command line, and found in files, control characters
// escaped; here and nowhere else.
void make_names_printable(graph::Graph& graph) {
  graph.name = printable(graph.name);
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    std::string& name = graph.value(graph::ValueId{static_cast<std::int32_t>(i)}).name;
    name = printable(name);
  }
  for (const graph::NodeId id : graph.order()) {
    graph::Node& node = graph.node(id);
    node.name = printable(node.name);
    for (graph::Graph& body : node.bodies) make_names_printable(body);
  }
}

// Tries again with the narrower branch taken where a rank that depends on a condition is in the
// way. That branch squeezes an axis, and refuses by itself to run where the axis is not 1.
graph::Graph build(const onnx::ModelProto& model, TensorReader& tensors,
                   const ImportOptions& options, ModelInfo& info) {
  Builder::Assumptions assumptions;
  constexpr std::size_t kMostAssumptions = 16;
  std::optional<UnsupportedOperators> first;
  while (true) {
    ModelInfo attempt = info;
    tensors.restart();
    Builder builder(model, tensors, options, attempt, assumptions);
    try {
      graph::Graph graph = builder.build();
      info = std::move(attempt);
      return graph;
    } catch (const UnsupportedOperators& e) {
      if (!first) first = e;
    } catch (const Error&) {
      if (assumptions.empty()) throw;
    }
    const std::size_t before = assumptions.size();
    for (const auto& [node, then] : builder.ambiguous()) assumptions.emplace(node, then);
    if (assumptions.size() == before || before >= kMostAssumptions) throw *first;
  }
}

}  // namespace

UnsupportedOperators::UnsupportedOperators(const std::string& file,
                                           std::vector<UnsupportedOperator> rows)
    : Error(ErrorKind::unsupported, summary(file, rows), table(rows)), rows_(std::move(rows)) {}

fs::path model_file(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status)) {
    throw Error(ErrorKind::invalid, quote(path.string()) + " does not exist",
                "give a .onnx file, or a folder that holds model.onnx");
  }
  if (!fs::is_directory(status)) return path;
  fs::path file = path / "model.onnx";
  if (fs::exists(file, failure)) return file;
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(path, failure)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  if (models.size() == 1) return models.front();
  throw Error(ErrorKind::invalid,
              "folder " + quote(path.string()) + " holds no model.onnx" +
                  (models.empty()
                       ? std::string()
                       : " but " + counted(static_cast<long long>(models.size()), "other model")),
              "name the .onnx file");
}

Imported load(const fs::path& path, const ImportOptions& options) {
  const fs::path file_path = model_file(path);
  const auto file = MappedFile::open(file_path, options.limits.file_bytes);
  try {
    const std::unique_ptr<Parsed> parsed = parse(file, options.limits);
    // The scan has touched a page here and there, and the system has brought in their neighbours.
    file->release(0, file->size());
    check_versions(*parsed->model);
    Imported result;
    result.info.path = file_path;
    result.info.file_bytes = static_cast<std::int64_t>(file->size());
    ExternalData external(file_path.parent_path(), options.external_root,
                          options.limits.file_bytes);
    TensorReader tensors(file, std::move(parsed->payloads), external, options.limits);
    graph::Graph graph = build(*parsed->model, tensors, options, result.info);
    graph::verify(graph);
    make_names_printable(graph);
    result.graph = std::make_shared<const graph::Graph>(std::move(graph));
    fill_info(*parsed->model, result.info);
    result.info.weight_bytes = tensors.bytes_read();
    result.info.external_files = external.locations();
    return result;
  } catch (const UnsupportedOperators&) {
    throw;
  } catch (const Error& e) {
    throw e.with_context(quote(file_path.string()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::failed, quote(file_path.string()) + ": out of memory");
  }
}

}  // namespace concord::importer
