#include "backends/cpu/kernels/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

constexpr std::int64_t kLanes = 8;
// Beyond it so many lines side by side no longer stay in the cache.
constexpr std::int64_t kLongest = 2048;
// A factor costs its size per element; a convolution about three transforms of twice the length.
constexpr std::int64_t kLargestFactor = 61;

// exp(−2πi·k/n), from an angle of at most an eighth of the circle.
std::complex<double> turn(std::int64_t k, std::int64_t n) {
  // Quarters of a quarter: 8·k/n = octant + rest.
  const std::int64_t octant = 8 * k / n;
  const auto angle = [n](std::int64_t eighths) {
    return std::numbers::pi_v<long double> * static_cast<long double>(eighths) /
           static_cast<long double>(4 * n);
  };
  const std::int64_t quarter = (octant + 1) / 2;  // the nearest multiple of 90°
  const long double rest = angle(8 * k - 2 * quarter * n);
  const auto c = static_cast<double>(std::cos(rest));
  const auto s = static_cast<double>(std::sin(rest));
  switch (quarter % 4) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

std::vector<std::int64_t> prime_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

// (re, im) += w·(xr, xi), element by element.
void add_turned(std::int64_t count, std::complex<double> w, const double* __restrict xr,
                const double* __restrict xi, double* __restrict re, double* __restrict im) {
  const double c = w.real();
  const double s = w.imag();
  for (std::int64_t i = 0; i < count; ++i) {
    re[i] += c * xr[i] - s * xi[i];
    im[i] += c * xi[i] + s * xr[i];
  }
}

// Sum and difference of a and w·b.
void butterfly(std::int64_t count, std::complex<double> w, const double* __restrict ar,
               const double* __restrict ai, const double* __restrict br,
               const double* __restrict bi, double* __restrict sum_r, double* __restrict sum_i,
               double* __restrict difference_r, double* __restrict difference_i) {
  const double c = w.real();
  const double s = w.imag();
  for (std::int64_t i = 0; i < count; ++i) {
    const double tr = c * br[i] - s * bi[i];
    const double ti = c * bi[i] + s * br[i];
    sum_r[i] = ar[i] + tr;
    sum_i[i] = ai[i] + ti;
    difference_r[i] = ar[i] - tr;
    difference_i[i] = ai[i] - ti;
  }
}

}  // namespace

Fourier::Fourier(std::int64_t n) : n_(n), lanes_(n <= kLongest ? kLanes : 1) {
  factors_ = prime_factors(n);
  const bool smooth = factors_.empty() || factors_.back() <= kLargestFactor;
  if (smooth) {
    for (std::int64_t k = 0; k < n; ++k) turns_.push_back(turn(k, n));
    return;
  }
  std::int64_t wide = 1;
  while (wide < 2 * n - 1) wide *= 2;
  wide_ = std::make_unique<Fourier>(wide);
  lanes_ = wide_->lanes_;
  // k² modulo 2n, so that the angle stays small.
  for (std::int64_t k = 0; k < n; ++k) chirp_.push_back(turn(k * k % (2 * n), 2 * n));
  std::vector<double> re(static_cast<std::size_t>(wide * lanes_), 0.0);
  std::vector<double> im(re.size(), 0.0);
  for (std::int64_t k = 0; k < n; ++k) {
    for (const std::int64_t at : {k, (wide - k) % wide}) {
      re[static_cast<std::size_t>(at * lanes_)] = chirp_[static_cast<std::size_t>(k)].real();
      im[static_cast<std::size_t>(at * lanes_)] = -chirp_[static_cast<std::size_t>(k)].imag();
    }
  }
  std::vector<double> scratch(static_cast<std::size_t>(wide_->scratch()));
  wide_->transform(re.data(), im.data(), scratch.data());
  for (std::int64_t k = 0; k < wide; ++k) {
    const auto at = static_cast<std::size_t>(k * lanes_);
    kernel_.emplace_back(re[at] / static_cast<double>(wide), im[at] / static_cast<double>(wide));
  }
}

std::int64_t Fourier::scratch() const {
  return wide_ ? 2 * wide_->n_ * lanes_ + wide_->scratch() : 2 * n_ * lanes_;
}

void Fourier::transform(double* re, double* im, double* scratch) const {
  if (wide_) {
    by_convolution(re, im, scratch);
  } else {
    by_factors(re, im, scratch);
  }
}

// Before a stage of radix p, element j of the transform (of length l) of x[r], x[r + R], … lies at
// j·R + r, R being n / l; p such transforms join to one of length l·p.
void Fourier::by_factors(double* re, double* im, double* scratch) const {
  double* from[] = {re, im};
  double* to[] = {scratch, scratch + n_ * lanes_};
  std::int64_t l = 1;
  for (const std::int64_t p : factors_) {
    const std::int64_t rest = n_ / (l * p);
    const std::int64_t run = rest * lanes_;
    const auto w = [&](std::int64_t index) { return turns_[static_cast<std::size_t>(index % n_)]; };
    for (std::int64_t j = 0; j < l; ++j) {
      const std::int64_t in = j * p * run;
      const std::int64_t out = j * run;
      if (p == 2) {
        const std::int64_t far = out + l * run;
        butterfly(run, w(j * rest), from[0] + in, from[1] + in, from[0] + in + run,
                  from[1] + in + run, to[0] + out, to[1] + out, to[0] + far, to[1] + far);
        continue;
      }
      for (std::int64_t u = 0; u < p; ++u) {
        double* sum_r = to[0] + out + u * l * run;
        double* sum_i = to[1] + out + u * l * run;
        std::copy_n(from[0] + in, run, sum_r);
        std::copy_n(from[1] + in, run, sum_i);
        for (std::int64_t s = 1; s < p; ++s) {
          add_turned(run, w((j + l * u) * s % (l * p) * rest), from[0] + in + s * run,
                     from[1] + in + s * run, sum_r, sum_i);
        }
      }
    }
    std::swap(from[0], to[0]);
    std::swap(from[1], to[1]);
    l *= p;
  }
  if (from[0] != re) {
    std::copy_n(from[0], n_ * lanes_, re);
    std::copy_n(from[1], n_ * lanes_, im);
  }
}

// jk = (j² + k² − (k − j)²) / 2 makes a convolution with the chirp of it.
void Fourier::by_convolution(double* re, double* im, double* scratch) const {
  const std::int64_t wide = wide_->n_;
  double* wide_re = scratch;
  double* wide_im = scratch + wide * lanes_;
  double* rest = scratch + 2 * wide * lanes_;
  std::fill_n(scratch, 2 * wide * lanes_, 0.0);
  const auto multiply = [&](std::int64_t j, std::complex<double> w, const double* xr,
                            const double* xi, double* yr, double* yi, double sign) {
    for (std::int64_t i = j * lanes_; i < (j + 1) * lanes_; ++i) {
      const double a = xr[i];
      const double b = xi[i];
      yr[i] = a * w.real() - b * w.imag();
      yi[i] = sign * (a * w.imag() + b * w.real());
    }
  };
  for (std::int64_t j = 0; j < n_; ++j) {
    multiply(j, chirp_[static_cast<std::size_t>(j)], re, im, wide_re, wide_im, 1);
  }
  wide_->transform(wide_re, wide_im, rest);
  // The inverse transform is the conjugate of the transform of the conjugate.
  for (std::int64_t j = 0; j < wide; ++j) {
    multiply(j, kernel_[static_cast<std::size_t>(j)], wide_re, wide_im, wide_re, wide_im, -1);
  }
  wide_->transform(wide_re, wide_im, rest);
  for (std::int64_t j = 0; j < n_; ++j) {
    const std::complex<double> w = chirp_[static_cast<std::size_t>(j)];
    for (std::int64_t i = j * lanes_; i < (j + 1) * lanes_; ++i) {
      const double a = wide_re[i];
      const double b = -wide_im[i];
      re[i] = a * w.real() - b * w.imag();
      im[i] = a * w.imag() + b * w.real();
    }
  }
}

template <typename T>
void dft(const Fourier& fourier, const DftForm& form, const T* x, T* y) {
  const std::int64_t n = fourier.length();
  const std::int64_t lanes = fourier.lanes();
  const std::int64_t lines = form.outer * form.inner;
  const std::int64_t blocks = (lines + lanes - 1) / lanes;
  const bool real = form.inverse && form.onesided;
  const std::int64_t out = form.out(n);
  const std::int64_t out_parts = form.out_parts();
  const std::int64_t read = std::min(form.in, real ? n / 2 + 1 : n);
  // The inverse transform is the conjugate of that of the conjugate.
  const double sign = form.inverse ? -1 : 1;
  const double factor = form.inverse ? 1 / static_cast<double>(n) : 1;
  const double nanoseconds =
      static_cast<double>(n * lanes) * (3 + 2 * std::log2(static_cast<double>(n + 1)));
  parallel_for(
      blocks, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> memory(static_cast<std::size_t>(2 * n * lanes + fourier.scratch()));
        double* re = memory.data();
        double* im = re + n * lanes;
        for (std::int64_t block = begin; block < end; ++block) {
          std::fill_n(re, 2 * n * lanes, 0.0);
          const std::int64_t first = block * lanes;
          const std::int64_t used = std::min(lanes, lines - first);
          for (std::int64_t lane = 0; lane < used; ++lane) {
            const std::int64_t line = first + lane;
            const T* from =
                x + (line / form.inner * form.in * form.inner + line % form.inner) * form.parts;
            for (std::int64_t j = 0; j < read; ++j) {
              const T* p = from + j * form.inner * form.parts;
              const std::int64_t at = j * lanes + lane;
              re[at] = static_cast<double>(p[0]);
              if (form.parts == 2) im[at] = sign * static_cast<double>(p[1]);
              if (!real) continue;
              // The half that is left out mirrors this one; what mirrors itself is real.
              const bool mirrored = j > 0 && 2 * j < n;
              if (!mirrored) {
                im[at] = 0;
              } else {
                re[(n - j) * lanes + lane] = re[at];
                im[(n - j) * lanes + lane] = -im[at];
              }
            }
          }
          fourier.transform(re, im, im + n * lanes);
          // Of real numbers, these are real; a convolution leaves a rounding error there.
          if (form.parts == 1) {
            std::fill_n(im, lanes, 0.0);
            if (n % 2 == 0) std::fill_n(im + n / 2 * lanes, lanes, 0.0);
          }
          for (std::int64_t lane = 0; lane < used; ++lane) {
            const std::int64_t line = first + lane;
            T* to = y + (line / form.inner * out * form.inner + line % form.inner) * out_parts;
            for (std::int64_t k = 0; k < out; ++k) {
              T* p = to + k * form.inner * out_parts;
              p[0] = static_cast<T>(re[k * lanes + lane] * factor);
              if (out_parts == 2) p[1] = static_cast<T>(sign * im[k * lanes + lane] * factor);
            }
          }
        }
      });
}

template void dft(const Fourier&, const DftForm&, const float*, float*);
template void dft(const Fourier&, const DftForm&, const double*, double*);

}  // namespace concord::cpu
