#pragma once

#include <cstdint>

#include "graph/tensor.h"

namespace concord::parity {

// Of a tensor's type, shape and bits; of a container's items as well.
std::uint64_t hash_of(const Tensor& tensor);

}  // namespace concord::parity
