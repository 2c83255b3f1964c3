#include "backends/cpu/kernels/recurrent.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/recurrent.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "backends/cpu/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

// Calls body(load, store) for whole vectors, then once for the rest through padded copies.
template <class Body>
HWY_INLINE void for_vectors(std::int64_t n, Body body) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    body([i](const float* p) HWY_ATTR { return hn::LoadU(kTag, p + i); },
         [i](V v, float* p) HWY_ATTR { hn::StoreU(v, kTag, p + i); });
  }
  if (i == n) return;
  const std::int64_t rest = n - i;
  body(
      [i, rest](const float* p) HWY_ATTR {
        HWY_ALIGN float lanes[kLanes] = {};
        std::copy_n(p + i, rest, lanes);
        return hn::Load(kTag, lanes);
      },
      [i, rest](V v, float* p) HWY_ATTR {
        HWY_ALIGN float lanes[kLanes];
        hn::Store(v, kTag, lanes);
        std::copy_n(lanes, rest, p + i);
      });
}
}  // namespace

// The usual LSTM: sigmoid gates, tanh of the cell and of what it shows; no peepholes, no clip.
void lstm_row(std::int64_t n, const float* gates, float* c, float* h) {
  const float* in = gates;
  const float* out = gates + n;
  const float* forget = gates + 2 * n;
  const float* cell = gates + 3 * n;
  for_vectors(n, [&](auto load, auto store) HWY_ATTR {
    const V kept = hn::Mul(vec_sigmoid(kTag, load(forget)), load(c));
    const V next = hn::MulAdd(vec_sigmoid(kTag, load(in)), vec_tanh(kTag, load(cell)), kept);
    store(next, c);
    store(hn::Mul(vec_sigmoid(kTag, load(out)), vec_tanh(kTag, next)), h);
  });
}

// The usual GRU after its reset: h = (1 − z) · tanh(hidden) + z · h, with z = sigmoid(update).
void gru_row(std::int64_t n, const float* update, const float* hidden, float* h) {
  for_vectors(n, [&](auto load, auto store) HWY_ATTR {
    const V z = vec_sigmoid(kTag, load(update));
    const V candidate = vec_tanh(kTag, load(hidden));
    store(hn::MulAdd(z, hn::Sub(load(h), candidate), candidate), h);
  });
}

// hidden += sigmoid(reset) · state
void gru_reset_row(std::int64_t n, const float* reset, const float* state, float* hidden) {
  for_vectors(n, [&](auto load, auto store) HWY_ATTR {
    store(hn::MulAdd(vec_sigmoid(kTag, load(reset)), load(state), load(hidden)), hidden);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace concord::cpu {

HWY_EXPORT(lstm_row);
HWY_EXPORT(gru_row);
HWY_EXPORT(gru_reset_row);

namespace {

bool is(const CellFunction& f, ElementOp op) {
  return f.op == op;
}

void apply(const CellFunction& f, std::int64_t n, float* x) {
  unary(f.op, n, x, x, f.p0, f.p1);
}

void clip_row(float limit, std::int64_t n, float* x) {
  if (limit <= 0) return;
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::clamp(x[i], -limit, limit);
}

class Layer {
 public:
  explicit Layer(const RecurrentArgs& args)
      : a_(args),
        n_(args.hidden),
        gates_(gate_count(args.cell) * args.hidden),
        all_(args.workspace),
        h_(all_ + args.seq * args.batch * gates_),
        c_(h_ + args.batch * n_),
        state_(c_ + args.batch * n_) {}

  void run() {
    start_states();
    multiply_inputs();
    // Rows of one step, by batch.
    const bool steps_first = a_.x_step >= a_.x_batch;
    row_step_ = (steps_first ? a_.batch : 1) * gates_;
    row_batch_ = (steps_first ? 1 : a_.seq) * gates_;
    for (std::int64_t i = 0; i < a_.seq; ++i) step(a_.reverse ? a_.seq - 1 - i : i);
    finish_states();
  }

 private:
  void start_states() {
    for (std::int64_t b = 0; b < a_.batch; ++b) {
      const auto start = [&](const float* from, float* to) {
        if (from != nullptr) {
          std::copy_n(from + b * a_.state0_batch, n_, to + b * n_);
        } else {
          std::fill_n(to + b * n_, n_, 0.0f);
        }
      };
      start(a_.h0, h_);
      start(a_.c0, c_);
    }
  }

  // all = x · w + the biases that are added before anything else: those of the state too, but for
  // the hidden gate of a gru with linear_before_reset.
  void multiply_inputs() {
    float* bias = nullptr;
    if (a_.bias != nullptr) {
      bias = state_;
      const std::int64_t apart = reset_after() ? n_ : 0;
      for (std::int64_t i = 0; i < gates_; ++i) {
        bias[i] = a_.bias[i] + (i < gates_ - apart ? a_.bias[gates_ + i] : 0.0f);
      }
    }
    MatmulArgs m;
    m.rows = a_.seq * a_.batch;
    m.a = a_.x;
    m.lda = a_.input;
    m.c = all_;
    m.ldc = gates_;
    m.epilogue.bias = bias;
    matmul(*a_.w, m);
  }

  bool reset_after() const { return a_.cell == Cell::gru && a_.linear_before_reset; }

  bool active(std::int64_t t, std::int64_t b) const {
    return a_.lengths == nullptr || t < a_.lengths[b];
  }

  // rows += h · weights for the first columns of every row.
  void add_state(const PackedWeights& weights, const float* from, float* rows,
                 std::int64_t stride) {
    MatmulArgs m;
    m.rows = a_.batch;
    m.a = from;
    m.lda = n_;
    m.c = rows;
    m.ldc = stride;
    m.epilogue.residual = rows;
    m.epilogue.residual_stride = stride;
    matmul(weights, m);
  }

  void step(std::int64_t t) {
    float* rows = all_ + t * row_step_;
    switch (a_.cell) {
      case Cell::lstm:
        add_state(*a_.r, h_, rows, row_batch_);
        for (std::int64_t b = 0; b < a_.batch; ++b) {
          if (active(t, b)) lstm(rows + b * row_batch_, c_ + b * n_, h_ + b * n_);
        }
        break;
      case Cell::gru:
        gru_step(t, rows);
        break;
      case Cell::rnn:
        add_state(*a_.r, h_, rows, row_batch_);
        for (std::int64_t b = 0; b < a_.batch; ++b) {
          if (!active(t, b)) continue;
          float* row = rows + b * row_batch_;
          clip_row(a_.clip, n_, row);
          apply(a_.functions[0], n_, row);
          std::copy_n(row, n_, h_ + b * n_);
        }
        break;
    }
    if (a_.y == nullptr) return;
    for (std::int64_t b = 0; b < a_.batch; ++b) {
      float* y = a_.y + t * a_.y_step + b * a_.y_batch;
      if (active(t, b)) {
        std::copy_n(h_ + b * n_, n_, y);
      } else {
        std::fill_n(y, n_, 0.0f);
      }
    }
  }

  void lstm(float* gates, float* c, float* h) {
    if (is(a_.functions[0], ElementOp::sigmoid) && is(a_.functions[1], ElementOp::tanh) &&
        is(a_.functions[2], ElementOp::tanh) && a_.peephole == nullptr && a_.clip <= 0 &&
        !a_.input_forget) {
      HWY_DYNAMIC_DISPATCH(lstm_row)(n_, gates, c, h);
      return;
    }
    float* in = gates;
    float* out = gates + n_;
    float* forget = gates + 2 * n_;
    float* cell = gates + 3 * n_;
    const auto peep = [&](float* gate, std::int64_t which) {
      if (a_.peephole == nullptr) return;
      for (std::int64_t i = 0; i < n_; ++i) gate[i] += a_.peephole[which * n_ + i] * c[i];
    };
    const auto finish = [&](const CellFunction& f, float* gate) {
      clip_row(a_.clip, n_, gate);
      apply(f, n_, gate);
    };
    peep(in, 0);
    peep(forget, 2);
    finish(a_.functions[0], in);
    finish(a_.functions[0], forget);
    finish(a_.functions[1], cell);
    for (std::int64_t i = 0; i < n_; ++i) {
      c[i] = (a_.input_forget ? 1.0f - in[i] : forget[i]) * c[i] + in[i] * cell[i];
    }
    peep(out, 1);
    finish(a_.functions[0], out);
    std::copy_n(c, n_, h);
    apply(a_.functions[2], n_, h);
    for (std::int64_t i = 0; i < n_; ++i) h[i] *= out[i];
  }

  void gru_step(std::int64_t t, float* rows) {
    const bool usual = is(a_.functions[0], ElementOp::sigmoid) &&
                       is(a_.functions[1], ElementOp::tanh) && a_.clip <= 0;
    if (a_.linear_before_reset) {
      // state = h · r + its bias for the hidden gate; the other gates' parts are added to theirs.
      MatmulArgs m;
      m.rows = a_.batch;
      m.a = h_;
      m.lda = n_;
      m.c = state_;
      m.ldc = gates_;
      matmul(*a_.r, m);
    } else {
      add_state(*a_.r, h_, rows, row_batch_);
    }
    for (std::int64_t b = 0; b < a_.batch; ++b) {
      float* row = rows + b * row_batch_;
      float* reset = row + n_;
      float* hidden = row + 2 * n_;
      float* state = state_ + b * (a_.linear_before_reset ? gates_ : n_);
      if (a_.linear_before_reset) {
        for (std::int64_t i = 0; i < 2 * n_; ++i) row[i] += state[i];
        state += 2 * n_;
        if (a_.bias != nullptr) {
          for (std::int64_t i = 0; i < n_; ++i) state[i] += a_.bias[gates_ + 2 * n_ + i];
        }
        if (usual) {
          HWY_DYNAMIC_DISPATCH(gru_reset_row)(n_, reset, state, hidden);
          continue;
        }
      }
      clip_row(a_.clip, n_, reset);
      apply(a_.functions[0], n_, reset);
      if (a_.linear_before_reset) {
        for (std::int64_t i = 0; i < n_; ++i) hidden[i] += reset[i] * state[i];
      } else {
        for (std::int64_t i = 0; i < n_; ++i) state[i] = reset[i] * h_[b * n_ + i];
      }
    }
    if (!a_.linear_before_reset) add_state(*a_.r_hidden, state_, rows + 2 * n_, row_batch_);
    for (std::int64_t b = 0; b < a_.batch; ++b) {
      if (!active(t, b)) continue;
      float* update = rows + b * row_batch_;
      float* hidden = update + 2 * n_;
      float* h = h_ + b * n_;
      if (usual) {
        HWY_DYNAMIC_DISPATCH(gru_row)(n_, update, hidden, h);
        continue;
      }
      clip_row(a_.clip, n_, update);
      clip_row(a_.clip, n_, hidden);
      apply(a_.functions[0], n_, update);
      apply(a_.functions[1], n_, hidden);
      for (std::int64_t i = 0; i < n_; ++i) {
        h[i] = (1.0f - update[i]) * hidden[i] + update[i] * h[i];
      }
    }
  }

  void finish_states() {
    for (std::int64_t b = 0; b < a_.batch; ++b) {
      if (a_.h_last != nullptr) std::copy_n(h_ + b * n_, n_, a_.h_last + b * a_.state_batch);
      if (a_.c_last != nullptr) std::copy_n(c_ + b * n_, n_, a_.c_last + b * a_.state_batch);
    }
  }

  const RecurrentArgs& a_;
  const std::int64_t n_, gates_;
  float* all_;    // [seq · batch, gates], in the order of x's rows
  float* h_;      // [batch, hidden]
  float* c_;      // [batch, hidden]
  float* state_;  // [max(1, batch), gates]: the summed bias, then the state's products
  std::int64_t row_step_ = 0, row_batch_ = 0;
};

}  // namespace

std::int64_t recurrent_workspace(const RecurrentArgs& a) {
  const std::int64_t gates = gate_count(a.cell) * a.hidden;
  return a.seq * a.batch * gates + 2 * a.batch * a.hidden +
         std::max<std::int64_t>(1, a.batch) * gates;
}

void recurrent(const RecurrentArgs& args) {
  Layer(args).run();
}

}  // namespace concord::cpu
#endif
