#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "importer/importer.h"

namespace concord::importer {

// The elements of one tensor within the scanned bytes.
struct Payload {
  enum class Kind : std::uint8_t { raw_data, float_data, double_data } kind = Kind::raw_data;
  std::size_t offset = 0;
  std::size_t size = 0;  // bytes
};

// A protobuf without the elements of its tensors, so that parsing it never copies a weight.
// Every raw_data field (and every float_data or double_data that is one packed run, which has the
// same bytes) is replaced by raw_data holding an 8-byte little-endian index into `payloads`: no
// real data can be mistaken for one, since all are replaced. Also left out: doc strings and
// metadata of nodes, which exporters fill with stack traces and which say nothing of the model.
struct StrippedProto {
  std::string bytes;
  std::vector<Payload> payloads;
};

enum class ProtoRoot { model, tensor };

// Throws Error(invalid) for bytes that are no protobuf of this kind, are cut short, or are beyond
// the limits; messages do not name the file.
StrippedProto strip_payloads(std::span<const std::byte> bytes, ProtoRoot root,
                             const ImportLimits& limits);

// The index that a stripped raw_data holds.
std::size_t payload_index(const std::string& raw_data);

}  // namespace concord::importer
