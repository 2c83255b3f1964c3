#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tensor.h"

namespace concord::parity {

struct NonFinite {
  std::int64_t nan = 0;
  std::int64_t positive = 0;  // +inf
  std::int64_t negative = 0;  // −inf
};

// How a tensor differs from the reference. NaN agrees with NaN, an infinity with the infinity of
// the same sign; sums run over elements that are finite on both sides.
struct Metrics {
  std::int64_t count = 0;
  double max_abs = 0;
  double max_rel = 0;  // |error| / |reference|, where the reference is not 0
  double max_ulp = 0;  // in units in the last place of the tensor's type at the reference
  double p99_ulp = 0;
  double nmse = 0;    // Σ error² / Σ reference²; infinite if only the latter is 0
  double snr_db = 0;  // −10·log₁₀(nmse); infinite for equal tensors
  double cosine = 1;  // of the two as vectors; 1 if both are 0
  double rms_error = 0;
  std::optional<double> top1;  // share of rows (last axis) with the same largest element
  std::optional<double> top5;  // share of the five largest elements of each row that are the same
  NonFinite actual;
  NonFinite reference;
  std::int64_t mismatched = 0;  // non-finite on one side, or differently on both; unequal integers
  struct Worst {
    std::int64_t index = -1;
    double value = 0;
    double reference = 0;
  } worst;  // largest |error|; a mismatched element before any other
};

// `actual` in its own type against `reference` (f64 for float tensors, else the same type), of the
// same shape. ULPs are those of actual's type. Strings: only `mismatched`.
Metrics compare(const Tensor& actual, const Tensor& reference);

// Distance between neighbouring numbers of the type at |value|.
double ulp_of(DataType dtype, double value);

// Element index as "[1, 2, 3]".
std::string index_text(const Tensor& tensor, std::int64_t index);

}  // namespace concord::parity
