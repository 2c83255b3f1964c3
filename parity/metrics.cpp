#include "parity/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "graph/complex.h"
#include "graph/error.h"

namespace concord::parity {
namespace {

struct Format {
  int precision;     // bits of the significand, the hidden one included
  int min_exponent;  // of the smallest normal number
};

Format format_of(DataType dtype) {
  switch (dtype) {
    case DataType::f64:
      return {53, -1022};
    case DataType::f16:
      return {11, -14};
    case DataType::bf16:
      return {8, -126};
    case DataType::f8e4m3fn:
      return {4, -6};
    case DataType::f8e4m3fnuz:
      return {4, -7};
    case DataType::f8e5m2:
      return {3, -14};
    case DataType::f8e5m2fnuz:
      return {3, -15};
    case DataType::f4e2m1:
      return {2, 0};
    default:
      return {24, -126};
  }
}

// A histogram over the logarithm of ULP distances: quantiles to a few per cent in constant memory.
class UlpHistogram {
 public:
  void add(double ulp) {
    ++total_;
    if (ulp == 0) {
      ++zeros_;
      return;
    }
    const double position = (std::log2(ulp) + kLowest) * kPerOctave;
    const auto bin =
        static_cast<std::size_t>(std::clamp(position, 0.0, static_cast<double>(bins_.size() - 1)));
    ++bins_[bin];
  }
  double quantile(double q) const {
    auto left = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(total_))) - zeros_;
    if (left <= 0) return 0;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      left -= bins_[i];
      if (left <= 0) return std::exp2((static_cast<double>(i) + 0.5) / kPerOctave - kLowest);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  static constexpr double kLowest = 16;  // bins begin at 2⁻¹⁶ ulp
  static constexpr double kPerOctave = 16;
  std::array<std::int64_t, 96 * 16> bins_{};
  std::int64_t total_ = 0;
  std::int64_t zeros_ = 0;
};

void count_non_finite(double v, NonFinite& counts) {
  if (std::isnan(v)) {
    ++counts.nan;
  } else if (std::isinf(v)) {
    ++(v > 0 ? counts.positive : counts.negative);
  }
}

std::vector<std::size_t> largest(std::span<const double> row, std::size_t k) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(k, row.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    const double x = std::isnan(row[a]) ? -INFINITY : row[a];
    const double y = std::isnan(row[b]) ? -INFINITY : row[b];
    return x > y || (x == y && a < b);
  });
  order.erase(end, order.end());
  return order;
}

void rank_rows(const Tensor& actual, const Tensor& reference, Metrics& m) {
  if (actual.rank() == 0 || actual.shape().back() < 2 || actual.count() == 0) return;
  const auto width = static_cast<std::size_t>(actual.shape().back());
  const std::int64_t rows = actual.count() / static_cast<std::int64_t>(width);
  std::vector<double> a(width);
  std::vector<double> b(width);
  double same = 0;
  double shared = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < width; ++i) {
      const std::int64_t at = r * static_cast<std::int64_t>(width) + static_cast<std::int64_t>(i);
      a[i] = actual.at_double(at);
      b[i] = reference.at_double(at);
    }
    const auto top_a = largest(a, 5);
    auto top_b = largest(b, 5);
    same += top_a.front() == top_b.front() ? 1 : 0;
    std::sort(top_b.begin(), top_b.end());
    const auto common = std::count_if(top_a.begin(), top_a.end(), [&](std::size_t i) {
      return std::binary_search(top_b.begin(), top_b.end(), i);
    });
    shared += static_cast<double>(common) / static_cast<double>(top_a.size());
  }
  m.top1 = same / static_cast<double>(rows);
  m.top5 = shared / static_cast<double>(rows);
}

Metrics compare_exact(const Tensor& actual, const Tensor& reference) {
  Metrics m;
  m.count = actual.count();
  const bool strings = actual.dtype() == DataType::string;
  for (std::int64_t i = 0; i < m.count; ++i) {
    const bool equal = strings ? actual.strings()[static_cast<std::size_t>(i)] ==
                                     reference.strings()[static_cast<std::size_t>(i)]
                               : actual.at_int(i) == reference.at_int(i);
    if (equal) continue;
    ++m.mismatched;
    const double error = strings ? 1 : std::abs(actual.at_double(i) - reference.at_double(i));
    if (m.worst.index < 0 || error > m.max_abs) {
      m.worst.index = i;
      if (!strings) {
        m.worst.value = actual.at_double(i);
        m.worst.reference = reference.at_double(i);
      }
    }
    m.max_abs = std::max(m.max_abs, error);
  }
  m.snr_db = m.mismatched == 0 ? INFINITY : 0;
  return m;
}

// Complex numbers are moved and never computed: an element differs if either part does. `worst` has
// the part that differs.
Metrics compare_complex(const Tensor& actual, const Tensor& reference) {
  Metrics m;
  m.count = actual.count();
  const Tensor a = parts_of(actual);
  const Tensor r = parts_of(reference);
  for (std::int64_t i = 0; i < m.count; ++i) {
    bool equal = true;
    for (const std::int64_t at : {2 * i, 2 * i + 1}) {
      const double x = a.at_double(at);
      const double y = r.at_double(at);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      equal = false;
      const double error = std::abs(x - y);
      if (m.worst.index < 0 || error > m.max_abs) m.worst = {i, x, y};
      if (error > m.max_abs) m.max_abs = error;
    }
    m.mismatched += equal ? 0 : 1;
  }
  m.snr_db = m.mismatched == 0 ? INFINITY : 0;
  return m;
}

}  // namespace

double ulp_of(DataType dtype, double value) {
  const Format format = format_of(dtype);
  int exponent = format.min_exponent + 1;
  if (value != 0 && std::isfinite(value)) {
    std::frexp(value, &exponent);
    exponent = std::max(exponent, format.min_exponent + 1);
  }
  return std::ldexp(1.0, exponent - format.precision);
}

std::string index_text(const Tensor& tensor, std::int64_t index) {
  Shape position(tensor.shape().size());
  for (std::size_t i = position.size(); i-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(tensor.shape()[i], 1);
    position[i] = index % extent;
    index /= extent;
  }
  return to_string(position);
}

Metrics compare(const Tensor& actual, const Tensor& reference) {
  if (actual.shape() != reference.shape()) {
    throw Error(ErrorKind::failed, "internal: tensors of different shapes compared");
  }
  if (is_complex(actual.dtype())) return compare_complex(actual, reference);
  if (!is_float(actual.dtype())) return compare_exact(actual, reference);
  Metrics m;
  m.count = actual.count();
  UlpHistogram ulps;
  double sum_error = 0;
  double sum_reference = 0;
  double sum_actual = 0;
  double sum_product = 0;
  bool mismatch_seen = false;
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < m.count; ++i) {
    const double a = actual.at_double(i);
    const double r = reference.at_double(i);
    count_non_finite(a, m.actual);
    count_non_finite(r, m.reference);
    if (!std::isfinite(a) || !std::isfinite(r)) {
      const bool agree = (std::isnan(a) && std::isnan(r)) || a == r;
      if (agree) continue;
      ++m.mismatched;
      if (!mismatch_seen) m.worst = {i, a, r};
      mismatch_seen = true;
      continue;
    }
    ++finite;
    const double error = std::abs(a - r);
    sum_error += error * error;
    sum_reference += r * r;
    sum_actual += a * a;
    sum_product += a * r;
    if (r != 0) m.max_rel = std::max(m.max_rel, error / std::abs(r));
    const double ulp = error / ulp_of(actual.dtype(), r);
    ulps.add(ulp);
    m.max_ulp = std::max(m.max_ulp, ulp);
    if (!mismatch_seen && (m.worst.index < 0 || error > m.max_abs)) m.worst = {i, a, r};
    m.max_abs = std::max(m.max_abs, error);
  }
  m.p99_ulp = std::min(ulps.quantile(0.99), m.max_ulp);
  if (sum_reference > 0) {
    m.nmse = sum_error / sum_reference;
  } else {
    m.nmse = sum_error > 0 ? INFINITY : 0;
  }
  m.snr_db = m.nmse > 0 ? -10 * std::log10(m.nmse) : INFINITY;
  if (sum_actual > 0 && sum_reference > 0) {
    m.cosine = sum_product / std::sqrt(sum_actual * sum_reference);
  } else {
    m.cosine = sum_actual == sum_reference ? 1 : 0;
  }
  if (finite > 0) {
    m.rms_error = std::sqrt(sum_error / static_cast<double>(finite));
  }
  rank_rows(actual, reference, m);
  return m;
}

}  // namespace concord::parity
