#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graph/tensor.h"
#include "importer/mapped_file.h"

namespace concord::importer {

// The contents of a .npy file: what describes it, and where its elements begin.
struct NpyHeader {
  DataType dtype = DataType::undefined;
  bool is_opaque = false;   // NumPy's void type of this size, as ml_dtypes writes bfloat16
  std::size_t element = 0;  // bytes
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

// Throws Error(invalid) without naming the file.
NpyHeader parse_npy_header(std::span<const std::byte> bytes);
std::string npy_header(const Tensor& tensor);

// The tensor of a whole .npy file that lies at `offset` of a mapped file.
Tensor npy_tensor(const std::shared_ptr<MappedFile>& file, std::size_t offset, std::size_t size,
                  std::optional<DataType> as);
// The same from memory.
Tensor npy_tensor(std::span<const std::byte> bytes, std::optional<DataType> as);

// The tensor in a type that NumPy lacks, if that is what its bits are for; else as it is.
Tensor as_stored(Tensor tensor, std::optional<DataType> as);

// 4- and 2-bit elements, one per byte as NumPy has them; others as they are.
Tensor unpacked(const Tensor& tensor);

}  // namespace concord::importer
