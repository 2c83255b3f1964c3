#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "importer/mapped_file.h"

namespace concord::importer {

// Files beside a model that hold its weights. A model names them, so they are opened only below the
// model's own folder and never through a link, or, where the user gave a root, where the whole way,
// links followed, stays below that root.
class ExternalData {
 public:
  ExternalData(std::filesystem::path folder, std::optional<std::filesystem::path> root,
               std::int64_t file_limit);

  // Throws Error(invalid) with what is wrong with `location`; each file is opened once.
  std::shared_ptr<MappedFile> file(const std::string& location);
  std::vector<std::string> locations() const;

 private:
  int open_beneath(const std::string& location) const;
  int open_below_root(const std::string& location) const;

  std::filesystem::path folder_;
  std::optional<std::filesystem::path> root_;
  std::int64_t file_limit_;
  std::map<std::string, std::shared_ptr<MappedFile>> files_;
};

}  // namespace concord::importer
