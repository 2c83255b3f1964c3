#include "importer/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "graph/complex.h"
#include "graph/error.h"
#include "importer/onnx_proto.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

constexpr const char* kDamaged = "the file is damaged: fetch or export it again";

[[noreturn]] void invalid(const std::string& what, const char* hint = kDamaged) {
  throw Error(ErrorKind::invalid, what, hint);
}

std::string type_text(DataType dtype, const Shape& shape) {
  return std::string(to_string(dtype)) + to_string(std::span<const std::int64_t>(shape));
}

Shape checked_shape(const onnx::TensorProto& proto, DataType dtype, const ImportLimits& limits) {
  if (proto.dims_size() > limits.rank) {
    invalid("has rank " + std::to_string(proto.dims_size()) + ", more than the limit of " +
            std::to_string(limits.rank));
  }
  Shape shape(proto.dims().begin(), proto.dims().end());
  const std::int64_t count = element_count(shape);
  std::int64_t total_bits = 0;
  const int width = dtype == DataType::string ? 8 : bits(dtype);
  if (__builtin_mul_overflow(count, std::int64_t{width}, &total_bits) ||
      total_bits / 8 > limits.constant_bytes) {
    invalid(type_text(dtype, shape) + " is larger than the limit of " +
            std::to_string(limits.constant_bytes) + " bytes");
  }
  return shape;
}

// C++ gives no meaning to a bool whose byte is neither 0 nor 1.
Tensor clean_bools(Tensor tensor) {
  if (tensor.dtype() != DataType::boolean) return tensor;
  const auto* bytes = reinterpret_cast<const unsigned char*>(tensor.in_place());
  const std::span<const unsigned char> all(bytes, static_cast<std::size_t>(tensor.count()));
  if (std::all_of(all.begin(), all.end(), [](unsigned char b) { return b <= 1; })) return tensor;
  Tensor result(DataType::boolean, tensor.shape());
  auto* to = reinterpret_cast<unsigned char*>(result.mutable_data());
  for (std::size_t i = 0; i < all.size(); ++i) to[i] = all[i] != 0 ? 1 : 0;
  return result;
}

template <typename To, typename Field>
Tensor convert(const Field& field, DataType dtype, Shape shape) {
  Tensor result(dtype, std::move(shape));
  std::byte* to = result.mutable_data();
  for (int i = 0; i < field.size(); ++i) {
    To value;
    if constexpr (std::is_same_v<To, bool>) {
      value = field.Get(i) != 0;
    } else {
      value = static_cast<To>(field.Get(i));
    }
    std::memcpy(to + static_cast<std::size_t>(i) * sizeof(To), &value, sizeof(To));
  }
  return result;
}

// Which typed field holds elements of a type, and how many of its entries make the tensor.
enum class TypedField { floats, doubles, ints32, ints64, uints64, strings };

TypedField typed_field(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
    case DataType::c64:
      return TypedField::floats;
    case DataType::f64:
    case DataType::c128:
      return TypedField::doubles;
    case DataType::i64:
      return TypedField::ints64;
    case DataType::u32:
    case DataType::u64:
      return TypedField::uints64;
    case DataType::string:
      return TypedField::strings;
    default:
      return TypedField::ints32;
  }
}

std::int64_t expected_entries(DataType dtype, std::int64_t count) {
  if (is_complex(dtype)) return 2 * count;
  return is_sub_byte(dtype) ? storage_bytes(dtype, count) : count;
}

}  // namespace

DataType data_type(std::int64_t number) {
  if (number <= 0 || number > static_cast<std::int64_t>(DataType::i2)) {
    invalid("data type number " + std::to_string(number) + " is none of ONNX's",
            "the file is damaged or newer than this program");
  }
  return static_cast<DataType>(number);
}

TensorReader::TensorReader(std::shared_ptr<MappedFile> file, std::vector<Payload> payloads,
                           ExternalData& external, const ImportLimits& limits)
    : file_(std::move(file)),
      payloads_(std::move(payloads)),
      external_(external),
      limits_(limits) {}

void TensorReader::account(std::int64_t bytes, bool decoded) {
  bytes_read_ += bytes;
  if (decoded) bytes_decoded_ += bytes;
  if (bytes_read_ > limits_.constant_bytes) {
    invalid("all weights together are larger than the limit of " +
            std::to_string(limits_.constant_bytes) + " bytes");
  }
  if (bytes_decoded_ > limits_.decoded_bytes) {
    invalid("weights that must be decoded are larger than the limit of " +
                std::to_string(limits_.decoded_bytes) + " bytes",
            "store them as raw data");
  }
}

Tensor TensorReader::read(const onnx::TensorProto& proto) {
  try {
    const DataType dtype = data_type(proto.data_type());
    if (proto.has_segment()) invalid("is stored in segments, which no exporter writes");
    Shape shape = checked_shape(proto, dtype, limits_);
    if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
      return clean_bools(read_external(proto, dtype, std::move(shape)));
    }
    if (proto.has_raw_data()) {
      const std::size_t index = payload_index(proto.raw_data());
      if (index >= payloads_.size()) invalid("has no data");
      if (proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() +
              proto.double_data_size() + proto.uint64_data_size() + proto.string_data_size() >
          0) {
        invalid("has its data twice, raw and typed");
      }
      return clean_bools(read_payload(payloads_[index], dtype, std::move(shape)));
    }
    return read_typed(proto, dtype, std::move(shape));
  } catch (const Error& e) {
    throw e.with_context("tensor " + quote(proto.name()));
  }
}

Tensor TensorReader::read_payload(const Payload& payload, DataType dtype, Shape shape) {
  if (dtype == DataType::string) invalid("holds strings as raw data, which ONNX does not allow");
  const TypedField field = typed_field(dtype);
  if ((payload.kind == Payload::Kind::float_data && field != TypedField::floats) ||
      (payload.kind == Payload::Kind::double_data && field != TypedField::doubles)) {
    invalid(type_text(dtype, shape) + " has its data in a field for another type");
  }
  const std::int64_t wanted = storage_bytes(dtype, element_count(shape));
  if (wanted != static_cast<std::int64_t>(payload.size)) {
    invalid(type_text(dtype, shape) + " needs " + std::to_string(wanted) + " bytes, has " +
            std::to_string(payload.size));
  }
  account(wanted, false);
  return tensor_in_file(dtype, std::move(shape), file_, payload.offset);
}

Tensor TensorReader::read_external(const onnx::TensorProto& proto, DataType dtype, Shape shape) {
  if (dtype == DataType::string)
    invalid("holds strings in external data, which ONNX does not allow");
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
  for (const auto& entry : proto.external_data()) {
    const std::string& text = entry.value();
    const bool is_offset = entry.key() == "offset";
    if (entry.key() == "location") location = text;
    if (!is_offset && entry.key() != "length") continue;
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value < 0) {
      invalid("external data's " + entry.key() + " is " + quote(text) + ", not a number");
    }
    if (is_offset) {
      offset = value;
    } else {
      length = value;
    }
  }
  const std::int64_t wanted = storage_bytes(dtype, element_count(shape));
  if (length && *length != wanted) {
    invalid(type_text(dtype, shape) + " needs " + std::to_string(wanted) +
            " bytes, its external data has " + std::to_string(*length));
  }
  const std::shared_ptr<MappedFile> file = external_.file(location);
  const auto size = static_cast<std::int64_t>(file->size());
  if (offset > size || wanted > size - offset) {
    invalid("external data " + quote(location) + " has " + std::to_string(size) +
                " bytes, too short for " + std::to_string(wanted) + " bytes at offset " +
                std::to_string(offset),
            "the file is cut short: fetch it again");
  }
  account(wanted, false);
  return tensor_in_file(dtype, std::move(shape), file, static_cast<std::size_t>(offset));
}

Tensor TensorReader::read_typed(const onnx::TensorProto& proto, DataType dtype, Shape shape) {
  const std::int64_t count = element_count(shape);
  const TypedField field = typed_field(dtype);
  const std::int64_t found = field == TypedField::floats    ? proto.float_data_size()
                             : field == TypedField::doubles ? proto.double_data_size()
                             : field == TypedField::ints32  ? proto.int32_data_size()
                             : field == TypedField::ints64  ? proto.int64_data_size()
                             : field == TypedField::uints64 ? proto.uint64_data_size()
                                                            : proto.string_data_size();
  const std::int64_t wanted = expected_entries(dtype, count);
  if (found != wanted) {
    invalid(type_text(dtype, shape) + " needs " + counted(wanted, "element") + ", has " +
            std::to_string(found));
  }
  account(storage_bytes(dtype, count), true);
  switch (field) {
    case TypedField::floats:
      return convert<float>(proto.float_data(), dtype, std::move(shape));
    case TypedField::doubles:
      return convert<double>(proto.double_data(), dtype, std::move(shape));
    case TypedField::ints64:
      return convert<std::int64_t>(proto.int64_data(), dtype, std::move(shape));
    case TypedField::uints64:
      return dtype == DataType::u32
                 ? convert<std::uint32_t>(proto.uint64_data(), dtype, std::move(shape))
                 : convert<std::uint64_t>(proto.uint64_data(), dtype, std::move(shape));
    case TypedField::ints32:
      if (dtype == DataType::boolean) {
        return convert<bool>(proto.int32_data(), dtype, std::move(shape));
      }
      if (bits(dtype) == 32) {
        return convert<std::int32_t>(proto.int32_data(), dtype, std::move(shape));
      }
      if (bits(dtype) == 16) {
        return convert<std::uint16_t>(proto.int32_data(), dtype, std::move(shape));
      }
      return convert<std::uint8_t>(proto.int32_data(), dtype, std::move(shape));
    case TypedField::strings:
      break;
  }
  Tensor result(dtype, std::move(shape));
  const std::span<std::string> strings = result.mutable_strings();
  for (std::size_t i = 0; i < strings.size(); ++i)
    strings[i] = proto.string_data(static_cast<int>(i));
  return result;
}

Tensor TensorReader::read(const onnx::SparseTensorProto& proto) {
  const std::string& name = proto.values().name();
  try {
    const Tensor values = read(proto.values());
    const Tensor indices = read(proto.indices());
    Shape shape(proto.dims().begin(), proto.dims().end());
    if (static_cast<std::int64_t>(shape.size()) > limits_.rank) invalid("has too high a rank");
    const std::int64_t count = element_count(shape);
    const int width = bits(values.dtype());
    if (width < 8) invalid("is sparse, of strings or of a packed type", "store it densely");
    const std::int64_t element = width / 8;
    if (count > limits_.decoded_bytes / element) invalid("is larger than the limit");
    account(count * element, true);
    const std::int64_t stored = values.count();
    const auto rank = static_cast<std::int64_t>(shape.size());
    const bool linear = indices.shape() == Shape{stored};
    if (values.rank() != 1 || indices.dtype() != DataType::i64 ||
        (!linear && indices.shape() != Shape{stored, rank})) {
      invalid("is sparse with indices " + type_text(indices.dtype(), indices.shape()) +
              " for values " + type_text(values.dtype(), values.shape()));
    }
    Tensor dense = Tensor::zeros(values.dtype(), shape);
    const Shape strides = contiguous_strides(shape);
    for (std::int64_t i = 0; i < stored; ++i) {
      std::int64_t at = 0;
      if (linear) {
        at = indices.at_int(i);
      } else {
        for (std::int64_t axis = 0; axis < rank; ++axis) {
          const std::int64_t index = indices.at_int(i * rank + axis);
          const auto a = static_cast<std::size_t>(axis);
          if (index < 0 || index >= shape[a]) invalid("is sparse with an index out of range");
          at += index * strides[a];
        }
      }
      if (at < 0 || at >= count) invalid("is sparse with an index out of range");
      std::memcpy(dense.mutable_data() + at * element, values.in_place() + i * element,
                  static_cast<std::size_t>(element));
    }
    return dense;
  } catch (const Error& e) {
    throw e.with_context("sparse tensor " + quote(name));
  }
}

}  // namespace concord::importer
