#include "graph/dim.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>

namespace concord {
namespace {

enum Kind {
  kSymbol,
  kFloorDiv,
  kCeilDiv,
  kTruncDiv,
  kMod,
  kMin,
  kMax,
  kEqual,
  kLess,
  kSelect,
  kBroadcast
};

constexpr const char* kNames[] = {"",    "floordiv", "ceildiv", "truncdiv", "mod",      "min",
                                  "max", "equal",    "less",    "select",   "broadcast"};

struct Atom {
  Kind kind;
  std::string key;  // printed form, the identity
  std::vector<Dim> args;
};
using AtomPtr = std::shared_ptr<const Atom>;

struct Term {
  std::int64_t coefficient;
  std::vector<AtomPtr> atoms;  // sorted by key
  std::string key;             // "a*b"
};

std::int64_t floor_div_int(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

std::string term_key(const std::vector<AtomPtr>& atoms) {
  std::string key;
  for (const AtomPtr& atom : atoms) {
    if (!key.empty()) key += '*';
    key += atom->key;
  }
  return key;
}

std::optional<std::int64_t> apply_function(Kind kind, std::span<const std::int64_t> v) {
  switch (kind) {
    case kFloorDiv:
      return v[1] == 0 ? std::nullopt : std::optional(floor_div_int(v[0], v[1]));
    case kCeilDiv:
      return v[1] == 0 ? std::nullopt : std::optional(-floor_div_int(-v[0], v[1]));
    case kTruncDiv:
      return v[1] == 0 ? std::nullopt : std::optional(v[0] / v[1]);
    case kMod:
      return v[1] == 0 ? std::nullopt : std::optional(v[0] - floor_div_int(v[0], v[1]) * v[1]);
    case kMin:
      return std::min(v[0], v[1]);
    case kMax:
      return std::max(v[0], v[1]);
    case kEqual:
      return v[0] == v[1] ? 1 : 0;
    case kLess:
      return v[0] < v[1] ? 1 : 0;
    case kSelect:
      return v[0] != 0 ? v[1] : v[2];
    case kBroadcast:
      return v[0] == 1 ? v[1] : v[0];
    case kSymbol:
      break;
  }
  return std::nullopt;
}

}  // namespace

struct Dim::Expression {
  std::vector<Term> terms;  // sorted by key, no zero coefficients; the constant term has key ""
};

struct DimAccess {
  static std::vector<Term> terms(const Dim& d) {
    if (d.expression_) return d.expression_->terms;
    if (d.value_ == 0) return {};
    return {Term{d.value_, {}, ""}};
  }

  static Dim make(std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return a.key < b.key; });
    std::vector<Term> merged;
    for (Term& term : terms) {
      if (!merged.empty() && merged.back().key == term.key) {
        merged.back().coefficient += term.coefficient;
      } else {
        merged.push_back(std::move(term));
      }
    }
    std::erase_if(merged, [](const Term& t) { return t.coefficient == 0; });
    if (merged.empty()) return Dim(0);
    if (merged.size() == 1 && merged[0].key.empty()) return Dim(merged[0].coefficient);
    auto e = std::make_shared<Dim::Expression>();
    e->terms = std::move(merged);
    return Dim(std::shared_ptr<const Dim::Expression>(std::move(e)));
  }

  static Dim of_atom(AtomPtr atom) {
    std::string key = atom->key;
    return make({Term{1, {std::move(atom)}, std::move(key)}});
  }
};

Dim Dim::symbol(const std::string& name) {
  return DimAccess::of_atom(std::make_shared<Atom>(Atom{kSymbol, name, {}}));
}

Dim Dim::fresh_dynamic(const std::string& hint) {
  static std::atomic<int> next{0};
  return symbol("?" + hint + std::to_string(next++));
}

Dim Dim::function(int kind, std::vector<Dim> args) {
  std::vector<std::int64_t> values;
  for (const Dim& arg : args) {
    if (arg.is_constant()) values.push_back(arg.value_);
  }
  if (values.size() == args.size()) {
    if (const auto v = apply_function(static_cast<Kind>(kind), values)) return Dim(*v);
  }
  std::string key = std::string(kNames[kind]) + "(";
  for (std::size_t i = 0; i < args.size(); ++i) key += (i ? ", " : "") + args[i].to_string();
  key += ")";
  return DimAccess::of_atom(
      std::make_shared<Atom>(Atom{static_cast<Kind>(kind), std::move(key), std::move(args)}));
}

std::optional<std::int64_t> Dim::constant() const {
  return is_constant() ? std::optional(value_) : std::nullopt;
}

std::optional<std::string> Dim::symbol_name() const {
  if (!expression_ || expression_->terms.size() != 1) return std::nullopt;
  const Term& term = expression_->terms[0];
  if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0]->kind != kSymbol) {
    return std::nullopt;
  }
  return term.atoms[0]->key;
}

void Dim::collect_symbols(std::set<std::string>& names) const {
  if (!expression_) return;
  for (const Term& term : expression_->terms) {
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == kSymbol) names.insert(atom->key);
      for (const Dim& arg : atom->args) arg.collect_symbols(names);
    }
  }
}

bool Dim::has_dynamic() const {
  std::set<std::string> names;
  collect_symbols(names);
  return std::any_of(names.begin(), names.end(), [](const auto& n) { return n[0] == '?'; });
}

bool Dim::too_complex() const {
  if (!expression_) return false;
  constexpr std::size_t limit = 600;  // characters
  std::size_t size = 0;
  for (const Term& term : expression_->terms) size += term.key.size() + 4;
  return size > limit;
}

std::optional<std::int64_t> Dim::evaluate(const Bindings& bindings) const {
  if (!expression_) return value_;
  std::int64_t sum = 0;
  for (const Term& term : expression_->terms) {
    std::int64_t product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) {
      std::optional<std::int64_t> v;
      if (atom->kind == kSymbol) {
        const auto it = bindings.find(atom->key);
        if (it != bindings.end()) v = it->second;
      } else {
        std::vector<std::int64_t> args;
        for (const Dim& arg : atom->args) {
          const auto a = arg.evaluate(bindings);
          if (!a) return std::nullopt;
          args.push_back(*a);
        }
        v = apply_function(atom->kind, args);
      }
      if (!v || __builtin_mul_overflow(product, *v, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

Dim Dim::substitute(const std::map<std::string, Dim>& replacements) const {
  if (!expression_) return *this;
  Dim sum(0);
  for (const Term& term : expression_->terms) {
    Dim product(term.coefficient);
    for (const AtomPtr& atom : term.atoms) {
      if (atom->kind == kSymbol) {
        const auto it = replacements.find(atom->key);
        product = product * (it == replacements.end() ? DimAccess::of_atom(atom) : it->second);
        continue;
      }
      std::vector<Dim> a;
      for (const Dim& arg : atom->args) a.push_back(arg.substitute(replacements));
      switch (atom->kind) {
        case kFloorDiv:
          product = product * floor_div(a[0], a[1]);
          break;
        case kCeilDiv:
          product = product * ceil_div(a[0], a[1]);
          break;
        case kTruncDiv:
          product = product * trunc_div(a[0], a[1]);
          break;
        case kMod:
          product = product * mod(a[0], a[1]);
          break;
        case kMin:
          product = product * min(a[0], a[1]);
          break;
        case kMax:
          product = product * max(a[0], a[1]);
          break;
        case kEqual:
          product = product * equal(a[0], a[1]);
          break;
        case kLess:
          product = product * less(a[0], a[1]);
          break;
        case kSelect:
          product = product * select(a[0], a[1], a[2]);
          break;
        case kBroadcast:
          product = product * broadcast(a[0], a[1]);
          break;
        case kSymbol:
          break;
      }
    }
    sum = sum + product;
  }
  return sum;
}

std::string Dim::to_string() const {
  if (!expression_) return std::to_string(value_);
  std::string text;
  std::string constant;
  for (const Term& term : expression_->terms) {
    const bool negative = term.coefficient < 0;
    const std::int64_t magnitude = negative ? -term.coefficient : term.coefficient;
    std::string piece = term.key;
    if (term.key.empty()) {
      piece = std::to_string(magnitude);
    } else if (magnitude != 1) {
      piece = std::to_string(magnitude) + "*" + term.key;
    }
    if (term.key.empty()) {
      constant = (negative ? " - " : " + ") + piece;
    } else if (text.empty()) {
      text = (negative ? "-" : "") + piece;
    } else {
      text += (negative ? " - " : " + ") + piece;
    }
  }
  return text + constant;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(a.value_ + b.value_);
  std::vector<Term> terms = DimAccess::terms(a);
  for (Term& term : DimAccess::terms(b)) terms.push_back(std::move(term));
  return DimAccess::make(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + Dim(-1) * b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(a.value_ * b.value_);
  std::vector<Term> terms;
  for (const Term& x : DimAccess::terms(a)) {
    for (const Term& y : DimAccess::terms(b)) {
      Term t{x.coefficient * y.coefficient, x.atoms, {}};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end(),
                [](const AtomPtr& p, const AtomPtr& q) { return p->key < q->key; });
      t.key = term_key(t.atoms);
      terms.push_back(std::move(t));
    }
  }
  return DimAccess::make(std::move(terms));
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_constant() || b.is_constant()) {
    return a.is_constant() && b.is_constant() && a.value_ == b.value_;
  }
  if (a.expression_ == b.expression_) return true;
  const auto& x = a.expression_->terms;
  const auto& y = b.expression_->terms;
  return x.size() == y.size() &&
         std::equal(x.begin(), x.end(), y.begin(), [](const Term& p, const Term& q) {
           return p.coefficient == q.coefficient && p.key == q.key;
         });
}

std::optional<Dim> Dim::exact_div(const Dim& a, const Dim& b) {
  if (b.is_constant(0)) return std::nullopt;
  if (b.is_constant(1)) return a;
  if (a.is_constant(0)) return Dim(0);
  if (a == b) return Dim(1);
  const std::vector<Term> divisor = DimAccess::terms(b);
  if (divisor.size() == 1) {
    std::vector<Term> terms;
    for (const Term& term : DimAccess::terms(a)) {
      if (term.coefficient % divisor[0].coefficient != 0) return std::nullopt;
      Term t{term.coefficient / divisor[0].coefficient, term.atoms, {}};
      for (const AtomPtr& atom : divisor[0].atoms) {
        const auto it = std::find_if(t.atoms.begin(), t.atoms.end(),
                                     [&](const AtomPtr& p) { return p->key == atom->key; });
        if (it == t.atoms.end()) return std::nullopt;
        t.atoms.erase(it);
      }
      t.key = term_key(t.atoms);
      terms.push_back(std::move(t));
    }
    return DimAccess::make(std::move(terms));
  }
  // A sum divided by a sum: try the quotient of the leading terms.
  const std::vector<Term> dividend = DimAccess::terms(a);
  if (dividend.size() % divisor.size() != 0) return std::nullopt;
  for (const Term& lead : dividend) {
    const auto q = exact_div(DimAccess::make({lead}), DimAccess::make({divisor.back()}));
    if (!q) continue;
    const Dim rest = a - *q * b;
    if (rest.is_constant(0)) return q;
    if (DimAccess::terms(rest).size() < dividend.size()) {
      if (const auto more = exact_div(rest, b)) return *q + *more;
    }
  }
  return std::nullopt;
}

Dim Dim::floor_div(const Dim& a, const Dim& b) {
  if (const auto q = exact_div(a, b)) return *q;
  return function(kFloorDiv, {a, b});
}
Dim Dim::ceil_div(const Dim& a, const Dim& b) {
  if (const auto q = exact_div(a, b)) return *q;
  return function(kCeilDiv, {a, b});
}
Dim Dim::trunc_div(const Dim& a, const Dim& b) {
  if (const auto q = exact_div(a, b)) return *q;
  return function(kTruncDiv, {a, b});
}
Dim Dim::mod(const Dim& a, const Dim& b) {
  if (exact_div(a, b)) return Dim(0);
  return function(kMod, {a, b});
}
Dim Dim::min(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (const auto d = difference.constant()) return *d <= 0 ? a : b;
  return b < a ? function(kMin, {b, a}) : function(kMin, {a, b});
}
Dim Dim::max(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (const auto d = difference.constant()) return *d >= 0 ? a : b;
  return b < a ? function(kMax, {b, a}) : function(kMax, {a, b});
}
Dim Dim::equal(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (const auto d = difference.constant()) return *d == 0 ? 1 : 0;
  return function(kEqual, {a, b});
}
Dim Dim::less(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (const auto d = difference.constant()) return *d < 0 ? 1 : 0;
  return function(kLess, {a, b});
}
Dim Dim::select(const Dim& condition, const Dim& if_true, const Dim& if_false) {
  if (const auto c = condition.constant()) return *c != 0 ? if_true : if_false;
  if (if_true == if_false) return if_true;
  return function(kSelect, {condition, if_true, if_false});
}
Dim Dim::broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is_constant(1)) return a;
  if (a.is_constant(1)) return b;
  if (a.is_constant() && !b.is_constant()) return a;
  if (b.is_constant() && !a.is_constant()) return b;
  return b < a ? function(kBroadcast, {b, a}) : function(kBroadcast, {a, b});
}

Dim product(std::span<const Dim> dims) {
  Dim result(1);
  for (const Dim& d : dims) result = result * d;
  return result;
}

bool is_static(std::span<const Dim> shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_constant(); });
}

std::optional<std::vector<std::int64_t>> evaluate(std::span<const Dim> shape,
                                                  const Bindings& bindings) {
  std::vector<std::int64_t> result;
  result.reserve(shape.size());
  for (const Dim& d : shape) {
    const auto v = d.evaluate(bindings);
    if (!v) return std::nullopt;
    result.push_back(*v);
  }
  return result;
}

std::string to_string(std::span<const Dim> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + shape[i].to_string();
  return text + "]";
}

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
  if (!y0 || !y1 || *y1 == *y0) return false;
  const std::int64_t slope = *y1 - *y0;
  if ((actual - *y0) % slope != 0) return false;
  const std::int64_t x = (actual - *y0) / slope;
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

namespace {

// term (('+'|'-') term)*, term: factor ('*' factor | '/' factor | '//' factor)*.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::optional<Dim> parse() {
    auto d = sum();
    skip();
    return d && at_ == text_.size() ? d : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<Dim> sum() {
    auto left = term();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto right = term();
      if (!right) return std::nullopt;
      left = plus ? *left + *right : *left - *right;
    }
    return left;
  }
  std::optional<Dim> term() {
    auto left = factor();
    while (left) {
      const bool times = take('*');
      if (!times && !take('/')) break;
      if (!times) take('/');
      const auto right = factor();
      if (!right) return std::nullopt;
      left = times ? *left * *right : Dim::floor_div(*left, *right);
    }
    return left;
  }
  std::optional<Dim> factor() {
    if (depth_ > 32) return std::nullopt;
    if (take('(')) {
      ++depth_;
      const auto inner = sum();
      --depth_;
      return inner && take(')') ? inner : std::nullopt;
    }
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    if (at_ == start) return std::nullopt;
    const std::string word = text_.substr(start, at_ - start);
    if (word.find_first_not_of("0123456789") == std::string::npos) {
      return word.size() < 18 ? std::optional(Dim(std::stoll(word))) : std::nullopt;
    }
    return Dim::symbol(word);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(const std::string& text) {
  if (const auto dim = Parser(text).parse()) return *dim;
  return Dim::symbol(text);
}

}  // namespace concord
