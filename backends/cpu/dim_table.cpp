#include "backends/cpu/dim_table.h"

#include <algorithm>
#include <set>

#include "graph/operand_errors.h"

namespace concord::cpu {

DimRef DimTable::add(const Dim& dim) {
  if (const auto constant = dim.constant()) return {-1, *constant};
  const auto found = std::find(dims_.begin(), dims_.end(), dim);
  const auto slot = static_cast<std::int32_t>(found - dims_.begin());
  if (found == dims_.end()) {
    dims_.push_back(dim);
    std::set<std::string> names(symbols_.begin(), symbols_.end());
    dim.collect_symbols(names);
    symbols_.assign(names.begin(), names.end());
  }
  return {slot, 0};
}

std::vector<DimRef> DimTable::add(const SymShape& shape) {
  std::vector<DimRef> refs;
  refs.reserve(shape.size());
  for (const Dim& dim : shape) refs.push_back(add(dim));
  return refs;
}

std::vector<std::int64_t> DimTable::evaluate(const Bindings& bindings) const {
  std::vector<std::int64_t> values;
  values.reserve(dims_.size());
  for (const Dim& dim : dims_) {
    const auto value = dim.evaluate(bindings);
    if (!value) throw graph::no_value(dim, bindings);
    values.push_back(*value);
  }
  return values;
}

}  // namespace concord::cpu
