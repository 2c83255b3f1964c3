// Sampling images at computed positions, and what is built on it.
#include <algorithm>
#include <cmath>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

ValueId sample(Conversion& c, ValueId x, ValueId grid, const std::string& mode,
               const std::string& padding, bool align_corners, bool pixels) {
  return c.emit(OpKind::grid_sample, {x, grid},
                {{"mode", mode},
                 {"padding", padding},
                 {"align_corners", std::int64_t{align_corners ? 1 : 0}},
                 {"pixels", std::int64_t{pixels ? 1 : 0}}});
}

// Integers are sampled as floats and cut to integers again, as ONNX says.
void grid_sample(Conversion& c) {
  ValueId x = c.input(0);
  const DataType type = c.dtype(x);
  if (!is_float(type)) {
    if (!is_integer(type) && type != DataType::boolean) {
      c.unsupported("not for type " + std::string(to_string(type)));
    }
    x = c.cast(x, bits(type) <= 16 ? DataType::f32 : DataType::f64);
  }
  std::string mode = c.text("mode", c.opset() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const ValueId y = sample(c, x, c.input(1), mode, c.text("padding_mode", "zeros"),
                           c.flag("align_corners"), false);
  c.output(0, c.cast(y, type));
}

// x with its elements along one of `rank` axes.
ValueId along(Conversion& c, ValueId x, std::size_t axis, std::size_t rank) {
  std::vector<std::int64_t> shape(rank, 1);
  shape[axis] = -1;
  return c.emit(OpKind::reshape, {x, c.make_integers(shape)}, {{"allow_zero", std::int64_t{0}}});
}

// theta [N, r, r + 1] times the homogeneous positions (innermost axis first) of an image whose
// shape is `size` [r + 2]: y [N, s…, r].
void affine_grid(Conversion& c) {
  const ValueId theta = c.input(0);
  const ValueId size = c.cast(c.input(1), DataType::i64);
  const DataType type = c.dtype(theta);
  const bool align_corners = c.flag("align_corners");
  const auto length = c.known_shape(size).at(0).constant();
  if (!length || *length < 3) c.unsupported("a number of axes that is known only when running");
  const auto r = static_cast<std::size_t>(*length - 2);
  const SymShape theta_shape = c.known_shape(theta);
  if (theta_shape.size() != 3) c.invalid("expects theta of rank 3");
  // Column k of theta as [N, 1…, r].
  const auto column = [&](std::size_t k) {
    SymShape shape(r + 2, Dim(1));
    shape.front() = theta_shape[0];
    shape.back() = Dim(static_cast<std::int64_t>(r));
    const auto at = static_cast<std::int64_t>(k);
    return c.reshape(c.slice(theta, 2, at, at + 1), std::move(shape));
  };
  ValueId y = column(r);
  for (std::size_t k = 0; k < r; ++k) {
    const std::size_t axis = r - 1 - k;
    const ValueId n = c.reshape(
        c.slice(size, 0, static_cast<std::int64_t>(axis) + 2, static_cast<std::int64_t>(axis) + 3),
        {});
    const ValueId one = c.make_scalar(1, DataType::i64);
    const ValueId i = c.emit(OpKind::range, {c.make_scalar(0, DataType::i64), n, one});
    // Element i of n lies at (2i + 1 − n) / n, or at the centres' (2i + 1 − n) / (n − 1).
    const ValueId above =
        c.binary(BinaryFn::sub, c.binary(BinaryFn::add, c.binary(BinaryFn::mul, i, 2.0), 1.0), n);
    const ValueId below =
        align_corners ? c.binary(BinaryFn::max, c.binary(BinaryFn::sub, n, 1.0), 1.0) : n;
    const ValueId place = c.binary(BinaryFn::div, c.cast(above, type), c.cast(below, type));
    y = c.binary(BinaryFn::add,
                 c.binary(BinaryFn::mul, along(c, place, axis + 1, r + 2), column(k)), y);
  }
  c.output(0, y);
}

void roi_align(Conversion& c) {
  const std::string mode = c.text("mode", "avg");
  // Opset 10 had no choice.
  const std::string transformation =
      c.opset() < 16 ? "output_half_pixel" : c.text("coordinate_transformation_mode", "half_pixel");
  if (transformation != "half_pixel" && transformation != "output_half_pixel") {
    c.invalid("attribute 'coordinate_transformation_mode' is '" + transformation + "'");
  }
  c.output(0, c.emit(OpKind::roi_align, {c.input(0), c.input(1), c.input(2)},
                     {{"mode", mode},
                      {"height", c.integer("output_height", 1)},
                      {"width", c.integer("output_width", 1)},
                      {"sampling_ratio", c.integer("sampling_ratio", 0)},
                      {"scale", c.number("spatial_scale", 1.0)},
                      {"half_pixel", std::int64_t{transformation == "half_pixel" ? 1 : 0}}}));
}

// --- DeformConv
// ----------------------------------------------------------------------------------

struct DeformForm {
  std::size_t r;                     // spatial axes
  std::vector<std::int64_t> kernel;  // [r]
  std::vector<std::int64_t> strides, dilations, pads;
  std::int64_t group, offset_group, taps;
  SymShape x, w, out;  // out: [r] extents
};

DeformForm deform_form(Conversion& c) {
  DeformForm f;
  f.x = c.known_shape(c.input(0));
  f.w = c.known_shape(c.input(1));
  const SymShape offset = c.known_shape(c.input(2));
  if (f.x.size() < 3 || f.w.size() != f.x.size() || offset.size() != f.x.size()) {
    c.invalid("expects input, weight and offset of one rank of 3 or more");
  }
  f.r = f.x.size() - 2;
  f.strides = integers_or(c, "strides", f.r, 1);
  f.dilations = integers_or(c, "dilations", f.r, 1);
  f.pads = integers_or(c, "pads", 2 * f.r, 0);
  f.group = c.integer("group", 1);
  f.offset_group = c.integer("offset_group", 1);
  if (f.group < 1 || f.offset_group < 1) c.invalid("expects positive groups");
  f.taps = 1;
  for (std::size_t d = 0; d < f.r; ++d) {
    const auto extent = f.w[d + 2].constant();
    if (!extent) c.unsupported("a kernel whose size is known only when running");
    if (f.strides[d] < 1 || f.dilations[d] < 1) c.invalid("expects positive strides and dilations");
    f.kernel.push_back(*extent);
    f.taps *= *extent;
    f.out.push_back(offset[d + 2]);
    const Dim reach =
        f.x[d + 2] + Dim(f.pads[d] + f.pads[d + f.r]) - Dim((*extent - 1) * f.dilations[d] + 1);
    const auto wanted = (Dim::floor_div(reach, f.strides[d]) + Dim(1)).constant();
    const auto given = f.out[d].constant();
    if (wanted && given && *wanted != *given) {
      c.invalid("the offset has an extent of " + std::to_string(*given) +
                " where the window gives " + std::to_string(*wanted));
    }
  }
  if (const auto kernel = c.integers("kernel_shape"); kernel && *kernel != f.kernel) {
    c.invalid("attribute 'kernel_shape' is not the weight's");
  }
  const auto channels = f.x[1].constant();
  if (channels && (*channels % f.group != 0 || *channels % f.offset_group != 0)) {
    c.invalid(std::to_string(*channels) + " channels cannot be split into the groups");
  }
  return f;
}

// Where each kernel tap of each output element lies along an axis without offsets: [taps, out…].
ValueId tap_places(Conversion& c, const DeformForm& f, std::size_t d, DataType type) {
  std::int64_t inner = 1;
  for (std::size_t e = d + 1; e < f.r; ++e) inner *= f.kernel[e];
  std::vector<double> taps;
  for (std::int64_t t = 0; t < f.taps; ++t) {
    taps.push_back(static_cast<double>(t / inner % f.kernel[d] * f.dilations[d] - f.pads[d]));
  }
  const ValueId shift = c.cast(c.make_constant(Tensor::of<double>({f.taps}, taps)), type);
  const ValueId step =
      c.binary(BinaryFn::mul, c.iota(f.out[d], type), static_cast<double>(f.strides[d]));
  return c.binary(BinaryFn::add, along(c, shift, 0, f.r + 1), along(c, step, d + 1, f.r + 1));
}

// x is sampled where each kernel tap of each output element points, the samples weighed by the
// mask, and multiplied with the weight: a convolution by columns.
void deform_conv(Conversion& c) {
  const DeformForm f = deform_form(c);
  const DataType type = c.dtype(c.input(0));
  // Half precision cannot name the elements of a large image.
  const DataType place_type = type == DataType::f64 ? type : DataType::f32;
  const Dim& batch = f.x[0];
  const Dim channels = Dim::floor_div(f.x[1], f.offset_group);  // of an offset group
  const Dim places = product(f.out);
  const auto with_out = [&](SymShape shape) {
    shape.insert(shape.end(), f.out.begin(), f.out.end());
    return shape;
  };
  SymShape offset_shape{batch, f.offset_group, f.taps, static_cast<std::int64_t>(f.r)};
  const ValueId offset = c.cast(c.reshape(c.input(2), with_out(offset_shape)), place_type);
  std::vector<ValueId> axes;  // innermost first
  for (std::size_t d = f.r; d-- > 0;) {
    const auto at = static_cast<std::int64_t>(d);
    SymShape shape = with_out({batch, f.offset_group, f.taps});
    const ValueId moved = c.binary(BinaryFn::add, c.reshape(c.slice(offset, 3, at, at + 1), shape),
                                   tap_places(c, f, d, place_type));
    shape.emplace_back(1);
    axes.push_back(c.reshape(moved, shape));
  }
  SymShape grid_shape{batch * Dim(f.offset_group), f.out[0] * Dim(f.taps)};
  grid_shape.insert(grid_shape.end(), f.out.begin() + 1, f.out.end());
  grid_shape.emplace_back(static_cast<std::int64_t>(f.r));
  const ValueId grid =
      c.reshape(c.concat(axes, static_cast<std::int64_t>(f.r) + 3), std::move(grid_shape));
  SymShape image{batch * Dim(f.offset_group), channels};
  image.insert(image.end(), f.x.begin() + 2, f.x.end());
  ValueId samples =
      sample(c, c.reshape(c.input(0), std::move(image)), grid, "linear", "zeros", false, true);
  if (c.has_input(4)) {
    samples = c.reshape(samples, {batch, f.offset_group, channels, f.taps, places});
    const ValueId mask = c.reshape(c.input(4), {batch, f.offset_group, 1, f.taps, places});
    samples = c.binary(BinaryFn::mul, samples, mask);
  }
  const Dim depth = Dim::floor_div(f.x[1], f.group) * Dim(f.taps);
  const ValueId columns = c.reshape(samples, {batch, f.group, depth, places});
  const ValueId weight =
      c.reshape(c.input(1), {1, f.group, Dim::floor_div(f.w[0], f.group), depth});
  ValueId y = c.reshape(c.matmul(weight, columns), with_out({batch, f.w[0]}));
  if (c.has_input(3)) {
    SymShape shape(f.r + 2, Dim(1));
    shape[1] = f.w[0];
    y = c.binary(BinaryFn::add, y, c.reshape(c.input(3), std::move(shape)));
  }
  c.output(0, y);
}

constexpr Converter kConverters[] = {
    {kOnnx, "AffineGrid", 20, kLatest, affine_grid},
    {kOnnx, "DeformConv", 19, kLatest, deform_conv},
    {kOnnx, "GridSample", 16, kLatest, grid_sample},
    {kOnnx, "RoiAlign", 10, kLatest, roi_align},
};

}  // namespace

std::span<const Converter> sampling_converters() {
  return kConverters;
}

}  // namespace concord::importer
