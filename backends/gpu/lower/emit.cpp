#include "backends/gpu/lower/emit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/binary.h"
#include "backends/gpu/kernels/compare.h"
#include "backends/gpu/kernels/select.h"
#include "backends/gpu/kernels/unary.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

using graph::BinaryFn;
using graph::UnaryFn;

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::int64_t from_a = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t from_b = back <= b.size() ? b[b.size() - back] : 1;
    result[result.size() - back] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

std::string unary_kernel(UnaryFn fn, DataType storage) {
  const std::string type = type_suffix(storage);
  switch (fn) {
    case UnaryFn::is_nan:
      return "compare_isnan_" + type;
    case UnaryFn::is_inf:
      return "compare_isinf_" + type;
    case UnaryFn::logical_not:
      return "compare_not_" + type;
    case UnaryFn::quick_gelu:
      return "unary_swish_" + type;
    default:
      break;
  }
  if (!is_float(storage)) return {};
  return "unary_" + std::string(to_string(fn)) + "_" + type;
}

namespace {

// Integer functions as binary ones with a constant: f(x) = outer(inner(x, b), c).
struct IntegerForm {
  BinaryFn fn;
  std::int32_t constant;
  bool constant_first;
};

std::vector<IntegerForm> integer_forms(UnaryFn fn, DataType storage) {
  switch (fn) {
    case UnaryFn::neg:
      return {{BinaryFn::sub, 0, true}};
    case UnaryFn::bit_not:
      return {{BinaryFn::bit_xor, -1, false}};
    case UnaryFn::relu:
      return {{BinaryFn::max, 0, false}};
    case UnaryFn::sign:
      if (storage == DataType::u32) return {{BinaryFn::min, 1, false}};
      return {{BinaryFn::max, -1, false}, {BinaryFn::min, 1, false}};
    default:
      return {};
  }
}

bool needs_only_itself(UnaryFn fn) {  // on integers: f(x) from x and x
  return fn == UnaryFn::abs || fn == UnaryFn::square;
}

// Functions that take small 64-bit unsigned integers beyond the 32 bits in which they lie.
bool leaves_u64(BinaryFn fn) {
  return fn == BinaryFn::sub || fn == BinaryFn::shift_left || fn == BinaryFn::pow;
}
bool leaves_u64(UnaryFn fn) {
  return fn == UnaryFn::neg || fn == UnaryFn::bit_not;
}

}  // namespace

std::string binary_kernel(BinaryFn fn, DataType storage, bool strided) {
  const std::string tail = std::string(strided ? "strided_" : "") + type_suffix(storage);
  switch (fn) {
    case BinaryFn::equal:
    case BinaryFn::greater:
    case BinaryFn::greater_equal:
    case BinaryFn::less:
    case BinaryFn::less_equal:
      return "compare_" + std::string(to_string(fn)) + "_" + tail;
    case BinaryFn::bit_and:
    case BinaryFn::logical_and:
      return "binary_and_" + tail;
    case BinaryFn::bit_or:
    case BinaryFn::logical_or:
      return "binary_or_" + tail;
    case BinaryFn::bit_xor:
    case BinaryFn::logical_xor:
      return "binary_xor_" + tail;
    case BinaryFn::shift_left:
      return "binary_shl_" + tail;
    case BinaryFn::shift_right:
      return "binary_shr_" + tail;
    default:
      return "binary_" + std::string(to_string(fn)) + "_" + tail;
  }
}

std::optional<std::string> why_no_unary(const Query& query, UnaryFn fn, DataType storage) {
  if (fn == UnaryFn::identity) return std::nullopt;
  if (query.in_dtype(0) == DataType::u64 && leaves_u64(fn)) {
    return std::string(to_string(fn)) + " of uint64, which lies in 32 bits";
  }
  if (!is_float(storage) && storage != DataType::undefined && fn != UnaryFn::logical_not) {
    if (needs_only_itself(fn) || !integer_forms(fn, storage).empty()) return std::nullopt;
    return "there is no " + std::string(to_string(fn)) + " of integers";
  }
  return query.need_kernel(unary_kernel(fn, storage));
}

std::optional<std::string> why_no_binary(const Query& query, BinaryFn fn, DataType storage) {
  if (query.in_dtype(0) == DataType::u64 && leaves_u64(fn)) {
    return std::string(to_string(fn)) + " of uint64, which lies in 32 bits";
  }
  return query.need_kernel(binary_kernel(fn, storage, false));
}

DataType result_type(UnaryFn fn, DataType storage) {
  return graph::yields_bool(fn) ? DataType::i32 : storage;
}
DataType result_type(BinaryFn fn, DataType storage) {
  return graph::yields_bool(fn) ? DataType::i32 : storage;
}

namespace {

// The bits of `value` as an integer of `storage`.
Operand integer_constant(NodeLowering& node, std::int32_t value, DataType storage) {
  Operand constant = node.plan_constant(Tensor::scalar<std::int32_t>(value));
  constant.dtype = storage;
  return constant;
}

void emit_integer_unary(NodeLowering& node, UnaryFn fn, const Operand& x, const Operand& y) {
  if (fn == UnaryFn::square) return emit_binary(node, BinaryFn::mul, x, x, y);
  if (fn == UnaryFn::abs && x.dtype == DataType::u32) return node.copy(x, y);
  if (fn == UnaryFn::abs) {
    const Operand negative = node.temporary(x.dtype, x.shape);
    emit_integer_unary(node, UnaryFn::neg, x, negative);
    return emit_binary(node, BinaryFn::max, x, negative, y);
  }
  Operand from = x;
  for (const IntegerForm& form : integer_forms(fn, x.dtype)) {
    const Operand constant = integer_constant(node, form.constant, x.dtype);
    emit_binary(node, form.fn, form.constant_first ? constant : from,
                form.constant_first ? from : constant, y);
    from = y;
  }
}

}  // namespace

void emit_unary(NodeLowering& node, UnaryFn fn, double alpha, double beta, const Operand& x,
                const Operand& y) {
  const std::int32_t n = to_i32(y.count());
  if (!is_float(x.dtype) && fn != UnaryFn::logical_not) {
    return emit_integer_unary(node, fn, x, y);
  }
  if (graph::yields_bool(fn) || fn == UnaryFn::logical_not) {
    std::string name = unary_kernel(fn, x.dtype);
    if (fn == UnaryFn::is_inf && (alpha == 0 || beta == 0)) {
      name = std::string("compare_") + (alpha != 0 ? "is_positive_inf_" : "is_negative_inf_") +
             type_suffix(x.dtype);
    }
    node.dispatch(node.kernel<kernels::CompareIsnanParams>(name), flat_groups(n),
                  kernels::CompareIsnanParams{node.read(x), node.write(y), n});
    return;
  }
  if (x.dtype == DataType::f64) {
    using Params = kernels::UnaryIdentityParams;
    node.dispatch(node.kernel<Params>(unary_kernel(fn, x.dtype)), flat_groups(n),
                  Params{node.read(x), node.write(y), n, std::bit_cast<std::int64_t>(alpha),
                         std::bit_cast<std::int64_t>(beta)});
    return;
  }
  node.dispatch(node.kernel<kernels::UnaryParams>(unary_kernel(fn, x.dtype)), flat_groups(n),
                kernels::UnaryParams{node.read(x), node.write(y), n, static_cast<float>(alpha),
                                     static_cast<float>(beta)});
}

namespace {

// What the kernels are called: for operands that repeat, and for those of any strides.
struct Names {
  std::string periodic;
  std::string strided;
};

template <class Params, class StridedParams>
void dispatch_binary(NodeLowering& node, const Names& names, const Operand& a, const Operand& b,
                     const Operand& y) {
  const std::int32_t n = to_i32(y.count());
  const auto a_period = period(a.shape, y.shape);
  const auto b_period = period(b.shape, y.shape);
  if (a_period.has_value() && b_period.has_value()) {
    node.dispatch(node.kernel<Params>(names.periodic), flat_groups(n),
                  Params{node.read(a), node.read(b), node.write(y), n, *a_period, *b_period});
    return;
  }
  const Shape strides[] = {broadcast_strides(a.shape, y.shape),
                           broadcast_strides(b.shape, y.shape)};
  const Walk walk = make_walk(y.shape, strides);
  StridedParams params{node.read(a), node.read(b), node.write(y), n, walk.rank};
  set_ints(params, &StridedParams::d1, std::span(walk.extents).subspan(1));
  set_ints(params, &StridedParams::a_stride0, walk.strides[0]);
  set_ints(params, &StridedParams::b_stride0, walk.strides[1]);
  node.dispatch(node.kernel<StridedParams>(names.strided), flat_groups(n), params);
}

}  // namespace

void emit_binary(NodeLowering& node, BinaryFn fn, const Operand& a, const Operand& b,
                 const Operand& y) {
  if (y.count() == 0) return;
  const Names names{binary_kernel(fn, a.dtype, false), binary_kernel(fn, a.dtype, true)};
  if (graph::yields_bool(fn)) {
    dispatch_binary<kernels::CompareParams, kernels::CompareEqualStridedParams>(node, names, a, b,
                                                                                y);
  } else {
    dispatch_binary<kernels::BinaryParams, kernels::BinaryAddStridedParams>(node, names, a, b, y);
  }
}

bool can_gate(UnaryFn fn, DataType storage) {
  return storage == DataType::f32 && (fn == UnaryFn::sigmoid || fn == UnaryFn::silu ||
                                      fn == UnaryFn::gelu_erf || fn == UnaryFn::gelu_tanh);
}

void emit_gate(NodeLowering& node, UnaryFn fn, const Operand& a, const Operand& b,
               const Operand& y) {
  if (y.count() == 0) return;
  const std::string stem = "binary_" + std::string(to_string(fn)) + "_mul_";
  const std::string type = type_suffix(a.dtype);
  dispatch_binary<kernels::BinaryParams, kernels::BinaryAddStridedParams>(
      node, {stem + type, stem + "strided_" + type}, a, b, y);
}

void emit_select(NodeLowering& node, const Operand& condition, const Operand& a, const Operand& b,
                 const Operand& y) {
  if (y.count() == 0) return;
  const std::int32_t n = to_i32(y.count());
  const std::string type = move_suffix(y.dtype);
  const auto c_period = period(condition.shape, y.shape);
  const auto a_period = period(a.shape, y.shape);
  const auto b_period = period(b.shape, y.shape);
  if (c_period.has_value() && a_period.has_value() && b_period.has_value()) {
    node.dispatch(node.kernel<kernels::SelectParams>("select_" + type), flat_groups(n),
                  kernels::SelectParams{node.read(condition), node.read(a), node.read(b),
                                        node.write(y), n, *c_period, *a_period, *b_period});
    return;
  }
  using Params = kernels::SelectStridedParams;
  const Shape strides[] = {broadcast_strides(condition.shape, y.shape),
                           broadcast_strides(a.shape, y.shape),
                           broadcast_strides(b.shape, y.shape)};
  const Walk walk = make_walk(y.shape, strides, 5);
  Params params{node.read(condition), node.read(a), node.read(b), node.write(y), n, walk.rank};
  const auto tail = [](const Axes& axes, std::size_t from) {
    return std::span(axes).subspan(from);
  };
  set_ints(params, &Params::d2, tail(walk.extents, 2));
  set_ints(params, &Params::condition_stride1, tail(walk.strides[0], 1));
  set_ints(params, &Params::a_stride1, tail(walk.strides[1], 1));
  set_ints(params, &Params::b_stride1, tail(walk.strides[2], 1));
  node.dispatch(node.kernel<Params>("select_strided_" + type), flat_groups(n), params);
}

}  // namespace concord::gpu
