#include <cmath>
#include <memory>

#include "backends/cpu/kernels/fourier.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  if (!is_kernel_float(dtype) && dtype != DataType::f64) return type_reason(dtype);
  if (node.has_input(1) || node.has_input(2)) return "an axis or a length that only the run knows";
  return std::nullopt;
}

template <typename T>
void emit(Planner& p, const DftForm& form, std::int64_t n) {
  const Ref x = std::is_same_v<T, float> ? p.in_f32(0) : p.in(0);
  const Ref y = std::is_same_v<T, float> ? p.out_f32() : p.out();
  const auto size = static_cast<double>(n);
  const double work = static_cast<double>(form.outer * form.inner) * size * 5 * std::log2(size + 1);
  if (p.out_shape().count() == 0) return;
  p.emit("dft", work, [form, x, y, fourier = std::make_shared<const Fourier>(n)](const Frame& f) {
    dft(*fourier, form, f.at<const T>(x), f.at<T>(y));
  });
}

PlanFn prepare(Compiler& c) {
  std::optional<DimRef> length;
  if (c.attrs().has("length")) length = c.dims("length").at(0);
  return [length, axis = static_cast<int>(c.attrs().integer("axis")),
          inverse = c.attrs().integer("inverse") != 0,
          onesided = c.attrs().integer("onesided") != 0](Planner& p) {
    const Dims shape = p.shape(0);
    DftForm form;
    form.inverse = inverse;
    form.onesided = onesided;
    form.outer = shape.product(0, axis);
    form.in = shape[axis];
    form.inner = shape.product(axis + 1, shape.rank() - 1);
    form.parts = shape.back();
    const std::int64_t given = inverse && onesided ? 2 * (form.in - 1) : form.in;
    const std::int64_t n = length ? p.value(*length) : given;
    if (n < 1 || form.parts < 1 || form.parts > 2) {
      throw Error(ErrorKind::invalid,
                  "a transform of length " + std::to_string(n) + " of a tensor of " + shape.text());
    }
    if (p.dtype(0) == DataType::f64) {
      emit<double>(p, form, n);
    } else {
      emit<float>(p, form, n);
    }
  };
}

}  // namespace

const Lowering cpu_dft{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
