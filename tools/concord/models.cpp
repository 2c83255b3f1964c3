#include "tools/concord/models.h"

#include "parity/conformance.h"

namespace concord::tools {

std::vector<std::filesystem::path> models_of(const std::vector<std::string>& words) {
  std::vector<std::filesystem::path> models;
  for (const std::string& word : words) {
    std::error_code failure;  // what is wrong with a path is said when the model is read
    if (std::filesystem::is_directory(word, failure)) {
      for (auto& folder : parity::model_folders(word)) models.push_back(std::move(folder));
    } else {
      models.emplace_back(word);
    }
  }
  return models;
}

std::string model_name(const std::filesystem::path& model) {
  std::error_code failure;
  std::filesystem::path full = std::filesystem::absolute(model, failure).lexically_normal();
  if (failure) full = model;
  if (full.filename().empty() || full.filename() == "model.onnx") full = full.parent_path();
  return full.filename().string();
}

}  // namespace concord::tools
