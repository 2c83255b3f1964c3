#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/tensor.h"
#include "importer/external_data.h"
#include "importer/mapped_file.h"
#include "importer/proto_fwd.h"
#include "importer/wire_scan.h"

namespace concord::importer {

// Decodes the TensorProtos of one stripped file. Elements that lie in the file as they are in
// memory are viewed there; all else is decoded. Errors name the tensor and not the file.
class TensorReader {
 public:
  TensorReader(std::shared_ptr<MappedFile> file, std::vector<Payload> payloads,
               ExternalData& external, const ImportLimits& limits);

  Tensor read(const onnx::TensorProto& proto);
  Tensor read(const onnx::SparseTensorProto& proto);

  std::int64_t bytes_read() const { return bytes_read_; }
  // Counts from 0 again, for another attempt at the same model.
  void restart() { bytes_read_ = bytes_decoded_ = 0; }

 private:
  Tensor read_external(const onnx::TensorProto& proto, DataType dtype, Shape shape);
  Tensor read_payload(const Payload& payload, DataType dtype, Shape shape);
  Tensor read_typed(const onnx::TensorProto& proto, DataType dtype, Shape shape);
  void account(std::int64_t bytes, bool decoded);

  std::shared_ptr<MappedFile> file_;
  std::vector<Payload> payloads_;
  ExternalData& external_;
  const ImportLimits& limits_;
  std::int64_t bytes_read_ = 0;
  std::int64_t bytes_decoded_ = 0;
};

// The type of a value: of tensors, of sequences and optionals of them; undefined for one that is
// not stated, and for maps and sparse tensors.
DataType value_type(const onnx::TypeProto& type);

// A data type's number in a file; throws Error(invalid) for one that ONNX does not have.
DataType data_type(std::int64_t number);

}  // namespace concord::importer
