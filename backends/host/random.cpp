#include <cmath>
#include <numbers>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// The finaliser of SplitMix64 over a counter: every element can be drawn by itself, and is the same
// on every machine.
std::uint64_t scrambled(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// In [0, 1).
double unit(std::uint64_t stream, std::uint64_t counter) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  return static_cast<double>(scrambled(stream + (counter + 1) * golden) >> 11) * 0x1p-53;
}

std::vector<Tensor> run(const Call& call) {
  const graph::Attributes& attrs = call.node.attrs;
  Shape shape = call.list("shape", 0);
  const DataType dtype = attrs.dtype("to");
  const bool normal = attrs.text("fn") == "normal";
  const double alpha = attrs.number("alpha");
  const double beta = attrs.number("beta");
  const std::uint64_t stream = scrambled(static_cast<std::uint64_t>(attrs.integer("seed")));
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (normal) {  // Box and Muller
      const double radius = std::sqrt(-2 * std::log(1 - unit(stream, 2 * i)));
      values[i] = alpha + beta * radius * std::cos(2 * std::numbers::pi * unit(stream, 2 * i + 1));
      continue;
    }
    // What rounding would make the end of the interval becomes its beginning.
    const double value = alpha + (beta - alpha) * unit(stream, i);
    const double stored = float_from_bits(dtype, float_to_bits(dtype, value));
    values[i] = stored < beta ? value : alpha;
  }
  return {from_doubles(dtype, std::move(shape), values)};
}

}  // namespace

const Kernel host_random{nullptr, run};

}  // namespace concord::host
