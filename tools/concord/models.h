#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord::tools {

// The models that the words mean: files, model folders, and folders of model folders. Throws Error
// for a folder without models; whether a file is one is seen when it is read.
std::vector<std::filesystem::path> models_of(const std::vector<std::string>& words);

// The file's name; for a model.onnx that of its folder.
std::string model_name(const std::filesystem::path& model);

}  // namespace concord::tools
