// NumPy's .npz: a zip archive of .npy files (PKWARE's APPNOTE 6.3, sections 4.3 to 4.5).
#include <algorithm>
#include <cstring>
#include <vector>

#include <zlib.h>

#include "graph/error.h"
#include "importer/file_writer.h"
#include "importer/importer.h"
#include "importer/npy.h"
#include "importer/tensor_io.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

[[noreturn]] void invalid(const std::string& what) {
  throw Error(ErrorKind::invalid, what, "save it again with numpy.savez");
}

// Little-endian numbers at checked positions.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  T at(std::uint64_t offset) const {
    check(offset, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::span<const std::byte> range(std::uint64_t offset, std::uint64_t size) const {
    check(offset, size);
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }
  std::string_view text(std::uint64_t offset, std::uint64_t size) const {
    const auto bytes = range(offset, size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  void check(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) invalid("it is cut short");
  }
  std::span<const std::byte> bytes_;
};

struct Member {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t stored = 0;
  std::uint64_t size = 0;
  std::uint64_t header = 0;  // offset of the local header
};

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint32_t kIn64 = 0xffffffff;

// Sizes and offset that do not fit 32 bits stand in extra field 1, those that are needed only.
void read_extra(const Reader& zip, std::uint64_t at, std::uint64_t size, Member& member) {
  const std::uint64_t end = at + size;
  while (at + 4 <= end) {
    const auto id = zip.at<std::uint16_t>(at);
    const auto length = zip.at<std::uint16_t>(at + 2);
    std::uint64_t value = at + 4;
    at = value + length;
    if (id != 1) continue;
    for (std::uint64_t* field : {&member.size, &member.stored, &member.header}) {
      if (*field != kIn64) continue;
      if (value + 8 > at) invalid("its directory is damaged");
      *field = zip.at<std::uint64_t>(value);
      value += 8;
    }
  }
}

std::vector<Member> directory(const Reader& zip) {
  // The end record stands last, before a comment of at most 65,535 bytes.
  if (zip.size() < 22) invalid("it is no .npz file");
  std::uint64_t end = zip.size() - 22;
  const std::uint64_t lowest = end > 65535 ? end - 65535 : 0;
  while (zip.at<std::uint32_t>(end) != kEnd) {
    if (end == lowest) invalid("it is no .npz file, or is cut short");
    --end;
  }
  std::uint64_t count = zip.at<std::uint16_t>(end + 10);
  std::uint64_t at = zip.at<std::uint32_t>(end + 16);
  if (end >= 20 && zip.at<std::uint32_t>(end - 20) == kLocator64) {
    const auto end64 = zip.at<std::uint64_t>(end - 12);
    if (zip.at<std::uint32_t>(end64) != kEnd64) invalid("its directory is damaged");
    count = zip.at<std::uint64_t>(end64 + 32);
    at = zip.at<std::uint64_t>(end64 + 48);
  }
  std::vector<Member> members;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (zip.at<std::uint32_t>(at) != kCentral) invalid("its directory is damaged");
    Member member;
    if ((zip.at<std::uint16_t>(at + 8) & 1u) != 0) invalid("it is encrypted");
    member.method = zip.at<std::uint16_t>(at + 10);
    member.crc = zip.at<std::uint32_t>(at + 16);
    member.stored = zip.at<std::uint32_t>(at + 20);
    member.size = zip.at<std::uint32_t>(at + 24);
    member.header = zip.at<std::uint32_t>(at + 42);
    const auto name_size = zip.at<std::uint16_t>(at + 28);
    const auto extra_size = zip.at<std::uint16_t>(at + 30);
    const auto comment_size = zip.at<std::uint16_t>(at + 32);
    member.name = zip.text(at + 46, name_size);
    read_extra(zip, at + 46 + name_size, extra_size, member);
    at += 46u + name_size + extra_size + comment_size;
    members.push_back(std::move(member));
  }
  return members;
}

std::vector<std::byte> inflate_member(std::span<const std::byte> from, std::uint64_t size) {
  // Deflate cannot shrink data to less than about a thousandth.
  if (size / 1100 > from.size() + 1) invalid("a member's size is damaged");
  std::vector<std::byte> to(static_cast<std::size_t>(size));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    throw Error(ErrorKind::failed, "out of memory");
  }
  std::size_t read = 0;
  std::size_t written = 0;
  int result = Z_OK;
  constexpr std::size_t kPiece = 1 << 30;
  while (result == Z_OK) {
    const std::size_t in = std::min(kPiece, from.size() - read);
    const std::size_t out = std::min(kPiece, to.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + written);
    stream.avail_out = static_cast<uInt>(out);
    result = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
    if (result == Z_OK && stream.avail_in == in && stream.avail_out == out) break;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || written != to.size()) invalid("a compressed member is damaged");
  return to;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
  uLong crc = crc32(0, nullptr, 0);
  constexpr std::size_t kPiece = 1 << 30;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::size_t size = std::min(kPiece, bytes.size() - at);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(size));
  }
  return static_cast<std::uint32_t>(crc);
}

Tensor read_member(const std::shared_ptr<MappedFile>& file, const Reader& zip,
                   const Member& member) {
  if (zip.at<std::uint32_t>(member.header) != kLocal) invalid("its directory is damaged");
  const std::uint64_t data = member.header + 30u + zip.at<std::uint16_t>(member.header + 26) +
                             zip.at<std::uint16_t>(member.header + 28);
  const std::span<const std::byte> bytes = zip.range(data, member.stored);
  if (member.method == 0) {
    if (checksum(bytes) != member.crc) invalid("a member's checksum is wrong");
    return npy_tensor(file, static_cast<std::size_t>(data), bytes.size(), {});
  }
  if (member.method != 8) invalid("a member is compressed by an unknown method");
  const std::vector<std::byte> inflated = inflate_member(bytes, member.size);
  if (checksum(inflated) != member.crc) invalid("a member's checksum is wrong");
  return npy_tensor(inflated, {});
}

template <typename T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path, ImportLimits().file_bytes);
  std::map<std::string, Tensor> tensors;
  try {
    const Reader zip(file->bytes());
    for (const Member& member : directory(zip)) {
      std::string name = member.name;
      if (name.ends_with(".npy")) name.resize(name.size() - 4);
      try {
        tensors[name] = read_member(file, zip, member);
      } catch (const Error& e) {
        throw e.with_context("member " + quote(member.name));
      }
    }
  } catch (const Error& e) {
    throw e.with_context(quote(path.string()));
  }
  return tensors;
}

void write_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors) {
  // Stored, with sizes of 64 bits where they are needed.
  std::vector<std::string> heads;
  std::vector<Tensor> bodies;
  std::string central;
  std::uint64_t offset = 0;
  for (const auto& [key, tensor] : tensors) {
    if (tensor.dtype() == DataType::string) {
      throw Error(ErrorKind::unsupported, "strings cannot be written to " + quote(path.string()),
                  "write .pb files instead");
    }
    const std::string name = key + ".npy";
    const std::string npy = npy_header(tensor);
    bodies.push_back(unpacked(tensor));
    const std::span<const std::byte> data(bodies.back().in_place(),
                                          static_cast<std::size_t>(bodies.back().bytes()));
    uLong crc = crc32(0, reinterpret_cast<const Bytef*>(npy.data()), static_cast<uInt>(npy.size()));
    crc = crc32_combine(crc, checksum(data), static_cast<z_off_t>(data.size()));
    const std::uint64_t size = npy.size() + data.size();
    const auto common = [&](std::string& to) {
      append<std::uint16_t>(to, 45);     // version needed
      append<std::uint16_t>(to, 0x800);  // names in UTF-8
      append<std::uint16_t>(to, 0);
      append<std::uint32_t>(to, 0x00210000);  // 1 January 1980
      append<std::uint32_t>(to, static_cast<std::uint32_t>(crc));
      append<std::uint32_t>(to, kIn64);
      append<std::uint32_t>(to, kIn64);
      append<std::uint16_t>(to, static_cast<std::uint16_t>(name.size()));
    };
    std::string head;
    append(head, kLocal);
    common(head);
    append<std::uint16_t>(head, 20);
    head += name;
    append<std::uint16_t>(head, 1);
    append<std::uint16_t>(head, 16);
    append(head, size);
    append(head, size);
    const std::uint64_t begin = offset;
    offset += head.size() + size;
    heads.push_back(head + npy);

    append(central, kCentral);
    append<std::uint16_t>(central, 45);
    common(central);
    append<std::uint16_t>(central, 28);
    append<std::uint16_t>(central, 0);
    append<std::uint16_t>(central, 0);
    append<std::uint16_t>(central, 0);
    append<std::uint32_t>(central, 0);
    append<std::uint32_t>(central, kIn64);
    central += name;
    append<std::uint16_t>(central, 1);
    append<std::uint16_t>(central, 24);
    append(central, size);
    append(central, size);
    append(central, begin);
  }
  std::string end;
  const auto count = static_cast<std::uint64_t>(tensors.size());
  append(end, kEnd64);
  append<std::uint64_t>(end, 44);
  append<std::uint16_t>(end, 45);
  append<std::uint16_t>(end, 45);
  append<std::uint32_t>(end, 0);
  append<std::uint32_t>(end, 0);
  append(end, count);
  append(end, count);
  append<std::uint64_t>(end, central.size());
  append(end, offset);
  append(end, kLocator64);
  append<std::uint32_t>(end, 0);
  append<std::uint64_t>(end, offset + central.size());
  append<std::uint32_t>(end, 1);
  append(end, kEnd);
  append<std::uint32_t>(end, 0);
  append<std::uint16_t>(end, 0xffff);
  append<std::uint16_t>(end, 0xffff);
  append<std::uint32_t>(end, kIn64);
  append<std::uint32_t>(end, kIn64);
  append<std::uint16_t>(end, 0);

  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    parts.emplace_back(heads[i]);
    parts.emplace_back(reinterpret_cast<const char*>(bodies[i].in_place()),
                       static_cast<std::size_t>(bodies[i].bytes()));
  }
  parts.emplace_back(central);
  parts.emplace_back(end);
  write_parts(path, parts);
}

}  // namespace concord::importer
