#include "importer/mapped_file.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/error.h"
#include "importer/descriptor.h"

namespace concord::importer {
namespace {

static_assert(std::endian::native == std::endian::little,
              "files hold little-endian numbers, and weights are used where they lie");

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// Elements that do not lie at a multiple of their size.
class UnalignedStorage final : public Storage {
 public:
  UnalignedStorage(std::shared_ptr<MappedFile> file, std::size_t offset, std::size_t size)
      : file_(std::move(file)), offset_(offset), size_(size) {}

  std::byte* data() override {
    std::call_once(once_, [this] {
      copy_ = allocate_storage(size_);
      std::memcpy(copy_->data(), in_place(), size_);
      release(0, size_);
    });
    return copy_->data();
  }
  const std::byte* in_place() override { return file_->data() + offset_; }
  std::size_t size() const override { return size_; }
  bool writable() const override { return false; }
  void release(std::size_t offset, std::size_t bytes) override {
    file_->release(offset_ + offset, bytes);
  }

 private:
  std::shared_ptr<MappedFile> file_;
  std::size_t offset_;
  std::size_t size_;
  std::once_flag once_;
  std::shared_ptr<Storage> copy_;
};

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path,
                                             std::int64_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int cause = errno;
    throw Error(ErrorKind::invalid, "cannot read '" + path.string() + "': " + std::strerror(cause),
                cause == ENOENT ? "check the path" : "check the file and its permissions");
  }
  return adopt(descriptor, path.string(), limit);
}

std::shared_ptr<MappedFile> MappedFile::adopt(int descriptor, const std::string& name,
                                              std::int64_t limit) {
  const Descriptor owner(descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw Error(ErrorKind::invalid, "cannot read '" + name + "': " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::invalid, "'" + name + "' is not a regular file");
  }
  if (status.st_size > limit) {
    throw Error(ErrorKind::invalid, "'" + name + "' has " + std::to_string(status.st_size) +
                                        " bytes, more than the limit of " + std::to_string(limit));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<MappedFile>(new MappedFile(nullptr, 0));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) {
    throw Error(ErrorKind::failed, "cannot map '" + name + "': " + std::strerror(errno));
  }
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<std::byte*>(address), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void MappedFile::release(std::size_t offset, std::size_t bytes) {
  const std::size_t page = page_size();
  const std::size_t begin = (offset + page - 1) / page * page;
  const std::size_t end = (offset + bytes) / page * page;
  // Only whole pages: the neighbours belong to other tensors. Failure costs memory, nothing else.
  if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

Tensor tensor_in_file(DataType dtype, Shape shape, const std::shared_ptr<MappedFile>& file,
                      std::size_t offset) {
  const std::int64_t count = element_count(shape);
  if (count == 0) return Tensor(dtype, std::move(shape));
  const auto size = static_cast<std::size_t>(storage_bytes(dtype, count));
  const auto element = static_cast<std::size_t>(bits(dtype)) / 8;
  const std::size_t alignment = element >= 8 ? 8 : element == 0 ? 1 : element;
  if (offset % alignment == 0) return Tensor(dtype, std::move(shape), file, offset);
  return Tensor(dtype, std::move(shape), std::make_shared<UnalignedStorage>(file, offset, size), 0);
}

}  // namespace concord::importer
