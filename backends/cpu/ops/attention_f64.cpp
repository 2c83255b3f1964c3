#include "backends/cpu/ops/attention_f64.h"

#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

double score(const AttentionF64& a, std::int64_t b, std::int64_t h, std::int64_t i,
             std::int64_t j) {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const std::int64_t place = i + a.causal_offset;
  if ((a.causal && j > place) || (a.window >= 0 && j <= place - a.window)) return hidden;
  if (a.key_lengths != nullptr && j >= a.key_lengths[b]) return hidden;
  const std::int64_t* m = a.mask_strides;
  const std::int64_t mask = b * m[0] + h * m[1] + i * m[2] + j * m[3];
  if (a.bool_mask != nullptr && a.bool_mask[mask] == 0) return hidden;
  const double* q = a.q.data + b * a.q.strides[0] + h * a.q.strides[1] + i * a.q.strides[2];
  const double* k = a.k.data + b * a.k.strides[0] + h / (a.heads / a.kv_heads) * a.k.strides[1] +
                    j * a.k.strides[2];
  double sum = 0;
  for (std::int64_t d = 0; d < a.depth; ++d) sum += q[d * a.q.strides[3]] * k[d * a.k.strides[3]];
  sum *= a.scale;
  if (a.softcap > 0) sum = a.softcap * std::tanh(sum / a.softcap);
  return a.mask != nullptr ? sum + a.mask[mask] : sum;
}

void attend(const AttentionF64& a, std::int64_t b, std::int64_t h, std::int64_t i,
            std::vector<double>& row) {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < a.kv_len; ++j) {
    double& x = row[static_cast<std::size_t>(j)];
    x = score(a, b, h, i, j);
    if (x != x || x > highest) highest = x;
  }
  const bool sees_none = highest == -std::numeric_limits<double>::infinity();
  double total = 0;
  for (double& x : row) {
    x = std::exp(x - highest);
    total += x;
  }
  const double* v = a.v.data + b * a.v.strides[0] + h / (a.heads / a.kv_heads) * a.v.strides[1];
  double* out = a.out + b * a.out_strides[0] + h * a.out_strides[1] + i * a.out_strides[2];
  for (std::int64_t d = 0; d < a.v_depth; ++d) {
    double sum = 0;
    for (std::int64_t j = 0; j < a.kv_len; ++j) {
      const double weight = row[static_cast<std::size_t>(j)] / total;
      sum += weight * v[j * a.v.strides[2] + d * a.v.strides[3]];
    }
    out[d * a.out_strides[3]] = a.empty_rows_zero && sees_none ? 0 : sum;
  }
}

}  // namespace

void attention_f64(const AttentionF64& args) {
  const std::int64_t rows = args.batch * args.heads * args.q_len;
  const std::int64_t work = 1 + args.kv_len * (args.depth + args.v_depth + 20);
  parallel_for(rows, 1 + 5000 / work, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> row(static_cast<std::size_t>(args.kv_len));
    for (std::int64_t r = begin; r < end; ++r) {
      attend(args, r / args.q_len / args.heads, r / args.q_len % args.heads, r % args.q_len, row);
    }
  });
}

}  // namespace concord::cpu
