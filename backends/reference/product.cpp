#include "backends/reference/product.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace concord::reference {
namespace {

// Four rows of a (packed [k, 4]) times a panel of b (packed [k, kPanel]), the sums in registers.
constexpr std::int64_t kRows = 4;

struct Tile {
  std::int64_t k;
  const double* a;
  const double* b;
  double* y;        // [kRows, kPanel]
  double* squares;  // [kRows, kPanel] or null: of the terms
  double* sums;     // and of the sums on the way
};

template <int Bytes>
struct Vector {
  typedef double Type __attribute__((vector_size(Bytes)));  // NOLINT: no other spelling
};

// Products and sums are rounded apart (no fused multiply-add), so every width gives the same bits.
template <int Bytes, int Lanes, bool WithSquares>
[[gnu::always_inline]] inline void compute(const Tile& tile) {
  using Lane = typename Vector<Bytes>::Type;
  constexpr int width = Bytes / 8;
  for (std::int64_t column = 0; column < kPanel; column += Lanes * width) {
    Lane sum[kRows][Lanes] = {};
    Lane square[kRows][Lanes] = {};
    Lane path[kRows][Lanes] = {};
    for (std::int64_t p = 0; p < tile.k; ++p) {
      Lane b[Lanes];
      for (int l = 0; l < Lanes; ++l) {
        std::memcpy(&b[l], tile.b + p * kPanel + column + l * width, Bytes);
      }
      for (int r = 0; r < kRows; ++r) {
        const double a = tile.a[p * kRows + r];
        for (int l = 0; l < Lanes; ++l) {
          const Lane term = b[l] * a;
          sum[r][l] += term;
          if constexpr (WithSquares) {
            square[r][l] += term * term;
            path[r][l] += sum[r][l] * sum[r][l];
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int l = 0; l < Lanes; ++l) {
        const std::int64_t at = r * kPanel + column + l * width;
        std::memcpy(tile.y + at, &sum[r][l], Bytes);
        if constexpr (WithSquares) {
          std::memcpy(tile.squares + at, &square[r][l], Bytes);
          std::memcpy(tile.sums + at, &path[r][l], Bytes);
        }
      }
    }
  }
}

void tile_plain(const Tile& tile) {
  if (tile.squares != nullptr) {
    compute<16, 2, true>(tile);
  } else {
    compute<16, 2, false>(tile);
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void tile_avx2(const Tile& tile) {
  if (tile.squares != nullptr) {
    compute<32, 1, true>(tile);
  } else {
    compute<32, 2, false>(tile);
  }
}
[[gnu::target("avx512f")]] void tile_avx512(const Tile& tile) {
  if (tile.squares != nullptr) {
    compute<64, 1, true>(tile);
  } else {
    compute<64, 2, false>(tile);
  }
}
#endif

using TileFunction = void (*)(const Tile&);

TileFunction choose_tile() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return tile_avx512;
  if (__builtin_cpu_supports("avx2")) return tile_avx2;
#endif
  return tile_plain;
}

// packed[p, c] = matrix(p, first + c) for p < k, c < width; 0 beyond `extent`.
void pack(double* packed, std::int64_t width, const double* data, std::int64_t step_p,
          std::int64_t step_c, std::int64_t first, std::int64_t extent, std::int64_t k) {
  const std::int64_t used = std::min(width, extent - first);
  if (step_c == 1 || step_p != 1) {
    for (std::int64_t p = 0; p < k; ++p) {
      const double* from = data + p * step_p + first * step_c;
      for (std::int64_t c = 0; c < width; ++c) {
        packed[p * width + c] = c < used ? from[c * step_c] : 0.0;
      }
    }
    return;
  }
  for (std::int64_t c = 0; c < width; ++c) {
    const double* from = data + (first + c) * step_c;
    for (std::int64_t p = 0; p < k; ++p) packed[p * width + c] = c < used ? from[p] : 0.0;
  }
}

void product(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, double* y,
             Squares<double>* squares, std::int64_t first_panel, std::int64_t last_panel) {
  static const TileFunction compute_tile = choose_tile();
  std::vector<double> panel(static_cast<std::size_t>(k * kPanel));
  std::vector<double> rows(static_cast<std::size_t>(k * kRows * ((m + kRows - 1) / kRows)));
  for (std::int64_t i = 0; i < m; i += kRows) {
    pack(rows.data() + i * k, kRows, a.data, a.column, a.row, i, m, k);
  }
  double sums[kRows * kPanel];
  double square_sums[kRows * kPanel];
  double path_sums[kRows * kPanel];
  for (std::int64_t j = first_panel * kPanel; j < std::min(n, last_panel * kPanel); j += kPanel) {
    pack(panel.data(), kPanel, b.data, b.row, b.column, j, n, k);
    const std::int64_t columns = std::min(kPanel, n - j);
    for (std::int64_t i = 0; i < m; i += kRows) {
      compute_tile({k, rows.data() + i * k, panel.data(), sums,
                    squares == nullptr ? nullptr : square_sums, path_sums});
      for (std::int64_t r = 0; r < std::min(kRows, m - i); ++r) {
        std::copy_n(sums + r * kPanel, columns, y + (i + r) * n + j);
        if (squares == nullptr) continue;
        for (std::int64_t c = 0; c < columns; ++c) {
          squares[(i + r) * n + j + c] = {square_sums[r * kPanel + c], path_sums[r * kPanel + c]};
        }
      }
    }
  }
}

void product(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b,
             long double* y, Squares<long double>* squares, std::int64_t first_panel,
             std::int64_t last_panel) {
  const std::int64_t end = std::min(n, last_panel * kPanel);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = first_panel * kPanel; j < end; ++j) {
      long double sum = 0;
      Squares<long double> square;
      for (std::int64_t p = 0; p < k; ++p) {
        const long double term = static_cast<long double>(a.data[i * a.row + p * a.column]) *
                                 static_cast<long double>(b.data[p * b.row + j * b.column]);
        sum += term;
        square.terms += term * term;
        square.sums += sum * sum;
      }
      y[i * n + j] = sum;
      if (squares != nullptr) squares[i * n + j] = square;
    }
  }
}

}  // namespace

template <typename Real>
void multiply_panels(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b,
                     Real* y, Squares<Real>* squares, std::int64_t first_panel,
                     std::int64_t last_panel) {
  product(m, n, k, a, b, y, squares, first_panel, last_panel);
}

template void multiply_panels<double>(std::int64_t, std::int64_t, std::int64_t, MatrixView,
                                      MatrixView, double*, Squares<double>*, std::int64_t,
                                      std::int64_t);
template void multiply_panels<long double>(std::int64_t, std::int64_t, std::int64_t, MatrixView,
                                           MatrixView, long double*, Squares<long double>*,
                                           std::int64_t, std::int64_t);

}  // namespace concord::reference
