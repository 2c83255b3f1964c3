#pragma once

#include <cstdint>

#include "backends/reference/number.h"

namespace concord::reference {

// A matrix of float64 anywhere in memory: element (i, j) at data[i·row + j·column].
struct MatrixView {
  const double* data = nullptr;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// y[m, n] = a[m, k]·b[k, n], dense row-major, each element summed in the order of k; and, where
// `squares` is not null, squares[m, n] of the terms and of the sums on the way, for rule 1. Sums
// are kept in Real.
// Columns are done in panels of kPanel: the range says which, so that callers can share them out.
constexpr std::int64_t kPanel = 16;
inline std::int64_t panel_count(std::int64_t n) {
  return (n + kPanel - 1) / kPanel;
}
template <typename Real>
void multiply_panels(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b,
                     Real* y, Squares<Real>* squares, std::int64_t first_panel,
                     std::int64_t last_panel);

// All panels, on the calling thread.
template <typename Real>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, Real* y,
              Squares<Real>* squares) {
  multiply_panels(m, n, k, a, b, y, squares, 0, panel_count(n));
}

extern template void multiply_panels<double>(std::int64_t, std::int64_t, std::int64_t, MatrixView,
                                             MatrixView, double*, Squares<double>*, std::int64_t,
                                             std::int64_t);
extern template void multiply_panels<long double>(std::int64_t, std::int64_t, std::int64_t,
                                                  MatrixView, MatrixView, long double*,
                                                  Squares<long double>*, std::int64_t,
                                                  std::int64_t);

}  // namespace concord::reference
