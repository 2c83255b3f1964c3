#pragma once

#include "backends/cpu/kernels/conv.h"

namespace concord::cpu {

// A convolution of f64 by plain loops, all operands dense: x [N, C, s…], w [M, C/g, k…],
// y [N, M, o…]. Models seldom have one; integer convolutions come here.
void convolve_f64(const ConvExtents& extents, const double* x, const double* w, const double* bias,
                  double* y);

}  // namespace concord::cpu
