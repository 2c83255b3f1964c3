#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/dim.h"

namespace concord::cpu {

// One extent of a program: a number, or the index of an expression in the program's table.
struct DimRef {
  std::int32_t slot = -1;  // −1: the number is known
  std::int64_t value = 0;
};

// The distinct symbolic extents of a program. They are evaluated once per plan, in one go, so that
// planning does not walk expressions for every value.
class DimTable {
 public:
  DimRef add(const Dim& dim);
  std::vector<DimRef> add(const SymShape& shape);

  // The symbols that occur, sorted: what a plan depends on.
  const std::vector<std::string>& symbols() const { return symbols_; }

  // Values of the expressions by slot. Throws Error(usage) naming a symbol without a value.
  std::vector<std::int64_t> evaluate(const Bindings& bindings) const;

 private:
  std::vector<Dim> dims_;
  std::vector<std::string> symbols_;
};

}  // namespace concord::cpu
