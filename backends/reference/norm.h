#pragma once

#include <vector>

#include "backends/reference/kernel.h"

namespace concord::reference {

// (x − mean)/√(variance + epsilon) in place, in two passes; without `center`, x/√(mean of squares +
// epsilon).
template <typename N>
void normalise(std::vector<N>& row, double epsilon, bool center) {
  const N count = number<N>(static_cast<double>(row.size()));
  if (center) {
    Sum<N> sum;
    for (const N& x : row) sum.add(x);
    const N mean = sum.result() / count;
    for (N& x : row) x = x - mean;
  }
  Sum<N> squares;
  for (const N& x : row) squares.add_product(x, x);
  const N scale = number<N>(1) / sqrt(squares.result() / count + number<N>(epsilon));
  for (N& x : row) x = x * scale;
}

// layer_norm (center) and rms_norm: operands x, gamma, [beta], residual at the given place.
std::vector<OracleValue> run_norm(const Call& call, bool center, std::size_t residual_operand);

}  // namespace concord::reference
