#include "graph/dim.h"

namespace concord {
namespace {

// Solves `dim` == actual for its only unbound symbol, if it is linear in it; true if bound or
// equal.
bool solve(const Dim& dim, std::int64_t actual, Bindings& bindings) {
  std::set<std::string> names;
  dim.collect_symbols(names);
  std::erase_if(names, [&](const std::string& n) { return bindings.contains(n); });
  if (names.size() != 1) return false;
  const std::string& name = *names.begin();
  std::map<std::string, Dim> known;
  for (const auto& [n, v] : bindings) known.emplace(n, Dim(v));
  const Dim reduced = dim.substitute(known);
  const auto at = [&](std::int64_t x) { return reduced.evaluate({{name, x}}); };
  const auto y0 = at(0);
  const auto y1 = at(1);
  std::int64_t slope = 0;
  std::int64_t rise = 0;
  if (!y0 || !y1 || __builtin_sub_overflow(*y1, *y0, &slope) ||
      __builtin_sub_overflow(actual, *y0, &rise)) {
    return false;
  }
  if (slope == 0 || (slope == -1 && rise > 0) || (slope != -1 && rise % slope != 0)) return false;
  const std::int64_t x = slope == -1 ? -rise : rise / slope;
  if (x < 0 || at(x) != actual) return false;
  bindings[name] = x;
  return true;
}

}  // namespace

std::optional<std::string> bind_shape(std::span<const Dim> shape,
                                      std::span<const std::int64_t> actual, Bindings& bindings) {
  if (shape.size() != actual.size()) {
    return "has rank " + std::to_string(actual.size()) + ", the model wants rank " +
           std::to_string(shape.size()) + " " + to_string(shape);
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (const auto name = shape[i].symbol_name(); name && !bindings.contains(*name)) {
      bindings[*name] = actual[i];
    }
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto wanted = shape[i].evaluate(bindings);
    if (wanted && *wanted != actual[i]) {
      return "dimension " + std::to_string(i) + " is " + std::to_string(actual[i]) +
             ", the model wants " + shape[i].to_string() +
             (shape[i].is_constant() ? "" : " = " + std::to_string(*wanted));
    }
    if (!wanted) solve(shape[i], actual[i], bindings);
  }
  return std::nullopt;
}

}  // namespace concord
