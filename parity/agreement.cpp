#include "parity/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parity/metrics.h"

namespace concord::parity {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool same_bits(const Answers& a, const Answers& b) {
  return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    [](const Tensor& x, const Tensor& y) {
                      return x.defined() == y.defined() && (!x.defined() || identical(x, y));
                    });
}

double rms_difference(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = a.at_double(i);
    const double y = b.at_double(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    sum += (x - y) * (x - y);
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(a.count(), 1)));
}

std::optional<double> ratio_of(const Tensor& a, const Tensor& b, std::optional<double> noise_a,
                               std::optional<double> noise_b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return kNever;
  if (identical(a, b)) return 0;
  if (!is_float(a.dtype())) return kNever;
  if (!noise_a || !noise_b) return std::nullopt;
  const double allowed = 4 * std::hypot(*noise_a, *noise_b);
  const double difference = rms_difference(a, b);
  if (std::isnan(difference)) return kNever;
  return allowed > 0 ? difference / allowed : kNever;
}

AgreementPair compare(const Answers& a, const Answers& b) {
  AgreementPair pair;
  pair.identical = same_bits(a, b);
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
    if (!a.outputs[i].defined() || !b.outputs[i].defined()) continue;
    const auto ratio =
        ratio_of(a.outputs[i], b.outputs[i], a.expected_rms.at(i), b.expected_rms.at(i));
    if (!ratio) return pair;
    worst = std::max(worst, *ratio);
  }
  pair.ratio = worst;
  return pair;
}

}  // namespace

Agreement agreement_of(std::span<const Answers> answers) {
  Agreement result;
  for (std::size_t b = 0; b < answers.size(); ++b) {
    result.participants.push_back(answers[b].spec);
    int its_class = -1;
    for (std::size_t a = 0; a < b; ++a) {
      AgreementPair pair = compare(answers[a], answers[b]);
      pair.a = static_cast<int>(a);
      pair.b = static_cast<int>(b);
      if (pair.identical) its_class = result.classes[a];
      result.pairs.push_back(pair);
    }
    if (its_class < 0) {
      its_class = result.classes.empty()
                      ? 0
                      : 1 + *std::max_element(result.classes.begin(), result.classes.end());
    }
    result.classes.push_back(its_class);
  }
  return result;
}

}  // namespace concord::parity
