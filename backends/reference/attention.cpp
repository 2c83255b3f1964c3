#include <algorithm>

#include "backends/reference/kernel.h"
#include "backends/reference/product.h"
#include "backends/reference/softmax.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// A rank-4 operand by the letters of its layout.
struct Heads {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t seq = 0;
  std::int64_t depth = 0;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t seq_stride = 0;
  std::int64_t depth_stride = 0;

  Heads(const Shape& shape, const std::string& layout) {
    if (shape.size() != 4 || layout.size() != 4) {
      throw Error(ErrorKind::failed, "internal: attention over a tensor of shape " +
                                         to_string(std::span<const std::int64_t>(shape)));
    }
    const Shape strides = contiguous_strides(shape);
    for (std::size_t i = 0; i < 4; ++i) {
      switch (layout[i]) {
        case 'b':
          batch = shape[i];
          batch_stride = strides[i];
          break;
        case 'h':
          heads = shape[i];
          head_stride = strides[i];
          break;
        case 's':
          seq = shape[i];
          seq_stride = strides[i];
          break;
        default:
          depth = shape[i];
          depth_stride = strides[i];
      }
    }
  }
  // A batch of 1 serves all.
  std::int64_t offset(std::int64_t b, std::int64_t h) const {
    return (batch == 1 ? 0 : b) * batch_stride + h * head_stride;
  }
};

// Which keys a query sees, and what is added to its scores.
class Mask {
 public:
  Mask(const Call& call, const Shape& scores)  // [B, Hq, S, T]
      : queries_(scores[2]), keys_(scores[3]) {
    const std::string causal = call.attrs().text("causal", "none");
    causal_ = causal != "none";
    offset_ = causal == "bottom_right" ? keys_ - queries_ : 0;
    window_ = call.attrs().integer("window", -1);
    if (call.has(3)) {
      const Tensor& mask = call.input(3);
      if (host::broadcast_shapes(mask.shape(), scores) != scores) {
        throw Error(ErrorKind::invalid, "a mask of shape " +
                                            to_string(std::span<const std::int64_t>(mask.shape())) +
                                            " does not fit scores of shape " +
                                            to_string(std::span<const std::int64_t>(scores)));
      }
      strides_ = host::broadcast_strides(mask.shape(), scores);
      if (mask.dtype() == DataType::boolean) {
        seen_ = host::raw<std::uint8_t>(mask).data();
      } else {
        added_ = call.data(3);
      }
    }
    if (call.has(4)) {
      lengths_ = call.input(4).ints();
      if (static_cast<std::int64_t>(lengths_.size()) != scores[0]) {
        throw Error(ErrorKind::invalid, std::to_string(lengths_.size()) +
                                            " key lengths for a batch of " +
                                            std::to_string(scores[0]));
      }
    }
  }

  template <typename N>
  N apply(const N& score, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    const std::int64_t place = i + offset_;
    const bool hidden = (causal_ && j > place) || (window_ >= 0 && j <= place - window_) ||
                        (!lengths_.empty() && j >= lengths_[static_cast<std::size_t>(b)]);
    const std::int64_t at =
        strides_.empty() ? 0
                         : b * strides_[0] + h * strides_[1] + i * strides_[2] + j * strides_[3];
    if (hidden || (seen_ != nullptr && seen_[at] == 0)) {
      return number<N>(-std::numeric_limits<double>::infinity());
    }
    return added_ != nullptr ? score + number<N>(added_[at]) : score;
  }

 private:
  std::int64_t queries_;
  std::int64_t keys_;
  bool causal_ = false;
  std::int64_t offset_ = 0;
  std::int64_t window_ = -1;
  Shape strides_;
  const std::uint8_t* seen_ = nullptr;
  const double* added_ = nullptr;
  std::vector<std::int64_t> lengths_;
};

// Queries of one head that are done together.
constexpr std::int64_t kQueries = 128;

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  using Real = real_t<N>;
  const Heads q(call.shape(0), call.attrs().text("q_layout"));
  const Heads k(call.shape(1), call.attrs().text("k_layout"));
  const Heads v(call.shape(2), call.attrs().text("v_layout"));
  const std::string& y_layout = call.attrs().text("y_layout");
  if (k.heads == 0 || q.heads % k.heads != 0 || k.heads != v.heads || q.depth != k.depth ||
      k.seq != v.seq) {
    throw Error(ErrorKind::invalid, "queries, keys and values do not fit together");
  }
  const std::int64_t batch = std::max(q.batch, k.batch);
  const Shape shape = y_layout == "bshd" ? Shape{batch, q.seq, q.heads, v.depth}
                                         : Shape{batch, q.heads, q.seq, v.depth};
  const Heads to(shape, y_layout);
  const Mask mask(call, {batch, q.heads, q.seq, k.seq});
  const double scale = call.attrs().number("scale");
  const double softcap = call.attrs().number("softcap", 0);
  const bool nan_to_zero = call.attrs().integer("nan_to_zero", 0) != 0;
  const auto score_conversions = static_cast<Real>(call.conversions(0, 1));
  // Probabilities leave the accumulator's type for the operand's.
  const auto value_conversions =
      static_cast<Real>(call.conversion(call.numerics.precision.accumulate) + call.conversion(2));
  const std::int64_t group = q.heads / k.heads;
  const std::int64_t blocks = (q.seq + kQueries - 1) / kQueries;
  const double* query = call.data(0);
  const double* key = call.data(1);
  const double* value = call.data(2);

  Output<N> y(call, 0, shape);
  const double cost = 2.0 * static_cast<double>(std::min(q.seq, kQueries)) *
                      static_cast<double>(k.seq * (q.depth + v.depth + 10));
  parallel_for(
      batch * q.heads * blocks, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
        std::vector<Real> scores(static_cast<std::size_t>(kQueries * k.seq));
        std::vector<Squares<Real>> squares(kUncertain<N> ? scores.size() : 0);
        std::vector<double> weights(scores.size());  // P [queries, keys]
        std::vector<double> weight_variances(squares.size());
        std::vector<Real> sums(static_cast<std::size_t>(kQueries * v.depth));
        std::vector<Squares<Real>> sum_squares(kUncertain<N> ? sums.size() : 0);
        std::vector<Real> passed_on(sum_squares.size());  // Σ v²·variance of P
        std::vector<double> value_squares(kUncertain<N> ? static_cast<std::size_t>(k.seq * v.depth)
                                                        : 0);
        std::vector<N> row(static_cast<std::size_t>(k.seq));
        std::vector<Real> seen(static_cast<std::size_t>(kQueries));
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t b = task / (q.heads * blocks);
          const std::int64_t h = task / blocks % q.heads;
          const std::int64_t first = task % blocks * kQueries;
          const std::int64_t queries = std::min(kQueries, q.seq - first);
          const MatrixView left{query + q.offset(b, h) + first * q.seq_stride, q.seq_stride,
                                q.depth_stride};
          const MatrixView right{key + k.offset(b, h / group), k.depth_stride, k.seq_stride};
          multiply(queries, k.seq, q.depth, left, right, scores.data(),
                   kUncertain<N> ? squares.data() : nullptr);
          for (std::int64_t i = 0; i < queries; ++i) {
            for (std::int64_t j = 0; j < k.seq; ++j) {
              const auto at = static_cast<std::size_t>(i * k.seq + j);
              N score(scores[at]);
              if constexpr (kUncertain<N>) {
                score.variance = dot_variance<Real>(scores[at], squares[at],
                                                    static_cast<Real>(q.depth), score_conversions);
              }
              if (scale != 1) score = number<N>(scale) * score;
              if (softcap != 0) score = number<N>(softcap) * tanh(score / number<N>(softcap));
              row[static_cast<std::size_t>(j)] = mask.apply(score, b, h, first + i, j);
            }
            softmax_row(row, false, nan_to_zero);
            Real& keys_seen = seen[static_cast<std::size_t>(i)];
            keys_seen = 0;
            for (std::int64_t j = 0; j < k.seq; ++j) {
              const auto at = static_cast<std::size_t>(i * k.seq + j);
              const N& p = row[static_cast<std::size_t>(j)];
              weights[at] = static_cast<double>(value_of(p));
              if constexpr (kUncertain<N>) weight_variances[at] = static_cast<double>(p.variance);
              if (weights[at] != 0) keys_seen += 1;
            }
          }
          const MatrixView probabilities{weights.data(), k.seq, 1};
          const double* values = value + v.offset(b, h / group);
          multiply(queries, v.depth, k.seq, probabilities, {values, v.seq_stride, v.depth_stride},
                   sums.data(), kUncertain<N> ? sum_squares.data() : nullptr);
          if constexpr (kUncertain<N>) {
            for (std::int64_t j = 0; j < k.seq; ++j) {
              for (std::int64_t d = 0; d < v.depth; ++d) {
                const double x = values[j * v.seq_stride + d * v.depth_stride];
                value_squares[static_cast<std::size_t>(j * v.depth + d)] = x * x;
              }
            }
            multiply<Real>(queries, v.depth, k.seq, {weight_variances.data(), k.seq, 1},
                           {value_squares.data(), v.depth, 1}, passed_on.data(), nullptr);
          }
          for (std::int64_t i = 0; i < queries; ++i) {
            for (std::int64_t d = 0; d < v.depth; ++d) {
              const auto at = static_cast<std::size_t>(i * v.depth + d);
              N result(sums[at]);
              if constexpr (kUncertain<N>) {
                result.variance =
                    passed_on[at] + dot_variance<Real>(sums[at], sum_squares[at],
                                                       seen[static_cast<std::size_t>(i)],
                                                       value_conversions);
              }
              y.set(to.offset(b, h) + (first + i) * to.seq_stride + d * to.depth_stride, result);
            }
          }
        }
      });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_attention{run};

}  // namespace concord::reference
