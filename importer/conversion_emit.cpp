// Shorthands of Conversion for the core operators that many converters write.
#include <algorithm>
#include <numeric>
#include <vector>

#include "importer/conversion.h"

namespace concord::importer {

ValueId Conversion::unary(UnaryFn fn, ValueId x, double alpha, double beta) {
  return emit(OpKind::unary, {x},
              {{"fn", std::string(graph::to_string(fn))}, {"alpha", alpha}, {"beta", beta}});
}

ValueId Conversion::binary(BinaryFn fn, ValueId a, ValueId b) {
  return emit(OpKind::binary, {a, b}, {{"fn", std::string(graph::to_string(fn))}});
}

ValueId Conversion::binary(BinaryFn fn, ValueId a, double b) {
  return binary(fn, a, make_scalar(b, dtype(a)));
}

ValueId Conversion::cast(ValueId x, DataType to) {
  if (dtype(x) == to) return x;
  return emit(OpKind::cast, {x}, {{"to", to}, {"saturate", std::int64_t{1}}});
}

ValueId Conversion::reshape(ValueId x, SymShape target) {
  if (shape(x) == target) return x;
  return emit(OpKind::reshape, {x},
              {{"shape", std::move(target)}, {"allow_zero", std::int64_t{1}}});
}

ValueId Conversion::broadcast(ValueId x, SymShape target) {
  return emit(OpKind::broadcast, {x}, {{"shape", std::move(target)}});
}

ValueId Conversion::transpose(ValueId x, std::vector<std::int64_t> perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return emit(OpKind::transpose, {x}, {{"perm", std::move(perm)}});
}

ValueId Conversion::unsqueeze(ValueId x, std::vector<std::int64_t> new_axes) {
  const SymShape old = known_shape(x);
  std::sort(new_axes.begin(), new_axes.end());
  SymShape target = old;
  for (const std::int64_t at : new_axes) {
    if (at < 0 || at > static_cast<std::int64_t>(target.size())) {
      invalid("axis " + std::to_string(at) + " cannot be added to shape " +
              to_string(std::span<const Dim>(old)));
    }
    target.insert(target.begin() + at, Dim(1));
  }
  return reshape(x, std::move(target));
}

ValueId Conversion::reduce(ReduceFn fn, ValueId x, std::vector<std::int64_t> reduced,
                           bool keepdims) {
  return emit(OpKind::reduce, {x},
              {{"fn", std::string(graph::to_string(fn))},
               {"axes", std::move(reduced)},
               {"keepdims", std::int64_t{keepdims ? 1 : 0}}});
}

ValueId Conversion::matmul(ValueId a, ValueId b, ValueId bias, double alpha, bool trans_a,
                           bool trans_b) {
  return emit(OpKind::matmul, {a, b, bias},
              {{"trans_a", std::int64_t{trans_a ? 1 : 0}},
               {"trans_b", std::int64_t{trans_b ? 1 : 0}},
               {"alpha", alpha}});
}

ValueId Conversion::gather(ValueId x, ValueId indices, std::int64_t along) {
  return emit(OpKind::gather, {x, indices}, {{"axis", along}});
}

ValueId Conversion::concat(std::vector<ValueId> parts, std::int64_t along) {
  return emit(OpKind::concat, std::move(parts), {{"axis", along}});
}

ValueId Conversion::slice(ValueId x, std::int64_t along, const Dim& begin, const Dim& end) {
  return emit(OpKind::slice, {x},
              {{"starts", SymShape{begin}},
               {"ends", SymShape{end}},
               {"axes", std::vector<std::int64_t>{along}},
               {"steps", std::vector<std::int64_t>{1}}});
}

ValueId Conversion::iota(const Dim& length, DataType type) {
  return emit(OpKind::range, {make_scalar(0, type), ValueId{}, make_scalar(1, type)},
              {{"length", SymShape{length}}});
}

ValueId Conversion::select(ValueId condition, ValueId a, ValueId b) {
  return emit(OpKind::select, {condition, a, b});
}

}  // namespace concord::importer
