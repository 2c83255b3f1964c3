// Files of a TensorProto, a SequenceProto or an OptionalProto.
#include <limits>
#include <string>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "graph/error.h"
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

// Fields of SequenceProto and OptionalProto, and the numbers of element kinds.
constexpr unsigned kName = 1;
constexpr unsigned kElementKind = 2;
constexpr unsigned kTensors = 3;
constexpr unsigned kSequences = 5;
constexpr unsigned kLastKind = 7;
constexpr std::uint64_t kKindTensor = 1;
constexpr std::uint64_t kKindSequence = 3;

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

// A message within the file.
struct Piece {
  std::size_t offset = 0;
  std::size_t size = 0;
};

class PbReader {
 public:
  explicit PbReader(const std::filesystem::path& path)
      : file_(MappedFile::open(path, limits_.file_bytes)),
        external_(path.parent_path(), {}, limits_.file_bytes) {}

  NamedTensor read(DataType type) {
    const Piece all{0, file_->size()};
    return is_container(type) ? read_container(all, type) : read_tensor(all);
  }

 private:
  NamedTensor read_tensor(Piece piece) {
    StrippedProto stripped = strip_payloads(file_->bytes().subspan(piece.offset, piece.size),
                                            ProtoRoot::tensor, limits_);
    for (Payload& payload : stripped.payloads) payload.offset += piece.offset;
    google::protobuf::Arena arena;
    auto* proto = google::protobuf::Arena::CreateMessage<onnx::TensorProto>(&arena);
    if (!proto->ParseFromArray(stripped.bytes.data(), static_cast<int>(stripped.bytes.size())) ||
        !proto->has_data_type()) {
      throw Error(ErrorKind::invalid, "it holds no tensor", "give a file with a TensorProto");
    }
    TensorReader reader(file_, std::move(stripped.payloads), external_, limits_);
    NamedTensor result{proto->name(), reader.read(*proto)};
    if (result.tensor.dtype() != DataType::string && result.tensor.bytes() <= kCopied) {
      result.tensor = result.tensor.clone();
    }
    return result;
  }

  // A SequenceProto or an OptionalProto: ONNX's schema for data, onnx-data.proto, which has the
  // same field numbers for both.
  NamedTensor read_container(Piece piece, DataType type) {
    const DataType inner = item_type(type);
    NamedTensor result;
    std::vector<Tensor> items;
    for_each_field(piece, [&](unsigned field, Piece content) {
      const auto* bytes = reinterpret_cast<const char*>(file_->bytes().data());
      if (field == kName) result.name.assign(bytes + content.offset, content.size);
      if (field == (is_container(inner) ? kSequences : kTensors)) {
        items.push_back(is_container(inner) ? read_container(content, inner).tensor
                                            : read_tensor(content).tensor);
        return;
      }
      if (field >= kTensors && field <= kLastKind) {
        throw Error(ErrorKind::invalid, "it holds items of another kind than tensors of " +
                                            std::string(to_string(type)));
      }
    });
    if (is_optional(type) && items.size() > 1) {
      throw Error(ErrorKind::invalid,
                  "it holds " + std::to_string(items.size()) + " values for an optional");
    }
    for (const Tensor& item : items) {
      if (item.dtype() == inner) continue;
      throw Error(ErrorKind::invalid, "it holds " + std::string(to_string(item.dtype())) +
                                          " where the model wants " +
                                          std::string(to_string(inner)));
    }
    result.tensor = Tensor::container(type, std::move(items));
    return result;
  }

  // Calls each(field, content) for every field that has a length; skips the others.
  template <typename Each>
  void for_each_field(Piece piece, Each&& each) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(file_->bytes().data()) + piece.offset;
    constexpr std::size_t kMost = std::numeric_limits<int>::max();
    if (piece.size > kMost) throw Error(ErrorKind::invalid, "it is larger than 2 GiB");
    google::protobuf::io::CodedInputStream in(begin, static_cast<int>(piece.size));
    using Wire = google::protobuf::internal::WireFormatLite;
    while (const std::uint32_t tag = in.ReadTag()) {
      if (Wire::GetTagWireType(tag) != Wire::WIRETYPE_LENGTH_DELIMITED) {
        if (!Wire::SkipField(&in, tag)) damaged();
        continue;
      }
      std::uint32_t length = 0;
      if (!in.ReadVarint32(&length)) damaged();
      const auto at = static_cast<std::size_t>(in.CurrentPosition());
      if (length > piece.size - at || !in.Skip(static_cast<int>(length))) damaged();
      each(static_cast<unsigned>(Wire::GetTagFieldNumber(tag)), Piece{piece.offset + at, length});
    }
    if (!in.ConsumedEntireMessage()) damaged();
  }

  [[noreturn]] static void damaged() {
    throw Error(ErrorKind::invalid, "it holds no sequence or optional, or is damaged",
                "give a file with a SequenceProto or an OptionalProto, as the model asks");
  }

  ImportLimits limits_;
  std::shared_ptr<MappedFile> file_;
  ExternalData external_;
};

// Everything of a TensorProto but its raw data.
std::string tensor_head(const Tensor& tensor, const std::string& name) {
  std::string head;
  for (const std::int64_t extent : tensor.shape()) {
    append_key(head, 1, 0);
    append_varint(head, static_cast<std::uint64_t>(extent));
  }
  append_key(head, 2, 0);
  append_varint(head, static_cast<std::uint64_t>(tensor.dtype()));
  if (!name.empty()) append_bytes(head, 8, name);
  if (tensor.dtype() == DataType::string) {
    for (const std::string& text : tensor.strings()) append_bytes(head, 6, text);
  }
  return head;
}

std::string_view raw_data(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.in_place()),
          static_cast<std::size_t>(tensor.bytes())};
}

std::string message(const Tensor& tensor, const std::string& name) {
  if (!is_container(tensor.dtype())) {
    std::string whole = tensor_head(tensor, name);
    if (tensor.dtype() != DataType::string) append_bytes(whole, 9, raw_data(tensor));
    return whole;
  }
  const bool of_sequences = is_container(item_type(tensor.dtype()));
  std::string whole;
  if (!name.empty()) append_bytes(whole, kName, name);
  append_key(whole, kElementKind, 0);
  append_varint(whole, of_sequences ? kKindSequence : kKindTensor);
  for (const Tensor& item : tensor.items()) {
    append_bytes(whole, of_sequences ? kSequences : kTensors, message(item, {}));
  }
  return whole;
}

}  // namespace

NamedTensor read_pb(const std::filesystem::path& path, DataType type) {
  try {
    return PbReader(path).read(type);
  } catch (const Error& e) {
    throw e.with_context(quote(path.string()));
  }
}

void write_pb(const std::filesystem::path& path, const Tensor& tensor, const std::string& name) {
  std::string head;
  std::string_view data;
  if (tensor.dtype() == DataType::string || is_container(tensor.dtype())) {
    head = message(tensor, name);
  } else {
    head = tensor_head(tensor, name);
    data = raw_data(tensor);
    append_key(head, 9, 2);
    append_varint(head, data.size());
  }
  const std::string_view parts[] = {head, data};
  write_parts(path, parts);
}

}  // namespace concord::importer
