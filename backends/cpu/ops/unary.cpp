#include "backends/cpu/kernels/elementwise_exact.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"
#include "backends/cpu/ops/unary_f64.h"

namespace concord::cpu {
namespace {

using graph::UnaryFn;

UnaryFn function_of(const graph::Node& node) {
  const auto fn = graph::parse_unary(node.attrs.text("fn"));
  if (!fn) throw Error(ErrorKind::failed, "internal: unknown unary function");
  return *fn;
}

struct Form {
  UnaryFn fn;
  double alpha, beta;
  std::vector<ElementStep> steps;  // for one operand
  bool has_steps;
};

Form form_of(const graph::Node& node) {
  Form form{function_of(node),
            node.attrs.number("alpha", 0.0),
            node.attrs.number("beta", 0.0),
            {},
            false};
  // The exact kernels, as those of f32 chains, name the negative infinity first.
  if (form.fn == UnaryFn::is_inf) std::swap(form.alpha, form.beta);
  form.has_steps = append_unary(form.fn, form.alpha, form.beta, 0, 1, form.steps);
  return form;
}

bool in_one_pass(const Form& form, DataType in, DataType out) {
  return form.has_steps && readable(in) && writable(out);
}

// One kernel call on dense elements of the input's own type.
bool exactly(const Form& form, DataType in, DataType out) {
  if (form.steps.size() != 1 || !element_of(in)) return false;
  return supports_exact(form.steps[0].op, element(in)) &&
         (in == out || (graph::yields_bool(form.fn) && out == DataType::boolean));
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const Form form = form_of(node);
  const DataType in = input_dtype(graph, node, 0);
  const DataType out = output_dtype(graph, node);
  if (form.fn == UnaryFn::identity || in_one_pass(form, in, out) || exactly(form, in, out)) {
    return std::nullopt;
  }
  if (form.fn == UnaryFn::bit_not && is_integer(in) && element_of(in)) return std::nullopt;
  if (in == DataType::f64 && has_plain_f64(form.fn)) return std::nullopt;
  return why_not_host(graph, node);
}

PlanFn prepare(Compiler& c) {
  const Form form = form_of(c.node());
  const DataType in = c.dtype(0);
  const DataType out = c.out_value().dtype;
  if (form.fn == UnaryFn::identity) return [](Planner& p) { p.place(0, p.view(0)); };
  const std::string name(graph::to_string(form.fn));
  if (in_one_pass(form, in, out)) {
    auto program = std::make_shared<const ElementProgram>(
        std::vector{element(in)}, form.steps, std::vector{static_cast<int>(form.steps.size())},
        std::vector{element(out)});
    return [program, name](Planner& p) { plan_elementwise(p, program, name, 1); };
  }
  if (exactly(form, in, out)) {
    return [op = form.steps[0].op, name, type = element(in), alpha = form.alpha,
            beta = form.beta](Planner& p) {
      const Ref x = p.in(0);
      const std::int64_t count = p.out_shape().count();
      const Ref y = p.out_dtype() == p.dtype(0) ? p.out_over(0, 1) : p.out();
      p.emit(name, static_cast<double>(count), [=](const Frame& f) {
        const std::int64_t shape[] = {count};
        const std::int64_t stride[] = {1};
        elementwise_exact(op, type, shape, {f.at(x), stride}, {}, f.at(y), alpha, beta);
      });
    };
  }
  if (form.fn == UnaryFn::bit_not && is_integer(in) && element_of(in)) {
    return [type = element(in)](Planner& p) {
      const Ref x = p.in(0);
      const std::int64_t count = p.out_shape().count();
      const Ref y = p.out_over(0, 1);
      p.emit("bit_not", 0, [=](const Frame& f) { bitwise_not(type, count, f.at(x), f.at(y)); });
    };
  }
  if (in == DataType::f64 && has_plain_f64(form.fn)) {
    return [name, fn = form.fn, alpha = form.alpha, beta = form.beta](Planner& p) {
      const Ref x = p.in(0);
      const std::int64_t count = p.out_shape().count();
      const Ref y = p.out_over(0, 1);
      p.emit(name, static_cast<double>(count), [=](const Frame& f) {
        unary_f64(fn, alpha, beta, count, f.at<const double>(x), f.at<double>(y));
      });
    };
  }
  return prepare_host(c);
}

}  // namespace

const Lowering cpu_unary{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1, .passes_views = true};

}  // namespace concord::cpu
