// Discrete Fourier transforms of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace concord::cpu {

// Forward transforms of one length, X[k] = Σ x[j]·exp(−2πi·jk/n), in double: by the prime factors
// of n (Stockham's order, which needs no bit reversal), and where a factor is large as a
// convolution of a power of two (Bluestein, IEEE Trans. AU-18, 1970). Immutable; threads share it.
class Fourier {
 public:
  explicit Fourier(std::int64_t n);

  std::int64_t length() const { return n_; }
  // Lines that are transformed side by side: element j of line l lies at [j · lanes + l].
  std::int64_t lanes() const { return lanes_; }
  // Doubles of scratch that a transform needs.
  std::int64_t scratch() const;
  // In place; real and imaginary parts [n · lanes] apart.
  void transform(double* re, double* im, double* scratch) const;

 private:
  void by_factors(double* re, double* im, double* scratch) const;
  void by_convolution(double* re, double* im, double* scratch) const;

  std::int64_t n_;
  std::int64_t lanes_;
  std::vector<std::int64_t> factors_;
  std::vector<std::complex<double>> turns_;  // exp(−2πi·k/n), k < n
  // Bluestein: exp(−πi·k²/n), and the transform of its conjugate, wrapped around.
  std::vector<std::complex<double>> chirp_;
  std::vector<std::complex<double>> kernel_;
  std::unique_ptr<Fourier> wide_;
};

// x [outer, in, inner, parts] → y [outer, out, inner, out_parts] along the second axis: parts 1
// (real) or 2. x is cut to the transform's length or filled up with zeros.
struct DftForm {
  bool inverse = false;   // divided by the length
  bool onesided = false;  // forward: of the result only length / 2 + 1; inverse: so many are read,
                          // and the result is real
  std::int64_t outer = 0, in = 0, inner = 0, parts = 1;

  std::int64_t out(std::int64_t length) const {
    return onesided && !inverse ? length / 2 + 1 : length;
  }
  std::int64_t out_parts() const { return onesided && inverse ? 1 : 2; }
};
template <typename T>
void dft(const Fourier& fourier, const DftForm& form, const T* x, T* y);

}  // namespace concord::cpu
