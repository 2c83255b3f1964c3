// TensorProto files.
#include <string>

#include <google/protobuf/arena.h>

#include "graph/error.h"
#include "graph/text.h"
#include "importer/file_writer.h"
#include "importer/onnx_proto.h"
#include "importer/tensor_io.h"
#include "importer/tensor_reader.h"
#include "importer/text.h"
#include "importer/wire_scan.h"

namespace concord::importer {
namespace {

// Below this a tensor is copied, so that the file need not stay mapped.
constexpr std::int64_t kCopied = 1 << 16;

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void append_key(std::string& to, unsigned field, unsigned wire_type) {
  append_varint(to, field << 3 | wire_type);
}

void append_bytes(std::string& to, unsigned field, std::string_view bytes) {
  append_key(to, field, 2);
  append_varint(to, bytes.size());
  to += bytes;
}

}  // namespace

NamedTensor read_pb(const std::filesystem::path& path) {
  const ImportLimits limits;
  const auto file = MappedFile::open(path, limits.file_bytes);
  try {
    StrippedProto stripped = strip_payloads(file->bytes(), ProtoRoot::tensor, limits);
    google::protobuf::Arena arena;
    auto* proto = google::protobuf::Arena::CreateMessage<onnx::TensorProto>(&arena);
    if (!proto->ParseFromArray(stripped.bytes.data(), static_cast<int>(stripped.bytes.size())) ||
        !proto->has_data_type()) {
      throw Error(ErrorKind::invalid, "it holds no tensor", "give a file with a TensorProto");
    }
    ExternalData external(path.parent_path(), {}, limits.file_bytes);
    TensorReader reader(file, std::move(stripped.payloads), external, limits);
    NamedTensor result{printable(proto->name()), reader.read(*proto)};
    if (result.tensor.dtype() != DataType::string && result.tensor.bytes() <= kCopied) {
      result.tensor = result.tensor.clone();
    }
    return result;
  } catch (const Error& e) {
    throw e.with_context(quote(path.string()));
  }
}

void write_pb(const std::filesystem::path& path, const Tensor& tensor, const std::string& name) {
  std::string head;
  for (const std::int64_t extent : tensor.shape()) {
    append_key(head, 1, 0);
    append_varint(head, static_cast<std::uint64_t>(extent));
  }
  append_key(head, 2, 0);
  append_varint(head, static_cast<std::uint64_t>(tensor.dtype()));
  if (!name.empty()) append_bytes(head, 8, name);
  std::string_view data;
  if (tensor.dtype() == DataType::string) {
    for (const std::string& text : tensor.strings()) append_bytes(head, 6, text);
  } else {
    data = {reinterpret_cast<const char*>(tensor.in_place()),
            static_cast<std::size_t>(tensor.bytes())};
    append_key(head, 9, 2);
    append_varint(head, data.size());
  }
  const std::string_view parts[] = {head, data};
  write_parts(path, parts);
}

}  // namespace concord::importer
