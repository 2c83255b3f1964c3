#include <algorithm>
#include <cmath>

#include "backends/reference/rounding.h"
#include "parity/judge.h"
#include "parity/oracle_pass.h"

namespace concord::parity {
namespace {

// How many times the rms of the noise an output's rms error may be: 4, and more for outputs of few
// elements, whose noise is an estimate from few samples. 4·(1 + 20/n²) follows Student's t at
// two-sided 0.1 % for n degrees of freedom (n = 3: 12.9, 6: 6.2, 12: 4.6).
double noise_factor(std::int64_t samples) {
  const auto n = static_cast<double>(std::max<std::int64_t>(samples, 1));
  return 4 * (1 + 20 / (n * n));
}

bool within(const Tensor& actual, const Tensor& reference, const Tolerance& tolerance) {
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    const double a = actual.at_double(i);
    const double r = reference.at_double(i);
    if (!std::isfinite(a) || !std::isfinite(r)) continue;  // judged before
    if (!(std::abs(a - r) <= tolerance.atol + tolerance.rtol * std::abs(r))) return false;
  }
  return true;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

}  // namespace

OutputReport judge_output(const std::string& name, const Tensor& actual, DataType declared,
                          const Tensor& reference, double noise_rms,
                          const std::optional<Tolerance>& tolerance) {
  OutputReport report;
  report.name = name;
  report.dtype = actual.dtype();
  report.shape = actual.shape();
  if (actual.dtype() != declared) {
    report.verdict = Verdict::type;
    report.note = "is " + std::string(to_string(actual.dtype())) + ", expected " +
                  std::string(to_string(declared));
    return report;
  }
  if (actual.shape() != reference.shape()) {
    report.verdict = Verdict::shape;
    report.note = "has shape " + concord::to_string(actual.shape()) + ", expected " +
                  concord::to_string(reference.shape());
    return report;
  }
  report.metrics = compare(actual, reference);
  const Metrics& m = report.metrics;
  if (!is_float(declared)) {
    if (m.mismatched > 0) {
      report.verdict = Verdict::diverged;
      report.note =
          std::to_string(m.mismatched) + " of " + std::to_string(m.count) + " elements differ";
    }
    return report;
  }
  if (m.mismatched > 0) {
    report.verdict = Verdict::non_finite;
    report.note = std::to_string(m.mismatched) + " elements are NaN or infinite on one side only";
    return report;
  }
  if (tolerance) {
    if (!within(actual, reference, *tolerance)) {
      report.verdict = Verdict::diverged;
      report.note = "outside atol " + number(tolerance->atol) + ", rtol " + number(tolerance->rtol);
    }
    return report;
  }
  report.expected_rms = noise_rms;
  if (!(m.rms_error <=
        noise_factor(kNoiseRuns * m.count) * noise_rms + reference::smallest_normal(declared))) {
    report.verdict = Verdict::diverged;
    report.note = noise_rms > 0 ? "its rms error is " + number(m.rms_error / noise_rms) +
                                      " times what rounding explains"
                                : "no rounding is expected, but the values differ";
  }
  return report;
}

}  // namespace concord::parity
