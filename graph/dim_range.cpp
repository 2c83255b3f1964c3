#include <algorithm>
#include <array>
#include <limits>

#include "graph/dim_expression.h"

// Bounds of expressions, from the bounds of their symbols.
namespace concord {
namespace {

using Bound = std::optional<std::int64_t>;  // nullopt: infinite

Bound add(Bound a, Bound b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

Bound least(Bound a, Bound b) {
  return a && b ? Bound(std::min(*a, *b)) : std::nullopt;
}
Bound most(Bound a, Bound b) {
  return a && b ? Bound(std::max(*a, *b)) : std::nullopt;
}

DimRange add(const DimRange& a, const DimRange& b) {
  return {add(a.low, b.low), add(a.high, b.high)};
}

DimRange multiply(const DimRange& a, const DimRange& b) {
  // Of two non-negative factors the lower bounds multiply whatever the upper ones are.
  if (a.low && b.low && *a.low >= 0 && *b.low >= 0) {
    DimRange r{0, std::nullopt};
    std::int64_t p = 0;
    if (!__builtin_mul_overflow(*a.low, *b.low, &p)) r.low = p;
    if (a.high && b.high && !__builtin_mul_overflow(*a.high, *b.high, &p)) r.high = p;
    return r;
  }
  if (!a.low || !a.high || !b.low || !b.high) return {};
  std::array<std::int64_t, 4> p{};
  std::size_t n = 0;
  for (const std::int64_t x : {*a.low, *a.high}) {
    for (const std::int64_t y : {*b.low, *b.high}) {
      if (__builtin_mul_overflow(x, y, &p[n++])) return {};
    }
  }
  return {*std::min_element(p.begin(), p.end()), *std::max_element(p.begin(), p.end())};
}

DimRange scale(const DimRange& r, std::int64_t factor) {
  const auto times = [&](Bound b) -> Bound {
    std::int64_t p = 0;
    if (!b || __builtin_mul_overflow(*b, factor, &p)) return std::nullopt;
    return p;
  };
  if (factor >= 0) return {times(r.low), times(r.high)};
  return {times(r.high), times(r.low)};
}

DimRange range_of_atom(const DimAtom& atom, int depth);

DimRange range_of_terms(const std::vector<DimTerm>& terms, int depth) {
  DimRange sum{0, 0};
  for (const DimTerm& term : terms) {
    DimRange product{1, 1};
    for (const DimAtomPtr& atom : term.atoms) {
      product = multiply(product, range_of_atom(*atom, depth));
    }
    sum = add(sum, scale(product, term.coefficient));
  }
  return sum;
}

DimRange range_at(const Dim& d, int depth) {
  if (depth <= 0) return {};
  if (const auto c = d.constant()) return {*c, *c};
  return range_of_terms(DimAccess::terms(d), depth - 1);
}

DimRange range_of_atom(const DimAtom& atom, int depth) {
  const auto arg = [&](std::size_t i) { return range_at(atom.args[i], depth); };
  switch (atom.fn) {
    case DimFn::symbol:
      return {0, kMaxExtent};
    case DimFn::floor_div:
    case DimFn::ceil_div:
    case DimFn::trunc_div: {
      const DimRange a = arg(0);
      const auto d = atom.args[1].constant();
      if (d && *d > 0) {
        const auto divide = [&](Bound b) -> Bound {
          if (!b) return std::nullopt;
          const std::int64_t v[] = {*b, *d};
          return apply_dim_function(atom.fn, v);
        };
        return {divide(a.low), divide(a.high)};
      }
      const DimRange b = arg(1);
      if (a.low && *a.low >= 0 && b.low && *b.low >= 0) return {0, a.high};
      return {};
    }
    case DimFn::mod: {
      const DimRange b = arg(1);
      if (b.low && *b.low >= 0) return {0, add(b.high, -1)};
      return {};
    }
    case DimFn::min: {
      const DimRange a = arg(0);
      const DimRange b = arg(1);
      const Bound high = a.high && b.high ? Bound(std::min(*a.high, *b.high))
                         : a.high         ? a.high
                                          : b.high;
      return {least(a.low, b.low), high};
    }
    case DimFn::max: {
      const DimRange a = arg(0);
      const DimRange b = arg(1);
      const Bound low = a.low && b.low ? Bound(std::max(*a.low, *b.low)) : a.low ? a.low : b.low;
      return {low, most(a.high, b.high)};
    }
    case DimFn::equal:
    case DimFn::less:
      return {0, 1};
    case DimFn::select: {
      const DimRange a = arg(1);
      const DimRange b = arg(2);
      return {least(a.low, b.low), most(a.high, b.high)};
    }
    case DimFn::broadcast: {
      DimRange all = arg(0);
      for (std::size_t i = 1; i < atom.args.size(); ++i) {
        const DimRange b = arg(i);
        all = {least(all.low, b.low), most(all.high, b.high)};
      }
      return all;
    }
  }
  return {};
}

constexpr int kDepth = 8;

// The greatest lower bound found. −min(x, y) is at least −x and −y, max(x, y) at least x and y:
// putting an argument in its place may cancel against other terms.
Bound lower_bound(const std::vector<DimTerm>& terms, int tries) {
  Bound best = range_of_terms(terms, kDepth).low;
  if (tries <= 0 || terms.size() > 16) return best;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const DimTerm& term = terms[i];
    if (term.atoms.size() != 1) continue;
    const DimAtom& atom = *term.atoms[0];
    const bool usable = (atom.fn == DimFn::min && term.coefficient < 0) ||
                        (atom.fn == DimFn::max && term.coefficient > 0);
    if (!usable) continue;
    for (const Dim& arg : atom.args) {
      std::vector<DimTerm> replaced = terms;
      replaced.erase(replaced.begin() + static_cast<std::ptrdiff_t>(i));
      bool overflow = false;
      for (DimTerm t : DimAccess::terms(arg)) {
        overflow =
            overflow || __builtin_mul_overflow(t.coefficient, term.coefficient, &t.coefficient);
        replaced.push_back(std::move(t));
      }
      const Dim sum = DimAccess::make(std::move(replaced), &overflow);
      if (overflow) continue;
      const Bound b = lower_bound(DimAccess::terms(sum), tries - 1);
      if (b && (!best || *b > *best)) best = b;
    }
  }
  return best;
}

std::optional<std::vector<DimTerm>> negated(std::vector<DimTerm> terms) {
  for (DimTerm& t : terms) {
    if (__builtin_sub_overflow(std::int64_t{0}, t.coefficient, &t.coefficient)) return std::nullopt;
  }
  return terms;
}

DimRange range_of(const std::vector<DimTerm>& terms) {
  DimRange r{lower_bound(terms, 3), std::nullopt};
  if (const auto opposite = negated(terms)) {
    if (const Bound b = lower_bound(*opposite, 3);
        b && *b != std::numeric_limits<std::int64_t>::min()) {
      r.high = -*b;
    }
  }
  return r;
}

}  // namespace

DimRange range_of(const Dim& d) {
  if (const auto c = d.constant()) return {*c, *c};
  if (d.too_complex()) return {};
  return range_of(DimAccess::terms(d));
}

DimRange range_of_difference(const Dim& a, const Dim& b) {
  if (a.too_complex() || b.too_complex()) return {};
  std::vector<DimTerm> terms = DimAccess::terms(a);
  const auto opposite = negated(DimAccess::terms(b));
  if (!opposite) return {};
  terms.insert(terms.end(), opposite->begin(), opposite->end());
  bool overflow = false;
  const Dim difference = DimAccess::make(std::move(terms), &overflow);
  if (overflow) return {};
  return range_of(DimAccess::terms(difference));
}

std::optional<std::int64_t> Dim::lower_bound() const {
  return range_of(*this).low;
}

std::optional<std::int64_t> Dim::upper_bound() const {
  return range_of(*this).high;
}

}  // namespace concord
