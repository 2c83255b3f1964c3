#include "parity/spool.h"

#include <array>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/error.h"

namespace concord::parity {
namespace {

constexpr std::uint64_t kAlignment = 64;

class MappedFile final : public Storage {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0) {
      if (fd >= 0) ::close(fd);
      throw Error(ErrorKind::failed, "cannot read spooled tensors from " + path.string());
    }
    size_ = static_cast<std::size_t>(info.st_size);
    if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    if (data_ == MAP_FAILED) {
      data_ = nullptr;
      throw Error(ErrorKind::failed, "cannot map spooled tensors in " + path.string());
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() override {
    if (data_ != nullptr) munmap(data_, size_);
  }
  std::byte* data() override { return static_cast<std::byte*>(data_); }
  std::size_t size() const override { return size_; }
  bool writable() const override { return false; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

SpoolWriter::SpoolWriter(const std::filesystem::path& file)
    : path_(file), out_(file, std::ios::binary | std::ios::trunc) {
  if (!out_) throw Error(ErrorKind::failed, "cannot write " + file.string());
}

nlohmann::json SpoolWriter::add(const Tensor& tensor) {
  nlohmann::json description = {{"dtype", std::string(to_string(tensor.dtype()))},
                                {"shape", tensor.shape()}};
  if (tensor.dtype() == DataType::string) {
    description["strings"] =
        std::vector<std::string>(tensor.strings().begin(), tensor.strings().end());
    return description;
  }
  if (is_container(tensor.dtype())) {
    description["items"] = nlohmann::json::array();
    for (const Tensor& item : tensor.items()) description["items"].push_back(add(item));
    return description;
  }
  static constexpr std::array<char, kAlignment> zeros{};
  const std::uint64_t padding = (kAlignment - offset_ % kAlignment) % kAlignment;
  out_.write(zeros.data(), static_cast<std::streamsize>(padding));
  offset_ += padding;
  description["offset"] = offset_;
  if (tensor.bytes() > 0) {
    out_.write(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  }
  offset_ += static_cast<std::uint64_t>(tensor.bytes());
  if (!out_) {
    throw Error(ErrorKind::failed, "cannot write " + path_.string() + ": the disk may be full",
                "free some space, or set TMPDIR to a folder on another disk");
  }
  return description;
}

void SpoolWriter::close() {
  out_.close();
  if (!out_) {
    throw Error(ErrorKind::failed, "cannot write " + path_.string() + ": the disk may be full",
                "free some space, or set TMPDIR to a folder on another disk");
  }
}

SpoolReader::SpoolReader(const std::filesystem::path& file)
    : storage_(std::make_shared<MappedFile>(file)) {}

Tensor SpoolReader::get(const nlohmann::json& description) const {
  const auto dtype = parse_dtype(description.at("dtype").get<std::string>());
  const auto shape = description.at("shape").get<Shape>();
  if (!dtype) throw Error(ErrorKind::failed, "internal: spooled tensor of unknown type");
  if (*dtype == DataType::string) {
    Tensor result(DataType::string, shape);
    const auto strings = description.at("strings").get<std::vector<std::string>>();
    std::copy(strings.begin(), strings.end(), result.mutable_strings().begin());
    return result;
  }
  if (is_container(*dtype)) {
    std::vector<Tensor> items;
    for (const nlohmann::json& item : description.at("items")) items.push_back(get(item));
    return Tensor::container(*dtype, std::move(items));
  }
  return Tensor(*dtype, shape, storage_, description.at("offset").get<std::size_t>());
}

}  // namespace concord::parity
