#include <algorithm>

#include "graph/error.h"
#include "graph/geometry.h"

namespace concord::graph {
namespace {

[[noreturn]] void mismatch(const std::string& expected, const std::string& found) {
  throw Error(ErrorKind::invalid, "expects " + expected + ", found " + found,
              "check the shapes and values of the model's inputs");
}

std::string text(std::span<const std::int64_t> shape) {
  return concord::to_string(shape);
}

// Kernels, strides, dilations and pads; their products with each other fit then.
constexpr std::int64_t kWidest = std::int64_t{1} << 31;

std::int64_t product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::int64_t{1} << 56;  // as of a tensor's elements
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > most) {
    mismatch("extents that can be computed", std::to_string(a) + " times " + std::to_string(b));
  }
  return result;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return -floor_div(-a, b);
}

Shape list(const Node& node, std::string_view name, std::size_t length, std::int64_t otherwise,
           std::int64_t least) {
  if (!node.attrs.has(name)) return Shape(length, otherwise);
  Shape values = node.attrs.integers(name);
  if (values.empty()) values.assign(length, otherwise);
  if (values.size() != length) {
    mismatch(std::to_string(length) + " " + std::string(name), text(values));
  }
  for (const std::int64_t v : values) {
    if (v >= least && v <= kWidest) continue;
    mismatch(
        std::string(name) + " from " + std::to_string(least) + " to " + std::to_string(kWidest),
        std::to_string(v));
  }
  return values;
}

std::int64_t non_negative(std::int64_t extent, const char* what) {
  if (extent < 0) mismatch(std::string("an input as large as the ") + what, "a smaller one");
  return extent;
}

// Window with everything but the output extents and automatic pads.
Window begin_window(const Node& node, std::span<const std::int64_t> x, Shape kernel) {
  Window w;
  const std::size_t n = kernel.size();
  w.input.assign(x.begin() + 2, x.end());
  w.kernel = std::move(kernel);
  w.strides = list(node, "strides", n, 1, 1);
  w.dilations = list(node, "dilations", n, 1, 1);
  const Shape pads = list(node, "pads", 2 * n, 0, -kWidest);
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  w.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  for (const std::int64_t extent : w.kernel) {
    if (extent < 1 || extent > kWidest) {
      mismatch("a window of 1 to " + std::to_string(kWidest) + " elements", text(w.kernel));
    }
  }
  return w;
}

void place_forward(Window& w, const std::string& auto_pad, bool ceiling, const char* what) {
  for (std::size_t k = 0; k < w.kernel.size(); ++k) {
    const std::int64_t effective = (w.kernel[k] - 1) * w.dilations[k] + 1;
    if (auto_pad == "same_upper" || auto_pad == "same_lower") {
      const std::int64_t outputs = ceil_div(w.input[k], w.strides[k]);
      const std::int64_t total =
          std::max<std::int64_t>(0, (outputs - 1) * w.strides[k] + effective - w.input[k]);
      w.pads_begin[k] = auto_pad == "same_upper" ? total / 2 : total - total / 2;
      w.pads_end[k] = total - w.pads_begin[k];
      w.output.push_back(outputs);
      continue;
    }
    if (auto_pad == "valid") w.pads_begin[k] = w.pads_end[k] = 0;
    const std::int64_t room = w.input[k] + w.pads_begin[k] + w.pads_end[k] - effective;
    std::int64_t outputs =
        (ceiling ? ceil_div(room, w.strides[k]) : floor_div(room, w.strides[k])) + 1;
    if (ceiling && (outputs - 1) * w.strides[k] >= w.input[k] + w.pads_begin[k]) --outputs;
    w.output.push_back(non_negative(outputs, what));
  }
}

void finish(ConvGeometry& g) {
  g.output = {g.batch, g.out_channels};
  g.output.insert(g.output.end(), g.window.output.begin(), g.window.output.end());
  static_cast<void>(element_count(g.output));  // refused before anything is allocated
}

void check_ranks(std::span<const std::int64_t> x, std::span<const std::int64_t> w) {
  if (x.size() < 3 || x.size() != w.size()) {
    mismatch("an input and weights of one rank, at least 3", text(x) + " and " + text(w));
  }
}

}  // namespace

ConvGeometry conv_geometry(const Node& node, std::span<const std::int64_t> x,
                           std::span<const std::int64_t> w) {
  check_ranks(x, w);
  ConvGeometry g;
  g.batch = x[0];
  g.in_channels = x[1];
  g.out_channels = w[0];
  g.group = node.attrs.integer("group", 1);
  if (g.group < 1 || g.in_channels != product(w[1], g.group) || g.out_channels % g.group != 0) {
    mismatch("channels that fit " + std::to_string(g.group) + " groups",
             text(x) + " and " + text(w));
  }
  g.window = begin_window(node, x, Shape(w.begin() + 2, w.end()));
  place_forward(g.window, node.attrs.text("auto_pad", "notset"), false, "convolution's kernel");
  finish(g);
  return g;
}

ConvGeometry conv_transpose_geometry(const Node& node, std::span<const std::int64_t> x,
                                     std::span<const std::int64_t> w) {
  check_ranks(x, w);
  ConvGeometry g;
  g.batch = x[0];
  g.in_channels = x[1];
  g.group = node.attrs.integer("group", 1);
  if (g.group < 1 || g.in_channels != w[0] || g.in_channels % g.group != 0) {
    mismatch("channels that fit " + std::to_string(g.group) + " groups",
             text(x) + " and " + text(w));
  }
  g.out_channels = product(w[1], g.group);
  g.window = begin_window(node, x, Shape(w.begin() + 2, w.end()));
  Window& v = g.window;
  const std::size_t n = v.kernel.size();
  const Shape extra = list(node, "output_padding", n, 0, 0);
  Shape wanted;
  if (node.attrs.has("output_shape")) wanted = node.attrs.integers("output_shape");
  if (wanted.size() > n)
    wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(n));
  if (!wanted.empty() && wanted.size() != n) {
    mismatch("an output_shape of " + std::to_string(n) + " extents", text(wanted));
  }
  for (const std::int64_t extent : wanted) {
    if (extent < 0) mismatch("extents of 0 or more in output_shape", text(wanted));
  }
  const std::string auto_pad = node.attrs.text("auto_pad", "notset");
  const bool same = auto_pad == "same_upper" || auto_pad == "same_lower";
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t effective = (v.kernel[k] - 1) * v.dilations[k] + 1;
    const std::int64_t full = product(v.input[k] - 1, v.strides[k]) + extra[k] + effective;
    if (wanted.empty() && !same) {
      v.output.push_back(
          non_negative(full - v.pads_begin[k] - v.pads_end[k], "transposed convolution's pads"));
      continue;
    }
    v.output.push_back(wanted.empty() ? product(v.input[k], v.strides[k]) : wanted[k]);
    const std::int64_t total = std::max<std::int64_t>(0, full - v.output[k]);
    // ONNX: the odd one goes to the end for same_upper, to the beginning otherwise.
    v.pads_begin[k] = auto_pad == "same_upper" ? total / 2 : total - total / 2;
    v.pads_end[k] = total - v.pads_begin[k];
  }
  finish(g);
  return g;
}

ConvGeometry pool_geometry(const Node& node, std::span<const std::int64_t> x) {
  const Shape kernel = node.attrs.integers("kernel");
  if (x.size() < 3 || kernel.size() + 2 != x.size()) {
    mismatch("an input of rank " + std::to_string(kernel.size() + 2), text(x));
  }
  ConvGeometry g;
  g.batch = x[0];
  g.in_channels = g.out_channels = x[1];
  g.group = x[1];
  g.window = begin_window(node, x, kernel);
  place_forward(g.window, node.attrs.text("auto_pad", "notset"),
                node.attrs.integer("ceil_mode", 0) != 0, "pooling window");
  finish(g);
  return g;
}

}  // namespace concord::graph
