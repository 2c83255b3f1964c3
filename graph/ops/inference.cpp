#include "graph/ops/inference.h"

#include <algorithm>

#include "graph/error.h"

namespace concord::graph {
namespace {

const std::optional<SymShape> kNoShape;
const Contents kNoContents;

std::string type_and_shape(const Value& value) {
  std::string text(concord::to_string(value.dtype));
  return text + " " + (value.shape ? concord::to_string(*value.shape) : "of unknown rank");
}

}  // namespace

void mismatch(const std::string& expected, const std::string& found) {
  throw Error(ErrorKind::invalid, "expects " + expected + ", found " + found,
              "the model contradicts itself; export it again, or check it with onnx.checker");
}

DataType Inference::dtype(std::size_t i) const {
  return has(i) ? graph_.value(node().inputs[i]).dtype : DataType::undefined;
}

const std::optional<SymShape>& Inference::shape(std::size_t i) const {
  return has(i) ? graph_.value(node().inputs[i]).shape : kNoShape;
}

std::optional<std::int64_t> Inference::rank(std::size_t i) const {
  const auto& s = shape(i);
  return s ? std::optional(static_cast<std::int64_t>(s->size())) : std::nullopt;
}

const Contents& Inference::contents(std::size_t i) {
  if (!has(i)) return kNoContents;
  Value& value = graph_.value(node().inputs[i]);
  if (value.contents || !value.constant || !holds_contents(value.dtype)) return value.contents;
  const Tensor& t = *value.constant;
  if (t.count() > kMaxContents) return value.contents;
  std::vector<Dim> known;
  known.reserve(static_cast<std::size_t>(t.count()));
  for (std::int64_t k = 0; k < t.count(); ++k) {
    if (is_float(t.dtype())) {
      const double x = t.at_double(k);
      if (!(x >= -16777216.0 && x <= 16777216.0) || x != static_cast<double>(t.at_int(k))) {
        return value.contents;
      }
    }
    const std::int64_t x = t.at_int(k);
    if (t.dtype() == DataType::u64 && x < 0) return value.contents;
    known.emplace_back(x);
  }
  value.contents = std::move(known);
  return value.contents;
}

std::optional<std::vector<std::int64_t>> Inference::constant_contents(std::size_t i) {
  const Contents& known = contents(i);
  return known ? static_shape(*known) : std::nullopt;
}

std::string Inference::describe_input(std::size_t i) const {
  if (!has(i)) return "input " + std::to_string(i) + " omitted";
  return "input " + std::to_string(i) + " of " + type_and_shape(graph_.value(node().inputs[i]));
}

void Inference::drop(std::size_t i) {
  auto& inputs = node().inputs;
  if (i < inputs.size()) inputs[i] = {};
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
}

bool Inference::absorb_dims(std::size_t i, const std::string& name) {
  const Contents& known = contents(i);
  if (!known) return false;
  attrs().set(name, SymShape(*known));
  drop(i);
  return true;
}

bool Inference::absorb_integer(std::size_t i, const std::string& name) {
  const auto known = constant_contents(i);
  if (!known) return false;
  if (known->size() != 1) {
    mismatch("one element as " + name, std::to_string(known->size()) + " elements");
  }
  attrs().set(name, known->front());
  drop(i);
  return true;
}

void Inference::output(std::size_t o, DataType dtype, std::optional<SymShape> shape,
                       Contents contents) {
  const ValueId id = node().output(o);
  if (!id.valid()) return;
  Value& value = graph_.value(id);
  if (shape) {
    for (Dim& d : *shape) {
      if (d.too_complex()) d = Dim::fresh_dynamic();
      if (const auto c = d.constant(); c && *c < 0) {
        mismatch("non-negative extents", concord::to_string(*shape));
      }
    }
  }
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.contents = fitting(dtype, std::move(contents));
}

void Inference::output_like(std::size_t o, std::size_t i, Contents contents) {
  output(o, dtype(i), shape(i), std::move(contents));
}

Dim Inference::dynamic(std::size_t o, std::size_t axis, const std::string& hint) const {
  const ValueId id = node().output(o);
  if (id.valid()) {
    const auto& old = graph_.value(id).shape;
    if (old && axis < old->size()) {
      if (const auto name = (*old)[axis].symbol_name(); name && name->front() == '?') {
        return (*old)[axis];
      }
    }
  }
  return Dim::fresh_dynamic(hint);
}

SymShape Inference::dynamic_shape(std::size_t o, std::int64_t rank) const {
  SymShape dims;
  for (std::int64_t k = 0; k < rank; ++k) dims.push_back(dynamic(o, static_cast<std::size_t>(k)));
  return dims;
}

void Inference::require_same_type(std::size_t i, std::size_t j) const {
  const DataType a = dtype(i);
  const DataType b = dtype(j);
  if (a == b || a == DataType::undefined || b == DataType::undefined) return;
  mismatch("inputs " + std::to_string(i) + " and " + std::to_string(j) + " of one type",
           std::string(concord::to_string(a)) + " and " + std::string(concord::to_string(b)));
}

void Inference::require_rank(std::size_t i, std::int64_t wanted) const {
  const auto r = rank(i);
  if (r && *r != wanted) mismatch("rank " + std::to_string(wanted), describe_input(i));
}

void Inference::require_rank_at_least(std::size_t i, std::int64_t wanted) const {
  const auto r = rank(i);
  if (r && *r < wanted) mismatch("rank " + std::to_string(wanted) + " or more", describe_input(i));
}

void Inference::require_integer(std::size_t i) const {
  const DataType t = dtype(i);
  if (t == DataType::undefined) return;
  if (!is_integer(t)) mismatch("an integer type", describe_input(i));
  if (bits(t) < 8) mismatch("integers of a byte or more", describe_input(i));
}

void Inference::require_float(std::size_t i) const {
  const DataType t = dtype(i);
  if (t != DataType::undefined && !is_float(t)) mismatch("a float type", describe_input(i));
}

void Inference::require_type(std::size_t i, DataType wanted) const {
  const DataType t = dtype(i);
  if (t != DataType::undefined && t != wanted) {
    mismatch(std::string(concord::to_string(wanted)), describe_input(i));
  }
}

Dim Inference::single_dim(const std::string& name) const {
  const SymShape& dims = attrs().dims(name);
  if (dims.size() != 1) mismatch("one element as " + name, std::to_string(dims.size()));
  return dims.front();
}

std::int64_t Inference::axis(const std::string& name, std::int64_t rank) {
  const std::int64_t given = attrs().integer(name);
  const std::int64_t checked = checked_axis(given, rank);
  if (checked != given) attrs().set(name, checked);
  return checked;
}

SymShape broadcast_shapes(const SymShape& a, const SymShape& b) {
  const SymShape& longer = a.size() >= b.size() ? a : b;
  const SymShape& shorter = a.size() >= b.size() ? b : a;
  SymShape result = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const auto x = longer[lead + i].constant();
    const auto y = shorter[i].constant();
    if (x && y && *x != *y && *x != 1 && *y != 1) {
      mismatch("shapes that broadcast", concord::to_string(a) + " and " + concord::to_string(b));
    }
    result[lead + i] = Dim::broadcast(longer[lead + i], shorter[i]);
  }
  return result;
}

std::optional<SymShape> broadcast_shapes(const std::optional<SymShape>& a,
                                         const std::optional<SymShape>& b) {
  if (!a || !b) return std::nullopt;
  return broadcast_shapes(*a, *b);
}

Dim merge_equal(const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (a.is_constant() && b.is_constant()) {
    mismatch("equal extents", a.to_string() + " and " + b.to_string());
  }
  if (b.is_constant()) return b;
  if (a.is_constant()) return a;
  return a.has_dynamic() && !b.has_dynamic() ? b : a;
}

std::optional<std::vector<std::int64_t>> static_shape(const std::optional<SymShape>& shape) {
  if (!shape) return std::nullopt;
  std::vector<std::int64_t> result;
  result.reserve(shape->size());
  for (const Dim& d : *shape) {
    const auto v = d.constant();
    if (!v) return std::nullopt;
    result.push_back(*v);
  }
  return result;
}

bool holds_contents(DataType dtype) {
  return is_integer(dtype) || dtype == DataType::boolean || dtype == DataType::f32 ||
         dtype == DataType::f64 || dtype == DataType::f16 || dtype == DataType::bf16;
}

Contents fitting(DataType dtype, Contents contents) {
  if (!contents || !holds_contents(dtype)) return std::nullopt;
  if (contents->size() > static_cast<std::size_t>(kMaxContents)) return std::nullopt;
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  const int width = bits(dtype);
  if (dtype == DataType::boolean) {
    low = 0;
    high = 1;
  } else if (is_float(dtype)) {
    // Whole numbers that the type holds exactly.
    const int mantissa = dtype == DataType::f64    ? 53
                         : dtype == DataType::f32  ? 24
                         : dtype == DataType::bf16 ? 8
                                                   : 11;
    high = std::int64_t{1} << mantissa;
    low = -high;
  } else if (is_signed_integer(dtype)) {
    if (width < 64) {
      high = (std::int64_t{1} << (width - 1)) - 1;
      low = -high - 1;
    }
  } else {
    low = 0;
    if (width < 64) high = (std::int64_t{1} << width) - 1;
  }
  const bool narrow = width < 32 && dtype != DataType::boolean;
  for (const Dim& d : *contents) {
    if (const auto v = d.constant()) {
      if (*v < low || *v > high) return std::nullopt;
    } else if (narrow || d.too_complex()) {
      return std::nullopt;
    }
  }
  return contents;
}

void for_each_broadcast(std::span<const std::int64_t> out,
                        std::span<const std::vector<std::int64_t>> operands,
                        const std::function<void(std::size_t, std::span<const std::size_t>)>& fn) {
  const std::size_t rank = out.size();
  std::size_t count = 1;
  for (const std::int64_t d : out) count *= static_cast<std::size_t>(d);
  std::vector<std::vector<std::size_t>> strides(operands.size(), std::vector<std::size_t>(rank, 0));
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::size_t step = 1;
    const std::size_t lead = rank - operands[k].size();
    for (std::size_t a = operands[k].size(); a-- > 0;) {
      if (operands[k][a] != 1) strides[k][lead + a] = step;
      step *= static_cast<std::size_t>(operands[k][a]);
    }
  }
  std::vector<std::int64_t> index(rank, 0);
  std::vector<std::size_t> offsets(operands.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    fn(i, offsets);
    for (std::size_t a = rank; a-- > 0;) {
      for (std::size_t k = 0; k < operands.size(); ++k) offsets[k] += strides[k][a];
      if (++index[a] < out[a]) break;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        offsets[k] -= strides[k][a] * static_cast<std::size_t>(out[a]);
      }
      index[a] = 0;
    }
  }
}

void infer_norm(Inference& in) {
  in.require_float(0);
  if (const auto r = in.rank(0)) in.axis("axis", *r);
  std::optional<SymShape> shape = in.shape(0);
  if (in.has(in.node().op == OpKind::layer_norm ? 3 : 2)) {
    const auto& residual = in.shape(in.node().op == OpKind::layer_norm ? 3 : 2);
    shape = broadcast_shapes(shape, residual);
  }
  in.output(0, in.dtype(0), shape);
  in.output(1, in.dtype(0), shape);
}

void infer_recurrent(Inference& in, std::int64_t gates) {
  in.require_float(0);
  in.require_rank(0, 3);
  in.require_rank(1, 3);
  in.require_rank(2, 3);
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) in.require_same_type(0, i);
  const std::int64_t hidden = in.attrs().integer("hidden_size");
  constexpr std::int64_t widest = std::int64_t{1} << 31;
  if (hidden < 1 || hidden > widest) mismatch("a positive hidden_size", std::to_string(hidden));
  const std::int64_t directions = in.attrs().text("direction") == "bidirectional" ? 2 : 1;
  if (const auto& w = in.shape(1)) {
    if (const auto rows = (*w)[1].constant(); rows && *rows != gates * hidden) {
      mismatch("weights with " + std::to_string(gates * hidden) + " rows", in.describe_input(1));
    }
  }
  const DataType type = in.dtype(0);
  if (!in.shape(0)) {
    for (std::size_t o = 0; o < 3; ++o) in.output(o, type);
    return;
  }
  const SymShape x = *in.shape(0);
  if (in.attrs().integer("layout", 0) == 0) {
    in.output(0, type, SymShape{x[0], directions, x[1], hidden});
    for (std::size_t o : {std::size_t{1}, std::size_t{2}}) {
      in.output(o, type, SymShape{directions, x[1], hidden});
    }
  } else {
    in.output(0, type, SymShape{x[0], x[1], directions, hidden});
    for (std::size_t o : {std::size_t{1}, std::size_t{2}}) {
      in.output(o, type, SymShape{x[0], directions, hidden});
    }
  }
}

void join_output(Inference& in, std::size_t o, const Value& a, const Value& b) {
  if (a.dtype != b.dtype && a.dtype != DataType::undefined && b.dtype != DataType::undefined) {
    mismatch("output " + std::to_string(o) + " of one type on every path",
             std::string(concord::to_string(a.dtype)) + " and " +
                 std::string(concord::to_string(b.dtype)));
  }
  const DataType type = a.dtype == DataType::undefined ? b.dtype : a.dtype;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    in.output(o, type);
    return;
  }
  SymShape shape = *a.shape;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (!(shape[k] == (*b.shape)[k])) shape[k] = in.dynamic(o, k);
  }
  in.output(o, type, std::move(shape), a.contents == b.contents ? a.contents : std::nullopt);
}

void bind_body_input(Graph& body, std::size_t i, const Value& outer, bool with_contents) {
  Value& inner = body.value(body.inputs.at(i));
  inner.dtype = outer.dtype;
  inner.shape = outer.shape;
  if (with_contents) {
    inner.contents = outer.contents;
  } else {
    inner.contents.reset();
  }
}

}  // namespace concord::graph
