#include "backends/cpu/kernels/linear_attention.h"

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

enum : int { kQuery, kKey, kValue, kPast, kDecay, kBeta };

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_float(graph, node, {kQuery, kKey, kValue, kPast, kDecay, kBeta});
}

void require_shape(const Planner& p, int input, const Dims& wanted) {
  if (!p.has(input) || p.shape(input) == wanted) return;
  throw Error(ErrorKind::invalid, "operand " + std::to_string(input) + " of " +
                                      p.shape(input).text() + ", expected " + wanted.text());
}

PlanFn prepare(Compiler& c) {
  return [q_heads = c.attrs().integer("q_heads"), heads = c.attrs().integer("kv_heads"),
          scale = static_cast<float>(c.attrs().number("scale"))](Planner& p) {
    LinearAttentionArgs args;
    args.batch = p.shape(kQuery)[0];
    args.steps = p.shape(kQuery)[1];
    args.q_heads = q_heads;
    args.heads = heads;
    args.depth = p.shape(kQuery)[2] / q_heads;
    args.width = p.shape(kValue)[2] / heads;
    args.scale = scale;
    require_shape(p, kQuery, {args.batch, args.steps, q_heads * args.depth});
    require_shape(p, kKey, {args.batch, args.steps, heads * args.depth});
    require_shape(p, kValue, {args.batch, args.steps, heads * args.width});
    require_shape(p, kPast, {args.batch, heads, args.depth, args.width});
    args.decay_per_depth = p.has(kDecay) && p.shape(kDecay)[2] != heads;
    require_shape(p, kDecay,
                  {args.batch, args.steps, args.decay_per_depth ? heads * args.depth : heads});
    args.beta_per_head = p.has(kBeta) && p.shape(kBeta)[2] == heads;
    require_shape(p, kBeta, {args.batch, args.steps, args.beta_per_head ? heads : 1});
    Ref at[6];
    for (int i = 0; i < 6; ++i) at[i] = p.has(i) ? p.in_f32(i) : Ref{};
    const Ref y = p.has_output(0) ? p.out_f32(0)
                                  : p.scratch(args.batch * args.steps * q_heads * args.width * 4);
    const Ref state = p.has_output(1) ? p.out_f32(1) : Ref{};
    const double size = static_cast<double>(args.depth * args.width);
    const double passes = static_cast<double>(args.batch * args.steps) *
                          static_cast<double>(heads * (p.has(kBeta) ? 3 : 1) + q_heads);
    p.emit("linear_attention", 2 * passes * size, [=](const Frame& f) {
      LinearAttentionArgs now = args;
      const auto operand = [&](int i) { return at[i] ? f.at<const float>(at[i]) : nullptr; };
      now.q = operand(kQuery);
      now.k = operand(kKey);
      now.v = operand(kValue);
      now.past = operand(kPast);
      now.decay = operand(kDecay);
      now.beta = operand(kBeta);
      now.y = f.at<float>(y);
      now.state = state ? f.at<float>(state) : nullptr;
      linear_attention(now);
    });
  };
}

}  // namespace

const Lowering cpu_linear_attention{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
