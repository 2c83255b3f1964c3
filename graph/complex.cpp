#include "graph/complex.h"

#include <utility>

namespace concord {

bool is_complex(DataType dtype) {
  return dtype == DataType::c64 || dtype == DataType::c128;
}

Tensor parts_of(const Tensor& tensor) {
  if (!is_complex(tensor.dtype())) return tensor;
  Shape shape = tensor.shape();
  shape.push_back(2);
  const auto offset = tensor.in_place() - tensor.storage()->in_place();
  return {tensor.dtype() == DataType::c64 ? DataType::f32 : DataType::f64, std::move(shape),
          tensor.storage(), static_cast<std::size_t>(offset)};
}

}  // namespace concord
