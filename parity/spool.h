#pragma once

#include <filesystem>
#include <fstream>
#include <memory>

#include <nlohmann/json_fwd.hpp>

#include "graph/tensor.h"

// Tensors that pass between a worker and its parent: raw bytes in a file, one after the other, each
// described by a JSON object {dtype, shape, offset} (strings lie in the object itself).
namespace concord::parity {

class SpoolWriter {
 public:
  explicit SpoolWriter(const std::filesystem::path& file);  // truncates
  nlohmann::json add(const Tensor& tensor);                 // throws Error(failed) on a full disk
  void close();

 private:
  std::filesystem::path path_;
  std::ofstream out_;
  std::uint64_t offset_ = 0;
};

// Tensors that view the mapped file; it may be deleted while they live.
class SpoolReader {
 public:
  explicit SpoolReader(const std::filesystem::path& file);
  Tensor get(const nlohmann::json& description) const;

 private:
  std::shared_ptr<Storage> storage_;
};

}  // namespace concord::parity
