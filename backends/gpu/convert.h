#pragma once

// How values lie in device memory. Kernels know f32, f16, f64, i32 and u32; types narrower than
// these lie in the next one that holds all of their values, and steps that compute bring results
// back to what the type can hold (lower/narrow.h):
//   f16 f16 (f32 with precision=f32)      bf16, float8, float4   f32
//   i8 to i32, u8, u16, 4 and 2 bits, bool   i32                 u32  u32
//   i64 i32 and u64 u32: checked when they come from the host

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

// "f32", "f16", "f64", "i32", "u32": how kernels are named by what they read and write.
const char* type_suffix(DataType storage);

// The type in which reports show a value: f32 as it is stored, others as the model has them, to
// which results are brought back.
DataType shown_type(DataType dtype, Precision precision);

// Copies host elements into `target`, as `storage`. Integers that don't fit 32 bits are an error
// that names the first one.
void to_storage(const Tensor& tensor, DataType storage, std::span<std::byte> target);

// Why the elements of a constant cannot be kept on the device; nullopt where they can.
std::optional<std::string> why_not_stored(const Tensor& tensor);

// A host tensor of `dtype` from what lies on the device.
Tensor from_storage(std::span<const std::byte> source, DataType storage, DataType dtype,
                    Shape shape);

}  // namespace concord::gpu
