#pragma once

// How values lie in device memory: floats as f32 or f16, integers and bools as 32-bit integers.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/backend.h"
#include "graph/dtype.h"
#include "graph/tensor.h"

namespace concord::gpu {

// The type in which values of `dtype` lie on the device; nullopt where they cannot.
std::optional<DataType> storage_type(DataType dtype, Precision precision);

// "f32", "f16", "i32": how kernels are named by what they read and write.
const char* type_suffix(DataType storage);

// Copies host elements into `target`, as `storage`. Integers that don't fit 32 bits are an error
// that names the first one.
void to_storage(const Tensor& tensor, DataType storage, std::span<std::byte> target);

// Why the elements of a constant cannot be kept as `storage`; nullopt where they can.
std::optional<std::string> why_not_stored(const Tensor& tensor, DataType storage);

// A host tensor of `dtype` from what lies on the device.
Tensor from_storage(std::span<const std::byte> source, DataType storage, DataType dtype,
                    Shape shape);

}  // namespace concord::gpu
