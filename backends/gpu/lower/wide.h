#pragma once

#include "graph/dtype.h"

namespace concord::gpu {

// The type in which operators compute that have kernels of float32 and float64 only.
inline DataType computed_float(DataType storage) {
  return storage == DataType::f64 ? DataType::f64 : DataType::f32;
}

}  // namespace concord::gpu
