#include "graph/dim.h"

#include <algorithm>
#include <atomic>

#include "graph/dim_expression.h"

namespace concord {
namespace {

std::string term_key(const std::vector<DimAtomPtr>& atoms) {
  std::string key;
  for (const DimAtomPtr& atom : atoms) {
    if (!key.empty()) key += '*';
    key += atom->key;
  }
  return key;
}

std::string print(const std::vector<DimTerm>& terms) {
  std::string text;
  std::string constant;
  for (const DimTerm& term : terms) {
    const bool negative = term.coefficient < 0;
    const auto bits = static_cast<std::uint64_t>(term.coefficient);
    const std::uint64_t magnitude = negative ? 0 - bits : bits;
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

std::int64_t wrapping_add(std::int64_t a, std::int64_t b, bool* overflow) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) && overflow != nullptr) *overflow = true;
  return sum;
}

std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  (void)__builtin_mul_overflow(a, b, &product);
  return product;
}

}  // namespace

std::vector<DimTerm> DimAccess::terms(const Dim& d) {
  if (d.expression_) return d.expression_->terms;
  if (d.value_ == 0) return {};
  return {DimTerm{d.value_, {}, ""}};
}

Dim DimAccess::make(std::vector<DimTerm> terms, bool* overflow) {
  std::sort(terms.begin(), terms.end(),
            [](const DimTerm& a, const DimTerm& b) { return a.key < b.key; });
  std::vector<DimTerm> merged;
  for (DimTerm& term : terms) {
    if (!merged.empty() && merged.back().key == term.key) {
      std::int64_t& c = merged.back().coefficient;
      c = wrapping_add(c, term.coefficient, overflow);
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const DimTerm& t) { return t.coefficient == 0; });
  if (merged.empty()) return Dim(0);
  if (merged.size() == 1 && merged[0].key.empty()) return Dim(merged[0].coefficient);
  auto e = std::make_shared<Dim::Expression>();
  e->text = print(merged);
  e->terms = std::move(merged);
  return Dim(std::shared_ptr<const Dim::Expression>(std::move(e)));
}

Dim DimAccess::of_atom(DimAtomPtr atom) {
  std::string key = atom->key;
  std::vector<DimTerm> terms;
  terms.push_back(DimTerm{1, {std::move(atom)}, std::move(key)});
  return make(std::move(terms));
}

DimAtomPtr DimAccess::atom(const Dim& d) {
  if (!d.expression_ || d.expression_->terms.size() != 1) return nullptr;
  const DimTerm& term = d.expression_->terms[0];
  return term.coefficient == 1 && term.atoms.size() == 1 ? term.atoms[0] : nullptr;
}

Dim Dim::symbol(const std::string& name) {
  return DimAccess::of_atom(std::make_shared<DimAtom>(DimAtom{DimFn::symbol, name, {}}));
}

Dim Dim::fresh_dynamic(const std::string& hint) {
  static std::atomic<int> next{0};
  return symbol("?" + hint + std::to_string(next++));
}

std::optional<std::int64_t> Dim::constant() const {
  return is_constant() ? std::optional(value_) : std::nullopt;
}

std::optional<std::string> Dim::symbol_name() const {
  const DimAtomPtr atom = DimAccess::atom(*this);
  return atom && atom->fn == DimFn::symbol ? std::optional(atom->key) : std::nullopt;
}

void Dim::collect_symbols(std::set<std::string>& names) const {
  if (!expression_) return;
  for (const DimTerm& term : expression_->terms) {
    for (const DimAtomPtr& atom : term.atoms) {
      if (atom->fn == DimFn::symbol) names.insert(atom->key);
      for (const Dim& arg : atom->args) arg.collect_symbols(names);
    }
  }
}

bool Dim::has_dynamic() const {
  if (!expression_) return false;
  const auto dynamic = [](const DimAtomPtr& atom) {
    if (atom->fn == DimFn::symbol) return atom->key.front() == '?';
    return std::any_of(atom->args.begin(), atom->args.end(),
                       [](const Dim& arg) { return arg.has_dynamic(); });
  };
  return std::any_of(expression_->terms.begin(), expression_->terms.end(),
                     [&](const DimTerm& term) {
                       return std::any_of(term.atoms.begin(), term.atoms.end(), dynamic);
                     });
}

bool Dim::too_complex() const {
  constexpr std::size_t limit = 600;  // characters
  return expression_ && expression_->text.size() > limit;
}

std::optional<std::int64_t> Dim::evaluate(const Bindings& bindings) const {
  if (!expression_) return value_;
  std::int64_t sum = 0;
  for (const DimTerm& term : expression_->terms) {
    std::int64_t product = term.coefficient;
    for (const DimAtomPtr& atom : term.atoms) {
      std::optional<std::int64_t> v;
      if (atom->fn == DimFn::symbol) {
        const auto it = bindings.find(atom->key);
        if (it != bindings.end()) v = it->second;
      } else {
        std::vector<std::int64_t> args;
        args.reserve(atom->args.size());
        for (const Dim& arg : atom->args) {
          const auto a = arg.evaluate(bindings);
          if (!a) return std::nullopt;
          args.push_back(*a);
        }
        v = apply_dim_function(atom->fn, args);
      }
      if (!v || __builtin_mul_overflow(product, *v, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

std::string Dim::to_string() const {
  return expression_ ? expression_->text : std::to_string(value_);
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(wrapping_add(a.value_, b.value_, nullptr));
  if (a.is_constant(0)) return b;
  if (b.is_constant(0)) return a;
  std::vector<DimTerm> terms = DimAccess::terms(a);
  for (DimTerm& term : DimAccess::terms(b)) terms.push_back(std::move(term));
  return DimAccess::make(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + Dim(-1) * b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(wrapping_mul(a.value_, b.value_));
  if (a.is_constant(1)) return b;
  if (b.is_constant(1)) return a;
  std::vector<DimTerm> terms;
  const std::vector<DimTerm> others = DimAccess::terms(b);
  for (const DimTerm& x : DimAccess::terms(a)) {
    for (const DimTerm& y : others) {
      DimTerm t{wrapping_mul(x.coefficient, y.coefficient), x.atoms, {}};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end(),
                [](const DimAtomPtr& p, const DimAtomPtr& q) { return p->key < q->key; });
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
  return a.expression_ == b.expression_ || a.expression_->text == b.expression_->text;
}

bool operator<(const Dim& a, const Dim& b) {
  return a.to_string() < b.to_string();
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

}  // namespace concord
