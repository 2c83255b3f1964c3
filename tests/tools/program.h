#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord::tests {

struct Outcome {
  int exit = -1;  // 128 + n if signal n ended it
  std::string out;
  std::string err;
  double seconds = 0;
};

// Runs the `concord` program of the build tree. `limits` is shell text that comes before it, such
// as "ulimit -f 8;".
Outcome concord(const std::vector<std::string>& arguments, const std::string& limits = "");

// A fresh folder, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  // Writes a file below it and gives its path.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

// `limits` for a program that remembers ceilings: in this folder, since tests keep to their own.
std::string cache_in(const TemporaryFolder& folder);

std::string read_file(const std::filesystem::path& path);
// A bundled model's folder.
std::string bundled(const std::string& name);

}  // namespace concord::tests
