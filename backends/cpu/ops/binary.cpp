#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/elementwise_exact.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"

namespace concord::cpu {
namespace {

using graph::BinaryFn;

BinaryFn function_of(const graph::Node& node) {
  const auto fn = graph::parse_binary(node.attrs.text("fn"));
  if (!fn) throw Error(ErrorKind::failed, "internal: unknown binary function");
  return *fn;
}

std::optional<BitOp> bit_op(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::bit_and:
      return BitOp::bit_and;
    case BinaryFn::bit_or:
      return BitOp::bit_or;
    case BinaryFn::bit_xor:
      return BitOp::bit_xor;
    case BinaryFn::shift_left:
      return BitOp::shift_left;
    case BinaryFn::shift_right:
      return BitOp::shift_right;
    default:
      return std::nullopt;
  }
}

enum class Way { one_pass, exact, bits, host };

struct Form {
  BinaryFn fn;
  std::vector<ElementStep> steps;
  Way way = Way::host;
  DataType a, b, out;
};

// A float base with an exponent of some other type: the exponent is converted.
bool convertible_exponent(const Form& form) {
  return form.fn == BinaryFn::pow && form.a != form.b && is_float(form.a) && element_of(form.b);
}

Form form_of(const graph::Graph& graph, const graph::Node& node) {
  Form form{function_of(node),
            {},
            Way::host,
            input_dtype(graph, node, 0),
            input_dtype(graph, node, 1),
            output_dtype(graph, node)};
  const bool known = append_binary(form.fn, 0, 1, 2, form.steps);
  const bool same = form.a == form.b || convertible_exponent(form);
  if (known && same && readable(form.a) && writable(form.out)) {
    form.way = Way::one_pass;
  } else if (known && same && element_of(form.a) &&
             supports_exact(form.steps[0].op, element(form.a)) &&
             (form.a == form.out || form.out == DataType::boolean)) {
    form.way = Way::exact;
  } else if (bit_op(form.fn) && element_of(form.a) && form.a == form.b) {
    form.way = Way::bits;
  }
  return form;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (form_of(graph, node).way != Way::host) return std::nullopt;
  return why_not_host(graph, node);
}

// The second operand, converted to `type` where its own is another.
Ref second(Planner& p, Element type) {
  const Ref b = p.in(1);
  if (element(p.dtype(1)) == type) return b;
  const std::int64_t count = p.shape(1).count();
  const Ref converted = p.scratch(count * static_cast<std::int64_t>(element_size(type)));
  p.emit([b, converted, count, from = element(p.dtype(1)), type](const Frame& f) {
    convert(from, f.at(b), type, f.at(converted), count);
  });
  return converted;
}

// Emits a kernel over two strided operands of one type.
template <typename Kernel>
void plan_strided(Planner& p, const std::string& name, Element type, Kernel kernel) {
  const Dims shape = p.out_shape();
  const Ref a = p.in(0);
  const Dims a_stride = broadcast_to(p.dense_view(0), shape);
  const Ref b = second(p, type);
  const Dims b_stride = broadcast_to(p.dense_view(1), shape);
  std::uint32_t reusable = 0;
  for (int i = 0; i < 2; ++i) {
    if (p.shape(i).count() == shape.count() && p.dtype(i) == p.out_dtype()) reusable |= 1u << i;
  }
  const Ref y = p.out_over(0, reusable);
  p.emit(name, static_cast<double>(shape.count()), [=](const Frame& f) {
    kernel(shape, StridedOperand{f.at(a), a_stride.begin()},
           StridedOperand{f.at(b), b_stride.begin()}, f.at(y));
  });
}

bool divides(const Form& form) {
  return is_integer(form.a) &&
         (form.fn == BinaryFn::div || form.fn == BinaryFn::mod || form.fn == BinaryFn::fmod);
}

// The flat position of the first zero among `count` integers of `size` bytes; −1 if there is none.
std::int64_t first_zero(const std::byte* data, std::int64_t count, std::size_t size) {
  for (std::int64_t i = 0; i < count; ++i, data += size) {
    if (std::all_of(data, data + size, [](std::byte b) { return b == std::byte{0}; })) return i;
  }
  return -1;
}

void plan_divisor_check(Planner& p) {
  const Ref b = p.in(1);
  const Dims shape = p.shape(1);
  p.emit([b, shape, size = element_size(element(p.dtype(1)))](const Frame& f) {
    const std::int64_t zero =
        first_zero(static_cast<const std::byte*>(f.at(b)), shape.count(), size);
    if (zero < 0) return;
    throw Error(
        ErrorKind::invalid,
        "division by zero: element " + std::to_string(zero) + " of the divisor " + shape.text(),
        "integers have no infinity to give; check the model's inputs");
  });
}

PlanFn prepare_unchecked(const Form& form) {
  const std::string name(graph::to_string(form.fn));
  const Element type = element(form.a);
  if (form.way == Way::one_pass && (form.a == form.b || form.b != DataType::f64)) {
    auto program =
        std::make_shared<const ElementProgram>(std::vector{type, element(form.b)}, form.steps,
                                               std::vector{2}, std::vector{element(form.out)});
    return [program, name](Planner& p) { plan_elementwise(p, program, name, 1); };
  }
  if (form.way == Way::one_pass) {
    // An exponent of f64 under a base of f32.
    auto program =
        std::make_shared<const ElementProgram>(std::vector{type, Element::f32}, form.steps,
                                               std::vector{2}, std::vector{element(form.out)});
    return [program, name](Planner& p) {
      const Dims shape = p.out_shape();
      const Ref b = second(p, Element::f32);
      const Ref a = p.in(0);
      const Dims strides[2] = {broadcast_to(p.dense_view(0), shape),
                               broadcast_to(p.dense_view(1), shape)};
      const Ref y = p.out();
      p.emit(name, static_cast<double>(shape.count()), [=](const Frame& f) {
        ElementProgram::Input inputs[2] = {{f.at(a), {}}, {f.at(b), {}}};
        for (int i = 0; i < 2; ++i) {
          std::copy(strides[i].begin(), strides[i].end(), inputs[i].stride);
        }
        void* const out = f.at(y);
        program->run(shape, inputs, {&out, 1});
      });
    };
  }
  if (form.way == Way::exact) {
    return [name, type, op = form.steps[0].op](Planner& p) {
      plan_strided(p, name, type,
                   [op, type](const Dims& shape, StridedOperand a, StridedOperand b, void* out) {
                     elementwise_exact(op, type, shape, a, b, out);
                   });
    };
  }
  return [name, type, op = *bit_op(form.fn)](Planner& p) {
    plan_strided(p, name, type,
                 [op, type](const Dims& shape, StridedOperand a, StridedOperand b, void* out) {
                   bitwise(op, type, shape, a, b, out);
                 });
  };
}

PlanFn prepare(Compiler& c) {
  const Form form = form_of(c.graph(), c.node());
  if (form.way == Way::host) return prepare_host(c);
  PlanFn plan = prepare_unchecked(form);
  if (!divides(form)) return plan;
  if (const auto& divisor = c.graph().value(c.node().input(1)).constant) {
    const std::size_t size = element_size(element(form.b));
    if (first_zero(divisor->data(), divisor->count(), size) < 0) return plan;
  }
  return [plan](Planner& p) {
    plan_divisor_check(p);
    plan(p);
  };
}

}  // namespace

const Lowering cpu_binary{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 3};

}  // namespace concord::cpu
