#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

enum Mode : std::uint8_t { at_most, below, at_least, above, equal, unequal, leaf };

bool holds(std::int64_t mode, double x, double value) {
  switch (mode) {
    case at_most:
      return x <= value;
    case below:
      return x < value;
    case at_least:
      return x >= value;
    case above:
      return x > value;
    case equal:
      return x == value;
    default:
      return x != value;
  }
}

// One row's result for each target. The schema has checked the trees.
class Aggregate {
 public:
  explicit Aggregate(const graph::Attributes& attrs)
      : fn_(attrs.text("aggregate")),
        base_(attrs.numbers("base")),
        trees_(static_cast<double>(attrs.integers("roots").size())),
        values_(static_cast<std::size_t>(attrs.integer("targets"))),
        met_(values_.size()) {}

  void clear() {
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(met_.begin(), met_.end(), false);
  }
  void add(std::size_t target, double weight) {
    double& value = values_[target];
    if (!met_[target] || (fn_ != "min" && fn_ != "max")) {
      value += weight;
    } else {
      value = fn_ == "min" ? std::min(value, weight) : std::max(value, weight);
    }
    met_[target] = true;
  }
  double result(std::size_t target) const {
    const double value = fn_ == "average" ? values_[target] / trees_ : values_[target];
    return base_.empty() ? value : value + base_[target];
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::string fn_;
  std::vector<double> base_;
  double trees_;
  std::vector<double> values_;
  std::vector<bool> met_;
};

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const graph::Attributes& attrs = call.node.attrs;
  const auto& modes = attrs.integers("modes");
  const auto& features = attrs.integers("features");
  const auto& thresholds = attrs.numbers("values");
  const auto& missing = attrs.integers("missing");
  const auto& firsts = attrs.integers("firsts");
  const auto& seconds = attrs.integers("seconds");
  const auto& weight_targets = attrs.integers("weight_targets");
  const auto& weights = attrs.numbers("weights");
  if (x.rank() != 2) fail(call.name_of(0) + " has rank " + std::to_string(x.rank()) + ", not 2");
  const std::int64_t rows = x.shape()[0];
  const std::int64_t width = x.shape()[1];
  std::vector<double> wide;
  if (is_float(x.dtype())) {
    wide = doubles(x);
  } else {
    for (const std::int64_t value : x.ints()) wide.push_back(static_cast<double>(value));
  }
  Aggregate aggregate(attrs);
  std::vector<double> y;
  for (std::int64_t row = 0; row < rows; ++row) {
    aggregate.clear();
    for (const std::int64_t root : attrs.integers("roots")) {
      auto node = static_cast<std::size_t>(root);
      while (modes[node] != leaf) {
        if (features[node] >= width) {
          fail(call.name_of(0) + " has " + std::to_string(width) + " features, the trees ask for " +
               std::to_string(features[node]));
        }
        const double value = wide[static_cast<std::size_t>(row * width + features[node])];
        const bool first = (missing[node] != 0 && std::isnan(value)) ||
                           holds(modes[node], value, thresholds[node]);
        node = static_cast<std::size_t>(first ? firsts[node] : seconds[node]);
      }
      for (std::int64_t i = firsts[node]; i < seconds[node]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        aggregate.add(static_cast<std::size_t>(weight_targets[at]), weights[at]);
      }
    }
    for (std::size_t target = 0; target < aggregate.size(); ++target) {
      y.push_back(aggregate.result(target));
    }
  }
  const DataType dtype = x.dtype() == DataType::f64 ? DataType::f64 : attrs.dtype("to");
  return {from_doubles(dtype, {rows, static_cast<std::int64_t>(aggregate.size())}, y)};
}

}  // namespace

const Kernel host_tree_ensemble{nullptr, run};

}  // namespace concord::host
