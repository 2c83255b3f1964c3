#include "importer/file_writer.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/error.h"
#include "importer/interrupt.h"
#include "importer/tensor_io.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int cause) {
  const bool is_path = cause == ENOENT || cause == ENOTDIR || cause == EISDIR || cause == EACCES ||
                       cause == EPERM || cause == EROFS || cause == ENAMETOOLONG;
  const char* hint = cause == ENOSPC || cause == EDQUOT
                         ? "make room on that disk, or write elsewhere"
                     : cause == ENOENT ? "make the folder first"
                                       : "write to another place";
  throw Error(is_path ? ErrorKind::usage : ErrorKind::failed,
              "cannot write " + quote(path.string()) + ": " + std::strerror(cause), hint);
}

// An open file that vanishes unless it is kept.
class Output {
 public:
  Output(fs::path path, int descriptor, bool temporary)
      : path_(std::move(path)), descriptor_(descriptor), temporary_(temporary) {
    if (temporary_) on_signal_.emplace(path_);
  }
  ~Output() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (temporary_) ::unlink(path_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
  }
  int close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0 ? 0 : errno;
  }
  int rename_to(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
    temporary_ = false;
    on_signal_.reset();
    return 0;
  }

 private:
  fs::path path_;
  int descriptor_;
  bool temporary_;
  std::optional<RemovedOnSignal> on_signal_;
};

}  // namespace

void write_parts(const fs::path& path, std::span<const std::string_view> parts) {
  fs::path target = path;
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, EISDIR);
  const bool direct = exists && !S_ISREG(status.st_mode);
  if (exists && !direct) target = fs::canonical(path);  // a link keeps linking

  static std::atomic<unsigned> counter{0};
  fs::path temporary = target;
  if (!direct) {
    temporary += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  }
  const int flags = direct ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int descriptor = ::open(temporary.c_str(), flags, 0666);
  if (descriptor < 0) fail(path, errno);
  Output output(temporary, descriptor, !direct);
  for (const std::string_view part : parts) {
    if (const int cause = output.write(part)) fail(path, cause);
  }
  if (const int cause = output.close()) fail(path, cause);
  if (direct) return;
  if (exists) ::chmod(temporary.c_str(), status.st_mode & 07777);
  if (const int cause = output.rename_to(target)) fail(path, cause);
}

void write_file(const fs::path& path, std::string_view bytes) {
  write_parts(path, std::span<const std::string_view>(&bytes, 1));
}

}  // namespace concord::importer
