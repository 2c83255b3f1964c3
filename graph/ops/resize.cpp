#include <cmath>

#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

Dim checked_extent(double extent) {
  constexpr double most = 9e15;
  if (!(extent >= 0 && extent < most)) {
    mismatch("extents that can be computed", std::to_string(extent));
  }
  return Dim(static_cast<std::int64_t>(extent));
}

// size · scale, if the scale is a fraction with a small power of two below.
std::optional<Dim> scaled(const Dim& size, double scale) {
  if (const auto n = size.constant()) {
    // Scales are float32 in the file: the product is rounded the same way.
    const float extent = static_cast<float>(*n) * static_cast<float>(scale);
    return checked_extent(std::floor(extent));
  }
  for (std::int64_t below = 1; below <= 16; below *= 2) {
    const double above = scale * static_cast<double>(below);
    if (above == std::floor(above) && above >= 0 && above < 65536) {
      return Dim::floor_div(size * Dim(static_cast<std::int64_t>(above)), below);
    }
  }
  return std::nullopt;
}

void absorb_scales(Inference& in) {
  const Value& value = in.graph().value(in.node().inputs[2]);
  std::vector<double> scales;
  if (value.constant) {
    for (std::int64_t i = 0; i < value.constant->count(); ++i) {
      scales.push_back(value.constant->at_double(i));
    }
  } else if (const auto known = in.constant_contents(2)) {
    for (const std::int64_t v : *known) scales.push_back(static_cast<double>(v));
  } else {
    return;
  }
  if (!scales.empty()) in.attrs().set("scales", std::move(scales));
  in.drop(2);
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  Attributes& attrs = in.attrs();
  if (in.has(3)) {
    in.require_integer(3);
    in.absorb_dims(3, "sizes");
    if (attrs.has("sizes") && attrs.dims("sizes").empty()) attrs.erase("sizes");
  }
  if (in.has(2)) absorb_scales(in);
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape x = *in.shape(0);
  std::vector<std::int64_t> axes;
  if (attrs.has("axes")) axes = attrs.integers("axes");
  if (axes.empty()) {
    for (std::size_t k = 0; k < x.size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
  }
  for (std::int64_t& a : axes) a = checked_axis(a, *in.rank(0));
  attrs.set("axes", axes);
  const bool by_sizes = attrs.has("sizes");
  const bool by_scales = !by_sizes && attrs.has("scales");
  const std::size_t given = by_sizes    ? attrs.dims("sizes").size()
                            : by_scales ? attrs.numbers("scales").size()
                                        : axes.size();
  if (given != axes.size()) {
    mismatch(std::to_string(axes.size()) + (by_sizes ? " sizes" : " scales"),
             std::to_string(given));
  }
  SymShape y = x;
  // Policies that keep the aspect ratio decide when the extents are numbers.
  const bool stretch = attrs.text("keep_aspect", "stretch") == "stretch";
  const auto fixed_x = static_shape(in.shape(0));
  const auto fixed_sizes = by_sizes ? static_shape(attrs.dims("sizes")) : std::nullopt;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto a = static_cast<std::size_t>(axes[k]);
    std::optional<Dim> extent;
    if (by_sizes && stretch) {
      extent = attrs.dims("sizes")[k];
    } else if (by_sizes && fixed_x && fixed_sizes) {
      const bool smaller = attrs.text("keep_aspect") == "not_larger";
      double scale = 0;
      for (std::size_t j = 0; j < axes.size(); ++j) {
        const double s = static_cast<double>((*fixed_sizes)[j]) /
                         static_cast<double>((*fixed_x)[static_cast<std::size_t>(axes[j])]);
        scale = j == 0 ? s : smaller ? std::min(scale, s) : std::max(scale, s);
      }
      extent = checked_extent(std::floor(scale * static_cast<double>((*fixed_x)[a]) + 0.5));
    } else if (by_scales) {
      extent = scaled(x[a], attrs.numbers("scales")[k]);
    }
    y[a] = extent ? *extent : in.dynamic(0, a, "resize");
  }
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_resize{1, 4, 1, 1, infer_op};

}  // namespace concord::graph
