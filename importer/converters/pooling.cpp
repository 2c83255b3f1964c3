#include <numeric>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

void pool(Conversion& c, const std::string& fn, std::int64_t p) {
  const auto kernel = c.integers("kernel_shape");
  if (!kernel || kernel->empty()) c.invalid("attribute 'kernel_shape' is missing");
  Attributes attrs{
      {"fn", fn},
      {"kernel", *kernel},
      {"ceil_mode", std::int64_t{c.flag("ceil_mode") ? 1 : 0}},
      {"count_include_pad", std::int64_t{c.flag("count_include_pad") ? 1 : 0}},
      {"p", p},
      {"storage_order", c.integer("storage_order", 0)},
  };
  read_window(c, attrs);
  const auto results =
      c.emit_many(OpKind::pool, {c.input(0)}, std::move(attrs),
                  c.wants_output(1) ? std::vector<bool>{true, true} : std::vector<bool>{true});
  c.output(0, results[0]);
  if (results.size() > 1) c.output(1, results[1]);
}

void average_pool(Conversion& c) {
  pool(c, "average", 0);
}
void max_pool(Conversion& c) {
  pool(c, "max", 0);
}
void lp_pool(Conversion& c) {
  pool(c, "lp", c.opset() < 2 ? static_cast<std::int64_t>(c.number("p", 2.0)) : c.integer("p", 2));
}

std::vector<std::int64_t> spatial_axes(Conversion& c, ValueId x) {
  const std::int64_t rank = c.known_rank(x);
  if (rank < 2) c.invalid("expects rank 3 or more, found " + std::to_string(rank));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

template <ReduceFn fn>
void global_pool(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, c.reduce(fn, x, spatial_axes(c, x), true));
}

// (Σ |x|^p)^(1/p).
void global_lp_pool(Conversion& c) {
  const ValueId x = c.input(0);
  const auto p = c.opset() < 2 ? c.number("p", 2.0) : static_cast<double>(c.integer("p", 2));
  const auto axes = spatial_axes(c, x);
  if (p == 1) return c.output(0, c.reduce(ReduceFn::l1, x, axes, true));
  if (p == 2) return c.output(0, c.reduce(ReduceFn::l2, x, axes, true));
  const ValueId powers = c.binary(BinaryFn::pow, c.unary(UnaryFn::abs, x), p);
  c.output(0, c.binary(BinaryFn::pow, c.reduce(ReduceFn::sum, powers, axes, true), 1.0 / p));
}

constexpr Converter kConverters[] = {
    {kOnnx, "AveragePool", 1, kLatest, average_pool},
    {kOnnx, "GlobalAveragePool", 1, kLatest, global_pool<ReduceFn::mean>},
    {kOnnx, "GlobalLpPool", 1, kLatest, global_lp_pool},
    {kOnnx, "GlobalMaxPool", 1, kLatest, global_pool<ReduceFn::max>},
    {kOnnx, "LpPool", 1, kLatest, lp_pool},
    {kOnnx, "MaxPool", 1, kLatest, max_pool},
};

}  // namespace

std::span<const Converter> pooling_converters() {
  return kConverters;
}

}  // namespace concord::importer
