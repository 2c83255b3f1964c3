#pragma once

#include <cstdint>

#include "graph/functions.h"

namespace concord::cpu {

// Activations and other functions of f64, one element at a time by the C library. In place is
// allowed.
bool has_plain_f64(graph::UnaryFn fn);
void unary_f64(graph::UnaryFn fn, double alpha, double beta, std::int64_t count, const double* x,
               double* y);

}  // namespace concord::cpu
