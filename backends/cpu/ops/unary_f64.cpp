#include "backends/cpu/ops/unary_f64.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace concord::cpu {
namespace {

using graph::UnaryFn;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

std::optional<double> value_of(UnaryFn fn, double a, double b, double x) {
  switch (fn) {
    case UnaryFn::celu:
      return std::max(0.0, x) + std::min(0.0, a * std::expm1(x / a));
    case UnaryFn::elu:
      return x < 0 ? a * std::expm1(x) : x;
    case UnaryFn::gelu_erf:
      return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
    case UnaryFn::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case UnaryFn::leaky_relu:
      return x < 0 ? a * x : x;
    case UnaryFn::relu:
      return x < 0 ? 0 : x;
    case UnaryFn::sigmoid:
      return sigmoid(x);
    case UnaryFn::silu:
      return x * sigmoid(x);
    case UnaryFn::tanh:
      return std::tanh(x);
    case UnaryFn::hard_sigmoid:
      return std::max(0.0, std::min(1.0, a * x + b));
    case UnaryFn::hard_swish:
      return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
    case UnaryFn::mish:
      return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    case UnaryFn::quick_gelu:
      return x * sigmoid(a * x);
    case UnaryFn::selu:
      return x > 0 ? b * x : b * a * std::expm1(x);
    case UnaryFn::shrink:
      return x < -a ? x + b : x > a ? x - b : 0.0;
    case UnaryFn::softsign:
      return x / (1 + std::abs(x));
    case UnaryFn::thresholded_relu:
      return x > a ? x : 0.0;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool has_plain_f64(UnaryFn fn) {
  return value_of(fn, 1, 1, 1).has_value();
}

void unary_f64(UnaryFn fn, double alpha, double beta, std::int64_t count, const double* x,
               double* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = value_of(fn, alpha, beta, x[i]).value_or(NAN);
}

}  // namespace concord::cpu
