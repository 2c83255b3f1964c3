#include "backends/cpu/kernels/attention.h"

#include <algorithm>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/attention_f64.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"

namespace concord::cpu {
namespace {

enum : int { kQ, kK, kV, kMask, kLengths };

enum class Layout { bhsd, bshd, bhds };

Layout layout_of(const graph::Node& node, std::string_view attribute) {
  const std::string text = node.attrs.text(attribute, "bhsd");
  if (text == "bhsd") return Layout::bhsd;
  if (text == "bshd") return Layout::bshd;
  if (text == "bhds") return Layout::bhds;
  throw Error(ErrorKind::failed, "internal: unknown layout " + text);
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType mask = input_dtype(graph, node, kMask);
  if (input_dtype(graph, node, kQ) == DataType::f64) {
    for (const int i : {kK, kV, kMask}) {
      const DataType dtype = input_dtype(graph, node, static_cast<std::size_t>(i));
      const bool is_mask = i == kMask && (dtype == DataType::boolean || !is_float(dtype));
      if (dtype != DataType::f64 && !is_mask) return type_reason(dtype) + " beside float64";
    }
    return std::nullopt;
  }
  if (auto why = why_not_float(graph, node, {kQ, kK, kV})) return why;
  if (mask != DataType::undefined && mask != DataType::boolean && !is_kernel_float(mask)) {
    return "a mask of " + type_reason(mask);
  }
  return std::nullopt;
}

// [batch, heads, seq, head_dim] whatever the layout.
View as_bhsd(View view, Layout layout) {
  const auto swap = [&](int a, int b) {
    std::swap(view.shape[a], view.shape[b]);
    std::swap(view.strides[a], view.strides[b]);
  };
  if (layout == Layout::bshd) swap(1, 2);
  if (layout == Layout::bhds) swap(2, 3);
  return view;
}

// The kernel wants contiguous heads; a cache kept as [.., head_dim, seq] is turned first.
View heads_view(Planner& p, int input, Layout layout) {
  View view = as_bhsd(p.view(input), layout);
  if (view.strides[3] == 1 || view.shape[3] == 1) return view;
  View dense = view;
  dense.strides = dense_strides(view.shape);
  dense.at = p.scratch(view.bytes());
  p.emit([view, to = dense.at, size = element_bytes(view.dtype)](const Frame& f) {
    copy_strided(size, view.shape, f.at(view.at), view.strides, f.at(to),
                 dense_strides(view.shape));
  });
  return dense;
}

HeadsView kernel_view(const View& view) {
  HeadsView heads;
  heads.type = element(view.dtype);
  heads.batch_stride = view.strides[0];
  heads.head_stride = view.strides[1];
  heads.seq_stride = view.strides[2];
  return heads;
}

struct Form {
  Layout q, k, v, y;
  float scale = 1, softcap = 0;
  std::string causal;
  std::int64_t window = -1;
  bool nan_to_zero = false;
  double exact_scale = 1, exact_softcap = 0;  // for float64
};

void plan(Planner& p, const Form& form) {
  AttentionArgs args;
  const View q = heads_view(p, kQ, form.q);
  const View k = heads_view(p, kK, form.k);
  const View v = heads_view(p, kV, form.v);
  args.batch = q.shape[0];
  args.heads = q.shape[1];
  args.kv_heads = k.shape[1];
  args.q_len = q.shape[2];
  args.kv_len = k.shape[2];
  args.head_dim = q.shape[3];
  args.v_head_dim = v.shape[3];
  args.q = kernel_view(q);
  args.k = kernel_view(k);
  args.v = kernel_view(v);
  args.scale = form.scale;
  args.softcap = form.softcap;
  args.window = form.window;
  args.causal = form.causal != "none";
  args.causal_offset = form.causal == "top_left" ? 0 : args.kv_len - args.q_len;
  args.empty_rows_zero = form.nan_to_zero;

  View mask;
  if (p.has(kMask)) {
    mask = p.view_f32(kMask);
    const Dims strides = broadcast_to(mask, Dims{args.batch, args.heads, args.q_len, args.kv_len});
    args.mask_batch_stride = strides[0];
    args.mask_head_stride = strides[1];
    args.mask_q_stride = strides[2];
    args.mask_k_stride = strides[3];
  }
  Ref lengths;
  if (p.has(kLengths)) {
    const Ref from = p.in(kLengths);
    lengths = p.scratch(args.batch * 4);
    p.emit([from, lengths, count = args.batch](const Frame& f) {
      const auto* source = f.at<const std::int64_t>(from);
      for (std::int64_t i = 0; i < count; ++i) {
        f.at<std::int32_t>(lengths)[i] = static_cast<std::int32_t>(source[i]);
      }
    });
  }
  View y;
  y.dtype = p.out_dtype();
  y.at = p.out();
  y.shape = p.out_shape();
  y.strides = dense_strides(y.shape);
  y = as_bhsd(y, form.y);
  args.out_type = element(y.dtype);
  args.out_batch_stride = y.strides[0];
  args.out_head_stride = y.strides[1];
  args.out_seq_stride = y.strides[2];

  const bool boolean = mask.dtype == DataType::boolean;
  const double pairs =
      static_cast<double>(args.batch * args.heads * args.q_len) * static_cast<double>(args.kv_len);
  p.precision({DataType::f32, DataType::f32, y.dtype, false});
  p.emit("attention", 2.0 * pairs * static_cast<double>(args.head_dim + args.v_head_dim),
         [args, q = q.at, k = k.at, v = v.at, mask = mask.at, boolean, lengths,
          out = y.at](const Frame& f) {
           AttentionArgs now = args;
           now.q.data = f.at(q);
           now.k.data = f.at(k);
           now.v.data = f.at(v);
           if (boolean) {
             now.bool_mask = f.at<const std::uint8_t>(mask);
           } else {
             now.mask = f.at<const float>(mask);
           }
           now.key_lengths = f.at<const std::int32_t>(lengths);
           now.out = f.at(out);
           attention(now);
         });
}

void plan_f64(Planner& p, const Form& form) {
  AttentionF64 args;
  const View q = as_bhsd(p.view(kQ), form.q);
  const View k = as_bhsd(p.view(kK), form.k);
  const View v = as_bhsd(p.view(kV), form.v);
  args.batch = q.shape[0];
  args.heads = q.shape[1];
  args.kv_heads = k.shape[1];
  args.q_len = q.shape[2];
  args.kv_len = k.shape[2];
  args.depth = q.shape[3];
  args.v_depth = v.shape[3];
  View y;
  y.dtype = p.out_dtype();
  y.at = p.out();
  y.shape = p.out_shape();
  y.strides = dense_strides(y.shape);
  y = as_bhsd(y, form.y);
  View mask;
  if (p.has(kMask)) {
    mask = p.view(kMask);
    const Dims strides = broadcast_to(mask, Dims{args.batch, args.heads, args.q_len, args.kv_len});
    std::copy(strides.begin(), strides.end(), args.mask_strides);
  }
  std::copy(q.strides.begin(), q.strides.end(), args.q.strides);
  std::copy(k.strides.begin(), k.strides.end(), args.k.strides);
  std::copy(v.strides.begin(), v.strides.end(), args.v.strides);
  std::copy(y.strides.begin(), y.strides.end(), args.out_strides);
  args.scale = form.exact_scale;
  args.softcap = form.exact_softcap;
  args.window = form.window;
  args.causal = form.causal != "none";
  args.causal_offset = form.causal == "top_left" ? 0 : args.kv_len - args.q_len;
  args.empty_rows_zero = form.nan_to_zero;
  const Ref lengths = p.has(kLengths) ? p.in(kLengths) : Ref{};
  const bool boolean = mask.dtype == DataType::boolean;
  const double pairs =
      static_cast<double>(args.batch * args.heads * args.q_len) * static_cast<double>(args.kv_len);
  p.emit("attention plain", 2.0 * pairs * static_cast<double>(args.depth + args.v_depth),
         [args, q = q.at, k = k.at, v = v.at, mask = mask.at, boolean, lengths,
          out = y.at](const Frame& f) {
           AttentionF64 now = args;
           now.q.data = f.at<const double>(q);
           now.k.data = f.at<const double>(k);
           now.v.data = f.at<const double>(v);
           if (boolean) {
             now.bool_mask = f.at<const std::uint8_t>(mask);
           } else if (mask) {
             now.mask = f.at<const double>(mask);
           }
           now.key_lengths = lengths ? f.at<const std::int64_t>(lengths) : nullptr;
           now.out = f.at<double>(out);
           attention_f64(now);
         });
}

PlanFn prepare(Compiler& c) {
  Form form;
  form.q = layout_of(c.node(), "q_layout");
  form.k = layout_of(c.node(), "k_layout");
  form.v = layout_of(c.node(), "v_layout");
  form.y = layout_of(c.node(), "y_layout");
  form.scale = static_cast<float>(c.attrs().number("scale"));
  form.softcap = static_cast<float>(c.attrs().number("softcap", 0.0));
  form.exact_scale = c.attrs().number("scale");
  form.exact_softcap = c.attrs().number("softcap", 0.0);
  form.causal = c.attrs().text("causal", "none");
  form.window = c.attrs().integer("window", -1);
  form.nan_to_zero = c.attrs().integer("nan_to_zero", 0) != 0;
  if (c.dtype(kQ) == DataType::f64) return [form](Planner& p) { plan_f64(p, form); };
  return [form](Planner& p) { plan(p, form); };
}

}  // namespace

const Lowering cpu_attention{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 0xf};

}  // namespace concord::cpu
