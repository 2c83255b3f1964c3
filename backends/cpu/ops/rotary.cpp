#include "backends/cpu/kernels/rotary.h"

#include <algorithm>

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

enum : int { kX, kCos, kSin, kPositions };

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_float(graph, node, {kX, kCos, kSin});
}

void plan(Planner& p, bool bshd, std::int64_t rotary_dim, bool interleaved) {
  View x = p.view(kX);
  if (x.strides[3] != 1 && x.shape[3] != 1) {
    x.at = p.in(kX);
    x.strides = dense_strides(x.shape);
  }
  View y = x;
  y.shape = p.out_shape();
  y.strides = dense_strides(y.shape);
  const int heads = bshd ? 2 : 1;
  const int seq = bshd ? 1 : 2;
  RotaryArgs args;
  args.batch = x.shape[0];
  args.heads = x.shape[heads];
  args.seq = x.shape[seq];
  args.head_dim = x.shape[3];
  args.rotary_dim = rotary_dim == 0 ? args.head_dim : rotary_dim;
  args.interleaved = interleaved;
  args.x.type = element(x.dtype);
  args.x.batch_stride = x.strides[0];
  args.x.head_stride = x.strides[heads];
  args.x.seq_stride = x.strides[seq];

  // Tables [B|1, S, width], or [max, width] indexed by positions; of a width of rotary_dim only
  // the first half is read.
  const View table = p.view_f32(kCos);
  const View sines = p.view_f32(kSin);
  const Ref cosines = table.dense() ? table.at : p.in(kCos);
  const Ref sine = sines.dense() ? sines.at : p.in(kSin);
  args.table_stride = table.shape.back();
  Ref positions;
  std::int64_t position_count = 0;
  std::int64_t table_rows = 0;
  if (p.has(kPositions)) {
    positions = p.in(kPositions);
    const Dims shape = p.shape(kPositions);
    position_count = shape.count();
    table_rows = table.shape[table.shape.rank() - 2];
    args.position_batch_stride = shape.rank() < 2 || shape[0] == 1 ? 0 : shape[1];
  } else if (table.shape.rank() >= 3 && table.shape[table.shape.rank() - 3] != 1) {
    args.table_batch_stride = args.seq * args.table_stride;
  }
  y.at = p.out_over(0, 1);
  args.out_batch_stride = y.strides[0];
  args.out_head_stride = y.strides[heads];
  args.out_seq_stride = y.strides[seq];
  p.emit("rotary", 3.0 * static_cast<double>(x.shape.count()),
         [=, x = x.at, y = y.at](const Frame& f) {
           RotaryArgs now = args;
           now.x.data = f.at(x);
           now.out = f.at(y);
           now.cos = f.at<const float>(cosines);
           now.sin = f.at<const float>(sine);
           if (positions) {
             now.position_ids = f.at<const std::int64_t>(positions);
             for (std::int64_t i = 0; i < position_count; ++i) {
               if (now.position_ids[i] < 0 || now.position_ids[i] >= table_rows) {
                 throw_bad_index(now.position_ids[i], table_rows);
               }
             }
           }
           rotary(now);
         });
}

PlanFn prepare(Compiler& c) {
  return
      [bshd = c.attrs().text("layout") == "bshd", rotary_dim = c.attrs().integer("rotary_dim", 0),
       interleaved = c.attrs().integer("interleaved", 0) != 0](Planner& p) {
        plan(p, bshd, rotary_dim, interleaved);
      };
}

}  // namespace

const Lowering cpu_rotary{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
