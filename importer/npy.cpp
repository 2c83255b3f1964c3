// NumPy's .npy format, versions 1 to 3: numpy.lib.format.
#include "importer/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "graph/complex.h"
#include "graph/error.h"
#include "importer/file_writer.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void invalid(const std::string& what) {
  throw Error(ErrorKind::invalid, what, "save it again with numpy.save");
}

// The text behind a key of the header's dictionary, up to the key's own end.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) invalid("its header has no '" + std::string(key) + "'");
  std::string_view rest = header.substr(at + key.size() + 2);
  const std::size_t start = rest.find_first_not_of(" :");
  if (start == std::string_view::npos) invalid("its header is cut short");
  return rest.substr(start);
}

DataType type_of(char kind, std::size_t size) {
  switch (kind) {
    case 'b':
      return size == 1 ? DataType::boolean : DataType::undefined;
    case 'f':
      return size == 2   ? DataType::f16
             : size == 4 ? DataType::f32
             : size == 8 ? DataType::f64
                         : DataType::undefined;
    case 'i':
      return size == 1   ? DataType::i8
             : size == 2 ? DataType::i16
             : size == 4 ? DataType::i32
             : size == 8 ? DataType::i64
                         : DataType::undefined;
    case 'u':
    case 'V':
      return size == 1   ? DataType::u8
             : size == 2 ? DataType::u16
             : size == 4 ? DataType::u32
             : size == 8 ? DataType::u64
                         : DataType::undefined;
    case 'c':
      return size == 8 ? DataType::c64 : size == 16 ? DataType::c128 : DataType::undefined;
    default:
      return DataType::undefined;
  }
}

// NumPy's description of a type; those it lacks by their bits.
std::string description(DataType dtype) {
  const int width = std::max(bits(dtype), 8) / 8;
  const bool known_float =
      dtype == DataType::f16 || dtype == DataType::f32 || dtype == DataType::f64;
  char kind = 'u';
  if (dtype == DataType::boolean) kind = 'b';
  if (known_float) kind = 'f';
  if (is_complex(dtype)) kind = 'c';
  if (is_signed_integer(dtype)) kind = 'i';
  return (width == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(width);
}

Shape parse_shape(std::string_view text) {
  Shape shape;
  if (text.empty() || text[0] != '(') invalid("its shape is no tuple");
  std::size_t at = 1;
  while (true) {
    at = text.find_first_not_of(" ,", at);
    if (at == std::string_view::npos) invalid("its shape is cut short");
    if (text[at] == ')') break;
    std::int64_t extent = 0;
    const auto [end, failure] =
        std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (failure != std::errc() || extent < 0 || shape.size() >= 64) invalid("its shape is invalid");
    shape.push_back(extent);
    at = static_cast<std::size_t>(end - text.data());
    if (at < text.size() && text[at] == 'L') ++at;  // of Python 2
  }
  return shape;
}

// Elements in C order and this machine's byte order.
Tensor reordered(const NpyHeader& header, std::span<const std::byte> data) {
  Tensor result(header.dtype, header.shape);
  std::byte* to = result.mutable_data();
  const std::size_t size = header.element;
  const std::int64_t count = result.count();
  const std::size_t rank = header.shape.size();
  Shape index(rank, 0);
  Shape strides(rank, 1);
  for (std::size_t i = 1; i < rank; ++i) strides[i] = strides[i - 1] * header.shape[i - 1];
  std::int64_t from = 0;
  const std::size_t number = is_complex(header.dtype) ? size / 2 : size;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t source = header.fortran_order ? from : i;
    std::byte* at = to + static_cast<std::size_t>(i) * size;
    std::memcpy(at, data.data() + static_cast<std::size_t>(source) * size, size);
    if (header.big_endian) {
      for (std::size_t part = 0; part < size; part += number) {
        std::reverse(at + part, at + part + number);
      }
    }
    for (std::size_t axis = rank; axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < header.shape[axis]) break;
      from -= strides[axis] * header.shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

Tensor packed(const Tensor& tensor, DataType as) {
  Tensor result = Tensor::zeros(as, tensor.shape());
  const int width = bits(as);
  const unsigned mask = (1u << width) - 1u;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const auto value = static_cast<unsigned>(tensor.at_int(i)) & mask;
    result.mutable_data()[i * width / 8] |= static_cast<std::byte>(value << (i * width % 8));
  }
  return result;
}

void check_size(const NpyHeader& header, std::size_t available) {
  std::int64_t wanted = 0;
  if (__builtin_mul_overflow(element_count(header.shape), static_cast<std::int64_t>(header.element),
                             &wanted) ||
      static_cast<std::size_t>(wanted) > available) {
    invalid("it holds " + std::to_string(available) + " bytes of elements, too few for shape " +
            to_string(std::span<const std::int64_t>(header.shape)));
  }
}

bool has_stray_bool(const NpyHeader& header, std::span<const std::byte> data) {
  if (header.dtype != DataType::boolean) return false;
  const auto count = static_cast<std::size_t>(element_count(header.shape));
  return std::any_of(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(count),
                     [](std::byte b) { return std::to_integer<int>(b) > 1; });
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 12) invalid("it is no .npy file");
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  const bool wide = byte(6) >= 2;
  const std::size_t length =
      wide ? byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24 : byte(8) | byte(9) << 8;
  const std::size_t begin = wide ? 12 : 10;
  if (length > text.size() - begin) invalid("its header is cut short");
  const std::string_view header = text.substr(begin, length);

  NpyHeader result;
  result.data_offset = begin + length;
  const std::string_view descr = value_of(header, "descr");
  if (descr.size() < 4 || descr[0] != '\'') invalid("it holds a structured type");
  const std::size_t quote_end = descr.find('\'', 1);
  if (quote_end == std::string_view::npos) invalid("its header is cut short");
  const std::string_view type = descr.substr(1, quote_end - 1);
  if (type.size() < 2) invalid("its type is " + quote(type));
  const std::size_t kind_at = type.find_first_not_of("<>|=");
  if (kind_at == std::string_view::npos) invalid("its type is " + quote(type));
  const char kind = type[kind_at];
  std::from_chars(type.data() + kind_at + 1, type.data() + type.size(), result.element);
  result.dtype = type_of(kind, result.element);
  result.is_opaque = kind == 'V';
  result.big_endian = type[0] == '>' && result.element > 1;
  if (result.dtype == DataType::undefined) {
    invalid("its type " + quote(type) + " has no counterpart in ONNX");
  }
  const std::string_view order = value_of(header, "fortran_order");
  result.fortran_order = order.starts_with("True");
  result.shape = parse_shape(value_of(header, "shape"));
  return result;
}

std::string npy_header(const Tensor& tensor) {
  std::string shape = "(";
  for (std::size_t i = 0; i < tensor.shape().size(); ++i) {
    shape += (i == 0 ? "" : " ") + std::to_string(tensor.shape()[i]) + ",";
  }
  if (tensor.rank() > 1) shape.pop_back();
  shape += ")";
  std::string text = "{'descr': '" + description(tensor.dtype()) +
                     "', 'fortran_order': False, 'shape': " + shape + ", }";
  // The elements begin at a multiple of 64 bytes.
  const std::size_t unpadded = 10 + text.size() + 1;
  text.append((unpadded + 63) / 64 * 64 - unpadded, ' ');
  text += '\n';
  std::string head(kMagic);
  head += '\x01';
  head += '\x00';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

Tensor npy_tensor(const std::shared_ptr<MappedFile>& file, std::size_t offset, std::size_t size,
                  std::optional<DataType> as) {
  const std::span<const std::byte> bytes = file->bytes().subspan(offset, size);
  const NpyHeader header = parse_npy_header(bytes);
  constexpr std::size_t kCopied = 1 << 16;
  if (header.fortran_order || header.big_endian || size <= kCopied) return npy_tensor(bytes, as);
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  check_size(header, data.size());
  if (has_stray_bool(header, data)) invalid("a bool is neither 0 nor 1");
  return as_stored(tensor_in_file(header.dtype, header.shape, file, offset + header.data_offset),
                   as);
}

Tensor npy_tensor(std::span<const std::byte> bytes, std::optional<DataType> as) {
  const NpyHeader header = parse_npy_header(bytes);
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  check_size(header, data.size());
  if (has_stray_bool(header, data)) invalid("a bool is neither 0 nor 1");
  return as_stored(reordered(header, data), as);
}

Tensor as_stored(Tensor tensor, std::optional<DataType> as) {
  if (!as || *as == tensor.dtype() || *as == DataType::string) return tensor;
  const DataType found = tensor.dtype();
  if (is_sub_byte(*as) && (found == DataType::u8 || found == DataType::i8)) {
    return packed(tensor, *as);
  }
  const bool lacking = is_float(*as) && bits(*as) <= 16 && *as != DataType::f16;
  if (lacking && bits(*as) == bits(found) && !is_float(found) && !is_signed_integer(found)) {
    Tensor result(*as, tensor.shape());
    std::memcpy(result.mutable_data(), tensor.in_place(), static_cast<std::size_t>(tensor.bytes()));
    return result;
  }
  return tensor;
}

Tensor unpacked(const Tensor& tensor) {
  if (!is_sub_byte(tensor.dtype())) return tensor;
  const bool is_signed = is_signed_integer(tensor.dtype());
  Tensor result(is_signed ? DataType::i8 : DataType::u8, tensor.shape());
  const int width = bits(tensor.dtype());
  const auto* from = reinterpret_cast<const unsigned char*>(tensor.in_place());
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::int64_t bit = i * width;
    auto raw = static_cast<unsigned>(from[bit / 8] >> (bit % 8)) & ((1u << width) - 1u);
    if (is_signed && (raw >> (width - 1)) != 0) raw |= ~((1u << width) - 1u);
    result.mutable_data()[i] = static_cast<std::byte>(raw & 0xffu);
  }
  return result;
}

Tensor read_npy(const std::filesystem::path& path, std::optional<DataType> as) {
  const auto file = MappedFile::open(path, ImportLimits().file_bytes);
  try {
    return npy_tensor(file, 0, file->size(), as);
  } catch (const Error& e) {
    throw e.with_context(quote(path.string()));
  }
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  if (tensor.dtype() == DataType::string) {
    throw Error(ErrorKind::unsupported, "strings cannot be written to " + quote(path.string()),
                "write .pb files instead");
  }
  const Tensor flat = unpacked(tensor);
  const std::string head = npy_header(tensor);
  const std::string_view parts[] = {
      head,
      {reinterpret_cast<const char*>(flat.in_place()), static_cast<std::size_t>(flat.bytes())}};
  write_parts(path, parts);
}

}  // namespace concord::importer
