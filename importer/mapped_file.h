#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "graph/tensor.h"

namespace concord::importer {

// A whole file, mapped read only. Released pages are read again from the file when needed.
class MappedFile final : public Storage {
 public:
  // Throws Error(invalid) if the file is missing, is no regular file or is larger than `limit`.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path, std::int64_t limit);
  // Takes over an open file descriptor; `name` is for messages.
  static std::shared_ptr<MappedFile> adopt(int descriptor, const std::string& name,
                                           std::int64_t limit);
  ~MappedFile() override;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() override { return data_; }
  std::size_t size() const override { return size_; }
  bool writable() const override { return false; }
  void release(std::size_t offset, std::size_t bytes) override;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(std::byte* data, std::size_t size) : data_(data), size_(size) {}

  std::byte* data_;
  std::size_t size_;
};

// A tensor whose elements lie at `offset` of the file. If that is no multiple of the element's
// size, the tensor copies itself when it is first read through data(), and not before (see
// Storage::in_place). The range must lie within the file.
Tensor tensor_in_file(DataType dtype, Shape shape, const std::shared_ptr<MappedFile>& file,
                      std::size_t offset);

}  // namespace concord::importer
