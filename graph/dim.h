#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace concord {

// What the symbols of a model stand for in one run.
using Bindings = std::map<std::string, std::int64_t>;

// One extent of a shape, or one element of a small integer tensor that feeds shapes: an integer, a
// named symbol, or an expression over them (+, −, ×, floor and ceiling division, modulo, min, max,
// comparison and selection). Kept in canonical form: sums of products of atoms with integer
// coefficients, so that equal expressions compare equal. An immutable value, cheap to copy.
//
// Symbols stand for extents: whole numbers from 0 to 2^48; simplification relies on it. Integer
// arithmetic wraps as that of int64 tensors does.
//
// A symbol whose name begins with '?' is *dynamic*: it stands for an extent that only a run can
// tell (NonZero) and is bound when the producing node has run.
class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  static Dim symbol(const std::string& name);
  static Dim fresh_dynamic(const std::string& hint = {});  // a new '?' symbol

  bool is_constant() const { return expression_ == nullptr; }
  bool is_constant(std::int64_t v) const { return is_constant() && value_ == v; }
  std::optional<std::int64_t> constant() const;
  // The name, if this is a bare symbol.
  std::optional<std::string> symbol_name() const;
  bool has_dynamic() const;
  void collect_symbols(std::set<std::string>& names) const;

  // The value under the bindings; nullopt if a symbol is unbound or a division is by zero.
  std::optional<std::int64_t> evaluate(const Bindings& bindings) const;
  Dim substitute(const std::map<std::string, Dim>& replacements) const;

  std::string to_string() const;
  // Whether it has outgrown what is worth following (hostile shape arithmetic can double an
  // expression with each node); inference then makes a dynamic extent of it.
  bool too_complex() const;
  // Bounds that hold whatever the symbols are (extents from 0 to 2^48); nullopt: none known.
  std::optional<std::int64_t> lower_bound() const;
  std::optional<std::int64_t> upper_bound() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a) { return Dim(0) - a; }
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator<(const Dim& a, const Dim& b);  // some total order

  // Rounds toward minus infinity / plus infinity / zero (ONNX integer Div truncates).
  static Dim floor_div(const Dim& a, const Dim& b);
  static Dim ceil_div(const Dim& a, const Dim& b);
  static Dim trunc_div(const Dim& a, const Dim& b);
  static Dim mod(const Dim& a, const Dim& b);  // sign of the divisor, as ONNX Mod fmod=0
  static Dim min(const Dim& a, const Dim& b);
  static Dim max(const Dim& a, const Dim& b);
  // 1 or 0.
  static Dim equal(const Dim& a, const Dim& b);
  static Dim less(const Dim& a, const Dim& b);
  static Dim select(const Dim& condition, const Dim& if_true, const Dim& if_false);
  // The extent of a numpy-style broadcast of two extents: the other one where one is 1. Where it
  // cannot be known before symbols are bound, an expression that decides then (0 included).
  static Dim broadcast(const Dim& a, const Dim& b);

  // a / b, if it is known to be exact (polynomial division by a monomial or equal factors).
  static std::optional<Dim> exact_div(const Dim& a, const Dim& b);

 private:
  struct Expression;  // dim_expression.h
  explicit Dim(std::shared_ptr<const Expression> e) : expression_(std::move(e)) {}
  friend struct DimAccess;

  std::int64_t value_ = 0;
  std::shared_ptr<const Expression> expression_;
};

using SymShape = std::vector<Dim>;

Dim product(std::span<const Dim> dims);
bool is_static(std::span<const Dim> shape);
// nullopt if a dimension cannot be evaluated.
std::optional<std::vector<std::int64_t>> evaluate(std::span<const Dim> shape,
                                                  const Bindings& bindings);
// "[batch, seq, 64]"
std::string to_string(std::span<const Dim> shape);

// Binds the symbols of `shape` so that it equals `actual`; bare symbols are bound directly and
// expressions linear in one unbound symbol (past + seq) are solved for it. Returns a message if
// the two contradict each other (rank or extent), nullopt if all is well.
std::optional<std::string> bind_shape(std::span<const Dim> shape,
                                      std::span<const std::int64_t> actual, Bindings& bindings);

// Parses an exporter's dimension name: "batch", "past_seq + seq", "2*n"; a name that is no
// expression becomes one symbol.
Dim parse_dim(const std::string& text);

}  // namespace concord
