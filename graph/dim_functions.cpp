#include <algorithm>
#include <map>

#include "graph/dim_expression.h"

// Divisions, minimum, comparison, selection and broadcast of extents, simplified as far as the
// bounds of the symbols tell.
namespace concord {
namespace {

constexpr const char* kNames[] = {"",    "floordiv", "ceildiv", "truncdiv", "mod",      "min",
                                  "max", "equal",    "less",    "select",   "broadcast"};

std::int64_t floor_div_int(std::int64_t a, std::int64_t b) {
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

std::int64_t ceil_div_int(std::int64_t a, std::int64_t b) {
  if (b == -1) return floor_div_int(a, b);
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) == (b < 0))) ? q + 1 : q;
}

std::int64_t mod_int(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Splits a by a divisor of one term: the quotient of the terms that divide exactly, and the rest.
std::pair<Dim, Dim> split(const Dim& a, const DimTerm& divisor) {
  std::vector<DimTerm> quotient;
  std::vector<DimTerm> rest;
  for (const DimTerm& term : DimAccess::terms(a)) {
    DimTerm t = term;
    bool exact = divisor.coefficient != 0 && divisor.coefficient != -1 &&
                 term.coefficient % divisor.coefficient == 0;
    for (const DimAtomPtr& atom : divisor.atoms) {
      const auto it = std::find_if(t.atoms.begin(), t.atoms.end(),
                                   [&](const DimAtomPtr& p) { return p->key == atom->key; });
      exact = exact && it != t.atoms.end();
      if (!exact) break;
      t.atoms.erase(it);
    }
    if (!exact) {
      rest.push_back(term);
      continue;
    }
    t.coefficient /= divisor.coefficient;
    t.key.clear();
    for (const DimAtomPtr& atom : t.atoms) t.key += (t.key.empty() ? "" : "*") + atom->key;
    quotient.push_back(std::move(t));
  }
  return {DimAccess::make(std::move(quotient)), DimAccess::make(std::move(rest))};
}

// Orders monomials lexicographically by the powers of their atoms, which multiplication respects.
bool leads(const DimTerm& a, const DimTerm& b) {
  std::size_t i = 0;
  for (; i < a.atoms.size() && i < b.atoms.size(); ++i) {
    const int order = a.atoms[i]->key.compare(b.atoms[i]->key);
    if (order != 0) return order < 0;
  }
  return i < a.atoms.size();
}

const DimTerm* leading(const std::vector<DimTerm>& terms) {
  const DimTerm* best = nullptr;
  for (const DimTerm& term : terms) {
    if (best == nullptr || leads(term, *best)) best = &term;
  }
  return best;
}

}  // namespace

std::optional<std::int64_t> apply_dim_function(DimFn fn, std::span<const std::int64_t> v) {
  switch (fn) {
    case DimFn::floor_div:
      return v[1] == 0 ? std::nullopt : std::optional(floor_div_int(v[0], v[1]));
    case DimFn::ceil_div:
      return v[1] == 0 ? std::nullopt : std::optional(ceil_div_int(v[0], v[1]));
    case DimFn::trunc_div:
      if (v[1] == 0) return std::nullopt;
      return v[1] == -1 ? floor_div_int(v[0], -1) : v[0] / v[1];
    case DimFn::mod:
      return v[1] == 0 ? std::nullopt : std::optional(mod_int(v[0], v[1]));
    case DimFn::min:
      return std::min(v[0], v[1]);
    case DimFn::max:
      return std::max(v[0], v[1]);
    case DimFn::equal:
      return v[0] == v[1] ? 1 : 0;
    case DimFn::less:
      return v[0] < v[1] ? 1 : 0;
    case DimFn::select:
      return v[0] != 0 ? v[1] : v[2];
    case DimFn::broadcast:
      for (const std::int64_t d : v) {
        if (d != 1) return d;
      }
      return 1;
    case DimFn::symbol:
      break;
  }
  return std::nullopt;
}

Dim DimAccess::call(DimFn fn, std::vector<Dim> args) {
  std::vector<std::int64_t> values;
  for (const Dim& arg : args) {
    if (arg.is_constant()) values.push_back(*arg.constant());
  }
  if (values.size() == args.size()) {
    if (const auto v = apply_dim_function(fn, values)) return Dim(*v);
  }
  std::string key = std::string(kNames[static_cast<std::size_t>(fn)]) + "(";
  for (std::size_t i = 0; i < args.size(); ++i) key += (i ? ", " : "") + args[i].to_string();
  key += ")";
  return of_atom(std::make_shared<DimAtom>(DimAtom{fn, std::move(key), std::move(args)}));
}

std::optional<Dim> Dim::exact_div(const Dim& a, const Dim& b) {
  if (b.is_constant(0)) return std::nullopt;
  if (b.is_constant(1)) return a;
  if (a.is_constant(0)) return Dim(0);
  if (a == b) return Dim(1);
  if (b.is_constant(-1)) return Dim(0) - a;
  const std::vector<DimTerm> divisor = DimAccess::terms(b);
  if (divisor.size() == 1) {
    auto [quotient, rest] = split(a, divisor[0]);
    return rest.is_constant(0) ? std::optional(quotient) : std::nullopt;
  }
  // Polynomial division: each step removes the leading term of what is left.
  const DimTerm lead = *leading(divisor);
  Dim quotient(0);
  Dim rest = a;
  for (int step = 0; step < 64; ++step) {
    if (rest.is_constant(0)) return quotient;
    const std::vector<DimTerm> terms = DimAccess::terms(rest);
    if (terms.size() > 256) return std::nullopt;
    const auto [q, r] = split(DimAccess::make({*leading(terms)}), lead);
    if (!r.is_constant(0)) return std::nullopt;
    quotient = quotient + q;
    rest = rest - q * b;
  }
  return std::nullopt;
}

Dim Dim::floor_div(const Dim& a, const Dim& b) {
  if (const auto q = exact_div(a, b)) return *q;
  const std::vector<DimTerm> divisor = DimAccess::terms(b);
  if (divisor.size() != 1) return DimAccess::call(DimFn::floor_div, {a, b});
  // ⌊(b·q + r) / b⌋ = q + ⌊r / b⌋.
  const auto [quotient, rest] = split(a, divisor[0]);
  if (const auto d = b.constant(); d && *d > 0) {
    const DimRange r = range_of(rest);
    if (r.low && r.high && floor_div_int(*r.low, *d) == floor_div_int(*r.high, *d)) {
      return quotient + Dim(floor_div_int(*r.low, *d));
    }
    // ⌊⌊x / c⌋ / d⌋ = ⌊x / (c·d)⌋.
    if (const DimAtomPtr inner = DimAccess::atom(rest); inner && inner->fn == DimFn::floor_div) {
      std::int64_t both = 0;
      const auto c = inner->args[1].constant();
      if (c && *c > 0 && !__builtin_mul_overflow(*c, *d, &both)) {
        return quotient + floor_div(inner->args[0], both);
      }
    }
  }
  return quotient + DimAccess::call(DimFn::floor_div, {rest, b});
}

Dim Dim::ceil_div(const Dim& a, const Dim& b) {
  if (const auto q = exact_div(a, b)) return *q;
  if (a.is_constant() && b.is_constant()) return DimAccess::call(DimFn::ceil_div, {a, b});
  if (const auto d = b.constant(); d && *d > 0) return floor_div(a + Dim(*d - 1), b);
  return DimAccess::call(DimFn::ceil_div, {a, b});
}

Dim Dim::trunc_div(const Dim& a, const Dim& b) {
  if (const auto q = exact_div(a, b)) return *q;
  if (a.is_constant() && b.is_constant()) return DimAccess::call(DimFn::trunc_div, {a, b});
  const DimRange x = range_of(a);
  const DimRange y = range_of(b);
  if (y.low && *y.low >= 0) {
    if (x.low && *x.low >= 0) return floor_div(a, b);
    if (x.high && *x.high <= 0) return Dim(0) - floor_div(Dim(0) - a, b);
  }
  return DimAccess::call(DimFn::trunc_div, {a, b});
}

Dim Dim::mod(const Dim& a, const Dim& b) {
  if (exact_div(a, b)) return Dim(0);
  const auto d = b.constant();
  if (!d || *d <= 0) return DimAccess::call(DimFn::mod, {a, b});
  const Dim rest = split(a, DimAccess::terms(b)[0]).second;
  const DimRange r = range_of(rest);
  if (r.low && r.high && floor_div_int(*r.low, *d) == floor_div_int(*r.high, *d)) {
    return rest - Dim(floor_div_int(*r.low, *d)) * b;
  }
  return DimAccess::call(DimFn::mod, {rest, b});
}

Dim Dim::min(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return *a.constant() <= *b.constant() ? a : b;
  const DimRange d = range_of_difference(a, b);
  if (d.high && *d.high <= 0) return a;
  if (d.low && *d.low >= 0) return b;
  return b < a ? DimAccess::call(DimFn::min, {b, a}) : DimAccess::call(DimFn::min, {a, b});
}

Dim Dim::max(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return *a.constant() >= *b.constant() ? a : b;
  const DimRange d = range_of_difference(a, b);
  if (d.low && *d.low >= 0) return a;
  if (d.high && *d.high <= 0) return b;
  return b < a ? DimAccess::call(DimFn::max, {b, a}) : DimAccess::call(DimFn::max, {a, b});
}

Dim Dim::equal(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return *a.constant() == *b.constant() ? 1 : 0;
  if (a == b) return 1;
  const DimRange d = range_of_difference(a, b);
  if ((d.low && *d.low > 0) || (d.high && *d.high < 0)) return 0;
  return b < a ? DimAccess::call(DimFn::equal, {b, a}) : DimAccess::call(DimFn::equal, {a, b});
}

Dim Dim::less(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return *a.constant() < *b.constant() ? 1 : 0;
  const DimRange d = range_of_difference(a, b);
  if (d.high && *d.high < 0) return 1;
  if (d.low && *d.low >= 0) return 0;
  return DimAccess::call(DimFn::less, {a, b});
}

Dim Dim::select(const Dim& condition, const Dim& if_true, const Dim& if_false) {
  if (const auto c = condition.constant()) return *c != 0 ? if_true : if_false;
  if (if_true == if_false) return if_true;
  const DimRange c = range_of(condition);
  if ((c.low && *c.low > 0) || (c.high && *c.high < 0)) return if_true;
  return DimAccess::call(DimFn::select, {condition, if_true, if_false});
}

Dim Dim::broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is_constant(1)) return a;
  if (a.is_constant(1)) return b;
  // A number other than 1 is the result, or the model contradicts itself when it is run; so is
  // what cannot be 1.
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  const auto above_one = [](const Dim& d) {
    const DimRange r = range_of(d);
    return r.low && *r.low > 1;
  };
  if (above_one(a)) return a;
  if (above_one(b)) return b;
  // min(x, y) beside x, where y is above 1: they agree only where it is x.
  const auto absorbs = [&](const Dim& x, const Dim& other) {
    const DimAtomPtr atom = DimAccess::atom(other);
    if (!atom || atom->fn != DimFn::min) return false;
    return (atom->args[0] == x && above_one(atom->args[1])) ||
           (atom->args[1] == x && above_one(atom->args[0]));
  };
  if (absorbs(a, b)) return a;
  if (absorbs(b, a)) return b;
  std::vector<Dim> all;
  for (const Dim* d : {&a, &b}) {
    const DimAtomPtr atom = DimAccess::atom(*d);
    if (atom && atom->fn == DimFn::broadcast) {
      all.insert(all.end(), atom->args.begin(), atom->args.end());
    } else {
      all.push_back(*d);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return DimAccess::call(DimFn::broadcast, std::move(all));
}

Dim Dim::substitute(const std::map<std::string, Dim>& replacements) const {
  if (!expression_) return *this;
  Dim sum(0);
  for (const DimTerm& term : expression_->terms) {
    Dim product(term.coefficient);
    for (const DimAtomPtr& atom : term.atoms) {
      if (atom->fn == DimFn::symbol) {
        const auto it = replacements.find(atom->key);
        product = product * (it == replacements.end() ? DimAccess::of_atom(atom) : it->second);
        continue;
      }
      std::vector<Dim> a;
      for (const Dim& arg : atom->args) a.push_back(arg.substitute(replacements));
      switch (atom->fn) {
        case DimFn::floor_div:
          product = product * floor_div(a[0], a[1]);
          break;
        case DimFn::ceil_div:
          product = product * ceil_div(a[0], a[1]);
          break;
        case DimFn::trunc_div:
          product = product * trunc_div(a[0], a[1]);
          break;
        case DimFn::mod:
          product = product * mod(a[0], a[1]);
          break;
        case DimFn::min:
          product = product * min(a[0], a[1]);
          break;
        case DimFn::max:
          product = product * max(a[0], a[1]);
          break;
        case DimFn::equal:
          product = product * equal(a[0], a[1]);
          break;
        case DimFn::less:
          product = product * less(a[0], a[1]);
          break;
        case DimFn::select:
          product = product * select(a[0], a[1], a[2]);
          break;
        case DimFn::broadcast: {
          Dim all = a[0];
          for (std::size_t i = 1; i < a.size(); ++i) all = broadcast(all, a[i]);
          product = product * all;
          break;
        }
        case DimFn::symbol:
          break;
      }
    }
    sum = sum + product;
  }
  return sum;
}

}  // namespace concord
