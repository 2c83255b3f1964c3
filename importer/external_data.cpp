#include "importer/external_data.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "graph/error.h"
#include "importer/text.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLinkHint =
    "if that is meant (the Hugging Face cache does it), allow the folder with --external-root DIR";

struct Folder {
  explicit Folder(const fs::path& path)
      : descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  ~Folder() {
    if (descriptor >= 0) ::close(descriptor);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  int descriptor;
};

// For kernels and sandboxes without openat2: one component after the other, no links.
int open_by_components(int folder, const fs::path& relative) {
  int current = ::dup(folder);
  for (auto part = relative.begin(); part != relative.end() && current >= 0; ++part) {
    if (*part == "." || part->empty()) continue;
    if (*part == "..") {
      ::close(current);
      errno = EXDEV;
      return -1;
    }
    const bool last = std::next(part) == relative.end();
    const int flags = last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    const int next = ::openat(current, part->c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    int cause = errno;
    // O_PATH | O_NOFOLLOW | O_DIRECTORY on a link says ENOTDIR.
    if (next < 0 && !last && cause == ENOTDIR) cause = ELOOP;
    ::close(current);
    errno = cause;
    current = next;
  }
  return current;
}

int open_no_links(int folder, const fs::path& relative) {
  struct open_how how {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long descriptor = ::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM || errno == E2BIG)) {
    return open_by_components(folder, relative);
  }
  return static_cast<int>(descriptor);
}

[[noreturn]] void refuse(const std::string& location, const std::string& why,
                         const std::string& hint) {
  throw Error(ErrorKind::invalid, "external data " + quote(location) + " " + why, hint);
}

}  // namespace

ExternalData::ExternalData(fs::path folder, std::optional<fs::path> root, std::int64_t file_limit)
    : folder_(folder.empty() ? fs::path(".") : std::move(folder)),
      root_(std::move(root)),
      file_limit_(file_limit) {}

std::vector<std::string> ExternalData::locations() const {
  std::vector<std::string> names;
  for (const auto& [location, file] : files_) names.push_back(location);
  return names;
}

std::shared_ptr<MappedFile> ExternalData::file(const std::string& location) {
  if (const auto it = files_.find(location); it != files_.end()) return it->second;
  if (location.empty() || location.find('\0') != std::string::npos) {
    refuse(location, "is no file name", "the model is damaged: export it again");
  }
  const int descriptor = open_beneath(location);
  auto opened = MappedFile::adopt(descriptor, (folder_ / location).string(), file_limit_);
  files_.emplace(location, opened);
  return opened;
}

int ExternalData::open_beneath(const std::string& location) const {
  if (fs::path(location).is_absolute()) {
    refuse(location, "has an absolute path",
           "a model may name files in its own folder only: export it again with relative names");
  }
  const Folder folder(folder_);
  if (folder.descriptor < 0) {
    refuse(location, "cannot be looked up in '" + folder_.string() + "': " + std::strerror(errno),
           "check the folder and its permissions");
  }
  const int descriptor = open_no_links(folder.descriptor, location);
  if (descriptor >= 0) return descriptor;
  const int cause = errno;
  const bool outside = cause == EXDEV;
  const bool link = cause == ELOOP;
  if (root_ && (outside || link)) return open_below_root(location);
  if (outside) refuse(location, "lies outside the model's folder", kLinkHint);
  if (link) refuse(location, "is a link, or lies behind one", kLinkHint);
  if (cause == ENOENT) {
    refuse(location, "is missing from '" + folder_.string() + "'",
           "fetch it too: the model keeps its weights there");
  }
  refuse(location, std::string("cannot be read: ") + std::strerror(cause),
         "check the file and its permissions");
}

int ExternalData::open_below_root(const std::string& location) const {
  std::error_code failure;
  const fs::path root = fs::canonical(*root_, failure);
  if (failure) {
    throw Error(ErrorKind::usage,
                "--external-root '" + root_->string() + "' is no folder: " + failure.message(),
                "give the folder that the weights lie in");
  }
  const fs::path target = fs::canonical(folder_ / location, failure);
  if (failure) {
    refuse(location, "cannot be read: " + failure.message(), "check the file that it links to");
  }
  const fs::path relative = target.lexically_relative(root);
  if (relative.empty() || *relative.begin() == "..") {
    refuse(location, "links to '" + target.string() + "', outside --external-root",
           "give a folder that holds it");
  }
  // Opened anew below the root without following links, so that nothing can be swapped in between.
  const Folder folder(root);
  const int descriptor = folder.descriptor < 0 ? -1 : open_no_links(folder.descriptor, relative);
  if (descriptor < 0) {
    refuse(location, std::string("cannot be read: ") + std::strerror(errno),
           "check the file and its permissions");
  }
  return descriptor;
}

}  // namespace concord::importer
