#pragma once

#include <cstdint>
#include <vector>

#include "backends/reference/number.h"

namespace concord::reference {

// Softmax (or its logarithm) of a row in place, the maximum subtracted first. The maximum counts as
// exact: it cancels. `nan_to_zero`: what would be NaN is 0.
template <typename N>
void softmax_row(std::vector<N>& row, bool log_wanted, bool nan_to_zero) {
  if (row.empty()) return;
  N highest = row[0];
  for (const N& x : row) highest = larger(highest, x);
  const N shift(value_of(highest));
  Sum<N> total;
  if (log_wanted) {
    for (N& x : row) {
      x = x - shift;
      total.add(exp(x));
    }
    const N log_total = log(total.result());
    for (N& x : row) x = x - log_total;
  } else {
    for (N& x : row) {
      x = exp(x - shift);
      total.add(x);
    }
    const N sum = total.result();
    for (N& x : row) x = x / sum;
  }
  if (!nan_to_zero) return;
  for (N& x : row) {
    if (std::isnan(value_of(x))) x = number<N>(0);
  }
}

}  // namespace concord::reference
