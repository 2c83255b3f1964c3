#include "backends/reference/budget.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/rounding.h"

namespace concord::reference {

double budget(double y, double sigma, DataType store) {
  const bool exact = sigma == 0 && round_to(store, y) == y;
  const double rounding = exact ? 0 : unit_roundoff(store) * std::abs(y);
  return kLambda * sigma + rounding + smallest_normal(store);
}

bool quantised_within(double observed, double unrounded, double sigma, DataType to) {
  const auto [lowest, highest] = integer_limits(to);
  const double low = std::nearbyint(unrounded - kLambda * sigma);
  const double high = std::nearbyint(unrounded + kLambda * sigma);
  return observed >= std::clamp(low, lowest, highest) &&
         observed <= std::clamp(high, lowest, highest);
}

}  // namespace concord::reference
