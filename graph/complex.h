#pragma once

#include "graph/tensor.h"

namespace concord {

bool is_complex(DataType dtype);

// The memory of a complex tensor seen as its real and imaginary parts, float32 or float64, on a new
// last axis of extent 2. Any other tensor comes back as it is.
Tensor parts_of(const Tensor& tensor);

}  // namespace concord
