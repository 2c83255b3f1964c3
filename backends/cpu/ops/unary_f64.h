#pragma once

#include <cstdint>

#include "graph/functions.h"

namespace concord::cpu {

// Functions of f64 that the kernels do not have, one element at a time by the C library.
bool has_plain_f64(graph::UnaryFn fn);
void unary_f64(graph::UnaryFn fn, double alpha, double beta, std::int64_t count, const double* x,
               double* y);

}  // namespace concord::cpu
