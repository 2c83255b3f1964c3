#include "graph/geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "graph/error.h"

namespace concord::graph {
namespace {

[[noreturn]] void mismatch(const std::string& expected, const std::string& found) {
  throw Error(ErrorKind::invalid, "expects " + expected + ", found " + found,
              "check the shapes and values of the model's inputs");
}

std::string text(std::span<const std::int64_t> shape) {
  return concord::to_string(shape);
}

const Tensor& operand(std::span<const Tensor> inputs, std::size_t i) {
  static const Tensor none;
  return i < inputs.size() ? inputs[i] : none;
}

std::int64_t extent_of(double value) {
  constexpr double most = 9e15;
  if (!(value >= 0 && value < most)) {
    mismatch("extents that can be computed", std::to_string(value));
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t non_negative(std::int64_t extent, const char* what) {
  if (extent < 0) mismatch(std::string("an input as large as the ") + what, "a smaller one");
  return extent;
}

}  // namespace

std::int64_t checked_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) {
    mismatch("an axis of a tensor of rank " + std::to_string(rank), "axis " + std::to_string(axis));
  }
  return axis < 0 ? axis + rank : axis;
}

Shape concrete_shape(std::span<const Dim> shape, const Bindings& bindings) {
  Shape result;
  result.reserve(shape.size());
  for (const Dim& d : shape) {
    const auto v = d.evaluate(bindings);
    if (!v) {
      std::set<std::string> names;
      d.collect_symbols(names);
      for (const std::string& name : names) {
        if (!bindings.contains(name)) {
          mismatch("a value for dimension '" + name + "'", "none in " + d.to_string());
        }
      }
      mismatch("extents that can be computed", d.to_string());
    }
    result.push_back(*v);
  }
  return result;
}

std::vector<std::int64_t> concrete_dims(const Node& node, std::string_view name,
                                        const Tensor& tensor, const Bindings& bindings) {
  if (const AttrValue* value = node.attrs.find(name)) {
    if (const auto* dims = std::get_if<SymShape>(value)) return concrete_shape(*dims, bindings);
    if (const auto* one = std::get_if<std::int64_t>(value)) return {*one};
    return node.attrs.integers(name);
  }
  return tensor.defined() ? tensor.ints() : std::vector<std::int64_t>{};
}

std::int64_t concrete_integer(const Node& node, std::string_view name, const Tensor& tensor,
                              const Bindings& bindings) {
  const auto values = concrete_dims(node, name, tensor, bindings);
  if (values.size() != 1) {
    mismatch("one element as " + std::string(name), std::to_string(values.size()));
  }
  return values.front();
}

Shape broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  const auto& longer = a.size() >= b.size() ? a : b;
  const auto& shorter = a.size() >= b.size() ? b : a;
  Shape result(longer.begin(), longer.end());
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& d = result[lead + i];
    if (d == shorter[i] || shorter[i] == 1) continue;
    if (d != 1) mismatch("shapes that broadcast", text(a) + " and " + text(b));
    d = shorter[i];
  }
  return result;
}

Shape broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> out) {
  if (shape.size() > out.size()) {
    mismatch("a shape that broadcasts to " + text(out), text(shape));
  }
  Shape strides(out.size(), 0);
  const std::size_t lead = out.size() - shape.size();
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (shape[k] != 1) {
      if (shape[k] != out[lead + k]) {
        mismatch("a shape that broadcasts to " + text(out), text(shape));
      }
      strides[lead + k] = step;
    }
    step *= shape[k];
  }
  return strides;
}

std::vector<SliceAxis> slice_geometry(const Node& node, std::span<const std::int64_t> x,
                                      std::span<const Tensor> inputs, const Bindings& bindings) {
  const auto starts = concrete_dims(node, "starts", operand(inputs, 1), bindings);
  const auto ends = concrete_dims(node, "ends", operand(inputs, 2), bindings);
  auto axes = concrete_dims(node, "axes", operand(inputs, 3), bindings);
  auto steps = concrete_dims(node, "steps", operand(inputs, 4), bindings);
  if (axes.empty()) {
    for (std::size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    mismatch("as many ends, axes and steps as starts", text(starts) + ", " + text(ends));
  }
  std::vector<SliceAxis> result;
  for (const std::int64_t d : x) result.push_back({0, 1, d});
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto a =
        static_cast<std::size_t>(checked_axis(axes[k], static_cast<std::int64_t>(x.size())));
    const std::int64_t size = x[a];
    const std::int64_t step = steps[k];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) {
      mismatch("a step other than 0", std::to_string(step));
    }
    const auto bound = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
      return std::clamp(v < 0 ? v + size : v, low, std::max(low, high));
    };
    SliceAxis& s = result[a];
    s.step = step;
    if (step > 0) {
      s.start = bound(starts[k], 0, size);
      const std::int64_t end = bound(ends[k], 0, size);
      s.count = end > s.start ? (end - s.start - 1) / step + 1 : 0;
    } else {
      s.start = bound(starts[k], 0, size - 1);
      const std::int64_t end = bound(ends[k], -1, size - 1);
      s.count = size > 0 && s.start > end ? (s.start - end - 1) / -step + 1 : 0;
    }
  }
  return result;
}

Shape resolve_reshape(std::span<const std::int64_t> x, std::span<const std::int64_t> wanted,
                      bool allow_zero) {
  Shape shape(wanted.begin(), wanted.end());
  std::optional<std::size_t> inferred;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == -1) {
      if (inferred) mismatch("at most one −1 in the shape", text(wanted));
      inferred = k;
    } else if (shape[k] == 0 && !allow_zero) {
      if (k >= x.size()) mismatch("a 0 only where the input has an axis", text(wanted));
      shape[k] = x[k];
    }
  }
  const std::int64_t count = element_count(x);
  if (inferred) {
    shape[*inferred] = 1;
    const std::int64_t rest = element_count(shape);
    if (rest == 0 || count % rest != 0) {
      mismatch("a shape that divides the elements of " + text(x), text(wanted));
    }
    shape[*inferred] = count / rest;
  }
  if (element_count(shape) != count) {
    mismatch("a shape of as many elements as " + text(x), text(wanted));
  }
  return shape;
}

ResizeGeometry resize_geometry(const Node& node, std::span<const std::int64_t> x,
                               std::span<const Tensor> inputs, const Bindings& bindings) {
  const std::size_t rank = x.size();
  std::vector<std::int64_t> axes;
  if (node.attrs.has("axes")) axes = node.attrs.integers("axes");
  if (axes.empty()) {
    for (std::size_t k = 0; k < rank; ++k) axes.push_back(static_cast<std::int64_t>(k));
  }
  const auto sizes = concrete_dims(node, "sizes", operand(inputs, 3), bindings);
  std::vector<double> given;
  if (sizes.empty()) {
    if (node.attrs.has("scales")) {
      given = node.attrs.numbers("scales");
    } else if (operand(inputs, 2).defined()) {
      for (std::int64_t i = 0; i < inputs[2].count(); ++i) given.push_back(inputs[2].at_double(i));
    }
  }
  if ((sizes.empty() ? given.size() : sizes.size()) != axes.size()) {
    mismatch(std::to_string(axes.size()) + " sizes or scales",
             std::to_string(sizes.empty() ? given.size() : sizes.size()));
  }
  ResizeGeometry g{Shape(x.begin(), x.end()), std::vector<double>(rank, 1),
                   std::vector<double>(rank, 0), std::vector<double>(rank, 1)};
  const auto at = [&](std::size_t k) {
    return static_cast<std::size_t>(checked_axis(axes[k], static_cast<std::int64_t>(rank)));
  };
  const std::string aspect = node.attrs.text("keep_aspect", "stretch");
  std::optional<double> common;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (x[at(k)] == 0) {
      if (sizes[k] != 0) mismatch("elements on an axis that is resized", "none");
      continue;
    }
    const double s = static_cast<double>(sizes[k]) / static_cast<double>(x[at(k)]);
    common = !common ? s : aspect == "not_larger" ? std::min(*common, s) : std::max(*common, s);
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::size_t a = at(k);
    if (!sizes.empty() && x[a] == 0) continue;
    if (!sizes.empty() && aspect == "stretch") {
      g.output[a] = non_negative(sizes[k], "resized extent");
      g.scales[a] = static_cast<double>(sizes[k]) / static_cast<double>(x[a]);
    } else if (!sizes.empty()) {
      g.scales[a] = *common;
      g.output[a] = extent_of(std::floor(*common * static_cast<double>(x[a]) + 0.5));
    } else {
      if (!(given[k] > 0)) mismatch("positive scales", std::to_string(given[k]));
      g.scales[a] = given[k];
      // Scales are float32 in the file: the product is rounded the same way.
      const float extent = static_cast<float>(x[a]) * static_cast<float>(given[k]);
      g.output[a] = extent_of(std::floor(extent));
    }
  }
  const Tensor& roi = operand(inputs, 1);
  if (roi.defined() && node.attrs.text("coordinates") == "tf_crop_and_resize") {
    const auto n = static_cast<std::int64_t>(axes.size());
    if (roi.count() != 2 * n) {
      mismatch(std::to_string(2 * n) + " elements in roi", std::to_string(roi.count()));
    }
    for (std::size_t k = 0; k < axes.size(); ++k) {
      g.roi_begin[at(k)] = roi.at_double(static_cast<std::int64_t>(k));
      g.roi_end[at(k)] = roi.at_double(n + static_cast<std::int64_t>(k));
    }
  }
  static_cast<void>(element_count(g.output));  // refused before anything is allocated
  return g;
}

}  // namespace concord::graph
