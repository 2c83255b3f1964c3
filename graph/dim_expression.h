#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/dim.h"

// The inside of Dim, shared by dim*.cpp only.
namespace concord {

enum class DimFn : std::uint8_t {
  symbol,
  floor_div,
  ceil_div,
  trunc_div,
  mod,
  min,
  max,
  equal,
  less,
  select,
  broadcast  // any number of extents: the first that is not 1
};

struct DimAtom {
  DimFn fn;
  std::string key;  // printed form, the identity
  std::vector<Dim> args;
};
using DimAtomPtr = std::shared_ptr<const DimAtom>;

struct DimTerm {
  std::int64_t coefficient;
  std::vector<DimAtomPtr> atoms;  // sorted by key
  std::string key;                // "a*b"; empty for the constant term
};

struct Dim::Expression {
  std::vector<DimTerm> terms;  // sorted by key, no zero coefficients
  std::string text;
};

// Bounds of an expression whose symbols lie in [0, kMaxExtent]; nullopt: none known.
struct DimRange {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
};

// No axis has more elements than this: what a symbol may stand for at most.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 48;

struct DimAccess {
  static std::vector<DimTerm> terms(const Dim& d);
  // Sums wrap where int64 does, as the tensors' own arithmetic; `overflow` tells.
  static Dim make(std::vector<DimTerm> terms, bool* overflow = nullptr);
  static Dim of_atom(DimAtomPtr atom);
  static Dim call(DimFn fn, std::vector<Dim> args);
  // The atom, if this is one alone.
  static DimAtomPtr atom(const Dim& d);
};

std::optional<std::int64_t> apply_dim_function(DimFn fn, std::span<const std::int64_t> v);
DimRange range_of(const Dim& d);
// Bounds of a − b.
DimRange range_of_difference(const Dim& a, const Dim& b);

}  // namespace concord
