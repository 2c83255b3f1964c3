#include "importer/wire_scan.h"

#include <algorithm>
#include <cstring>

#include "graph/error.h"

namespace concord::importer {
namespace {

// The messages on the way to a tensor; every other one is copied as it is.
enum class Message : std::uint8_t {
  other,
  dropped,
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse_tensor,
  function,
  training
};

// Field numbers of onnx-ml.proto.
Message child(Message parent, std::uint32_t field) {
  switch (parent) {
    case Message::model:
      return field == 7    ? Message::graph
             : field == 20 ? Message::training
             : field == 25 ? Message::function
                           : Message::other;
    case Message::training:
      return field == 1 || field == 2 ? Message::graph : Message::other;
    case Message::function:
      return field == 7                  ? Message::node
             : field == 11               ? Message::attribute
             : field == 8 || field == 14 ? Message::dropped
                                         : Message::other;
    case Message::graph:
      return field == 1    ? Message::node
             : field == 5  ? Message::tensor
             : field == 15 ? Message::sparse_tensor
             : field == 16 ? Message::dropped
                           : Message::other;
    case Message::node:
      return field == 5                                ? Message::attribute
             : field == 6 || field == 9 || field == 10 ? Message::dropped
                                                       : Message::other;
    case Message::attribute:
      return field == 5 || field == 10    ? Message::tensor
             : field == 6 || field == 11  ? Message::graph
             : field == 22 || field == 23 ? Message::sparse_tensor
             : field == 13                ? Message::dropped
                                          : Message::other;
    case Message::sparse_tensor:
      return field == 1 || field == 2 ? Message::tensor : Message::other;
    default:
      return Message::other;
  }
}

constexpr std::uint32_t kFloatData = 4;
constexpr std::uint32_t kRawData = 9;
constexpr std::uint32_t kDoubleData = 10;

struct Field {
  std::uint32_t number = 0;
  int wire_type = 0;
  std::size_t begin = 0;  // of the key
  std::size_t value = 0;  // of the value; for wire type 2 of the content
  std::size_t end = 0;
};

class Scanner {
 public:
  Scanner(std::span<const std::byte> bytes, const ImportLimits& limits)
      : bytes_(bytes), limits_(limits) {}

  StrippedProto run(Message root) {
    copy_message(root, 0, bytes_.size(), 0);
    return std::move(result_);
  }

 private:
  [[noreturn]] static void malformed(const std::string& what, std::size_t at) {
    throw Error(ErrorKind::invalid, what + " at byte " + std::to_string(at),
                "the file is cut short or damaged: fetch or export it again");
  }

  std::uint64_t varint(std::size_t& at, std::size_t end) const {
    std::uint64_t value = 0;
    const std::size_t start = at;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= end) malformed("the data ends within a number", start);
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    malformed("a number is too long", start);
  }

  Field next_field(std::size_t at, std::size_t end) const {
    Field field;
    field.begin = at;
    const std::uint64_t key = varint(at, end);
    field.number = static_cast<std::uint32_t>(std::min<std::uint64_t>(key >> 3, UINT32_MAX));
    field.wire_type = static_cast<int>(key & 7);
    if (field.number == 0 || field.number > (1u << 29)) malformed("no protobuf field", field.begin);
    field.value = at;
    std::uint64_t length = 0;
    switch (field.wire_type) {
      case 0:
        varint(at, end);
        field.end = at;
        return field;
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      case 2:
        length = varint(at, end);
        field.value = at;
        break;
      default:
        malformed("no protobuf field", field.begin);
    }
    if (length > end - at) {
      malformed(
          "a field of " + std::to_string(length) + " bytes goes beyond the end of its message",
          field.begin);
    }
    field.end = at + length;
    return field;
  }

  void append(std::size_t begin, std::size_t end) {
    if (static_cast<std::uint64_t>(limits_.structure_bytes) - result_.bytes.size() < end - begin) {
      throw Error(ErrorKind::invalid, "the model without its weights has more than " +
                                          std::to_string(limits_.structure_bytes) + " bytes");
    }
    result_.bytes.append(reinterpret_cast<const char*>(bytes_.data()) + begin, end - begin);
  }

  void append_varint(std::uint64_t value) {
    while (value >= 0x80) {
      result_.bytes.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    result_.bytes.push_back(static_cast<char>(value));
  }

  // A message whose new length is not known yet: its length is written as five bytes, which
  // protobuf reads like any other varint.
  std::size_t open(std::uint32_t number) {
    append_varint(std::uint64_t{number} << 3 | 2);
    result_.bytes.append(5, '\0');
    return result_.bytes.size();
  }
  void close(std::size_t start) {
    std::uint64_t length = result_.bytes.size() - start;
    for (std::size_t i = 0; i < 5; ++i, length >>= 7) {
      result_.bytes[start - 5 + i] = static_cast<char>((length & 0x7f) | (i < 4 ? 0x80 : 0));
    }
  }

  void copy_message(Message kind, std::size_t begin, std::size_t end, std::int64_t depth) {
    if (kind == Message::graph && ++depth > limits_.nesting) {
      throw Error(ErrorKind::invalid, "branch or loop bodies are nested deeper than " +
                                          std::to_string(limits_.nesting));
    }
    if (kind == Message::tensor) return copy_tensor(begin, end);
    // Neighbouring fields that stay as they are, are copied at once.
    std::size_t pending = begin;
    for (std::size_t at = begin; at < end;) {
      const Field field = next_field(at, end);
      at = field.end;
      const Message inner = field.wire_type == 2 ? child(kind, field.number) : Message::other;
      if (inner == Message::other) continue;
      append(pending, field.begin);
      pending = field.end;
      if (inner == Message::dropped) continue;
      const std::size_t start = open(field.number);
      copy_message(inner, field.value, field.end, depth);
      close(start);
    }
    append(pending, end);
  }

  void copy_tensor(std::size_t begin, std::size_t end) {
    Field raw;
    Field typed;
    int raws = 0;
    int typed_runs = 0;
    for (std::size_t at = begin; at < end;) {
      const Field field = next_field(at, end);
      at = field.end;
      if (field.number == kRawData && field.wire_type == 2) {
        raw = field;
        ++raws;
      } else if (field.number == kFloatData || field.number == kDoubleData) {
        typed = field;
        typed_runs += field.wire_type == 2 ? 1 : 2;
      }
    }
    if (raws > 1) malformed("a tensor has its raw_data twice", raw.begin);
    const bool view_typed = raws == 0 && typed_runs == 1;
    for (std::size_t at = begin; at < end;) {
      const Field field = next_field(at, end);
      at = field.end;
      const bool is_raw = raws == 1 && field.begin == raw.begin;
      const bool is_typed = view_typed && field.begin == typed.begin;
      if (!is_raw && !is_typed) {
        append(field.begin, field.end);
        continue;
      }
      const std::uint64_t index = result_.payloads.size();
      result_.payloads.push_back({is_raw                       ? Payload::Kind::raw_data
                                  : field.number == kFloatData ? Payload::Kind::float_data
                                                               : Payload::Kind::double_data,
                                  field.value, field.end - field.value});
      append_varint(kRawData << 3 | 2);
      append_varint(sizeof index);
      result_.bytes.append(reinterpret_cast<const char*>(&index), sizeof index);
    }
  }

  std::span<const std::byte> bytes_;
  const ImportLimits& limits_;
  StrippedProto result_;
};

}  // namespace

StrippedProto strip_payloads(std::span<const std::byte> bytes, ProtoRoot root,
                             const ImportLimits& limits) {
  return Scanner(bytes, limits).run(root == ProtoRoot::model ? Message::model : Message::tensor);
}

std::size_t payload_index(const std::string& raw_data) {
  std::uint64_t index = UINT64_MAX;
  if (raw_data.size() == sizeof index) std::memcpy(&index, raw_data.data(), sizeof index);
  return static_cast<std::size_t>(index);
}

}  // namespace concord::importer
