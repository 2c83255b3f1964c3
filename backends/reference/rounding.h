#pragma once

#include "graph/dtype.h"
#include "graph/tensor.h"

namespace concord::reference {

// The nearest value of a float type (ties to even). Overflow gives infinity, or what ONNX's Cast
// does for the 8- and 4-bit types.
double round_to(DataType dtype, double value, bool saturate = true);

// Unit roundoff: half the distance from 1 to the next number. 0 for types that are not floats.
double unit_roundoff(DataType dtype);
double max_finite(DataType dtype);
double smallest_normal(DataType dtype);

struct IntegerLimits {
  double lowest;
  double highest;
};
// Of an integer type of 32 bits or fewer.
IntegerLimits integer_limits(DataType dtype);

// A float64 tensor with the same values as one of any float type.
Tensor widened(const Tensor& tensor);
// A tensor of a float type, each value rounded to it.
Tensor narrowed(const Tensor& wide, DataType dtype);
// A container whose floats are float64, however deep; and one whose floats have the type that the
// container's says.
Tensor widened_items(const Tensor& container);
Tensor narrowed_items(const Tensor& container, DataType dtype);

}  // namespace concord::reference
