#pragma once

#include <string>

#include "graph/tensor.h"

namespace concord::host {

// ONNX Cast. Floats round to nearest even; float8 overflow saturates or becomes NaN or infinity.
// Floats to integers truncate toward zero (ONNX leaves what does not fit open: here it saturates,
// below a byte it keeps the low bits, and NaN gives 0); wider integers keep their low bits; to
// bool, all but 0 is true. Strings are read as C numbers, INF and NaN included, and written as
// numpy writes them.
Tensor cast(const Tensor& x, DataType to, bool saturate);

// The shortest decimal text that reads back as the same number of its type.
std::string float_text(double value, DataType dtype);

}  // namespace concord::host
