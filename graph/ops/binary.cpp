#include "graph/functions.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

std::optional<Dim> combine(BinaryFn fn, bool is_float_type, const Dim& a, const Dim& b) {
  const auto negate = [](const Dim& d) { return Dim(1) - d; };
  switch (fn) {
    case BinaryFn::add:
      return a + b;
    case BinaryFn::sub:
      return a - b;
    case BinaryFn::mul:
      return a * b;
    case BinaryFn::div:
      if (b.is_constant(0)) return std::nullopt;
      if (is_float_type) return Dim::exact_div(a, b);
      return Dim::trunc_div(a, b);
    case BinaryFn::mod:
      if (b.is_constant(0) || is_float_type) return std::nullopt;
      return Dim::mod(a, b);
    case BinaryFn::fmod:
      if (b.is_constant(0)) return std::nullopt;
      return a - Dim::trunc_div(a, b) * b;
    case BinaryFn::min:
      return Dim::min(a, b);
    case BinaryFn::max:
      return Dim::max(a, b);
    case BinaryFn::equal:
      return Dim::equal(a, b);
    case BinaryFn::less:
      return Dim::less(a, b);
    case BinaryFn::greater:
      return Dim::less(b, a);
    case BinaryFn::less_equal:
      return negate(Dim::less(b, a));
    case BinaryFn::greater_equal:
      return negate(Dim::less(a, b));
    case BinaryFn::logical_and:
      return a * b;
    case BinaryFn::logical_or:
      return Dim::max(a, b);
    case BinaryFn::logical_xor:
      return negate(Dim::equal(a, b));
    case BinaryFn::pow: {
      const auto e = b.constant();
      if (!e || *e < 0 || *e > 8) return std::nullopt;
      Dim power(1);
      for (std::int64_t i = 0; i < *e; ++i) power = power * a;
      return power;
    }
    default:
      return std::nullopt;
  }
}

Contents combine(BinaryFn fn, Inference& in) {
  const auto a_shape = static_shape(in.shape(0));
  const auto b_shape = static_shape(in.shape(1));
  if (!a_shape || !b_shape || !in.contents(0) || !in.contents(1)) return std::nullopt;
  const std::vector<Dim>& a = *in.contents(0);
  const std::vector<Dim>& b = *in.contents(1);
  const auto out = static_shape(broadcast_shapes(in.shape(0), in.shape(1)));
  const std::int64_t count = element_count(*out);
  if (count > kMaxContents) return std::nullopt;
  std::vector<Dim> result(static_cast<std::size_t>(count));
  const bool is_float_type = is_float(in.dtype(0));
  bool known = true;
  const std::vector<std::vector<std::int64_t>> operands{*a_shape, *b_shape};
  for_each_broadcast(*out, operands, [&](std::size_t i, std::span<const std::size_t> at) {
    if (!known) return;
    auto d = combine(fn, is_float_type, a[at[0]], b[at[1]]);
    known = d && !d->too_complex();
    if (known) result[i] = std::move(*d);
  });
  return known ? Contents(std::move(result)) : std::nullopt;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const auto fn = parse_binary(in.attrs().text("fn"));
  if (!fn) mismatch("a binary function", "'" + in.attrs().text("fn") + "'");
  if (*fn != BinaryFn::pow) in.require_same_type(0, 1);
  const DataType type = yields_bool(*fn) ? DataType::boolean : in.dtype(0);
  std::optional<SymShape> shape = broadcast_shapes(in.shape(0), in.shape(1));
  Contents contents = combine(*fn, in);
  in.output(0, type, std::move(shape), std::move(contents));
}

}  // namespace

const OpSchema schema_binary{2, 2, 1, 1, infer_op};

}  // namespace concord::graph
