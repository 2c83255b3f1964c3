#include "backends/reference/recurrent.h"

namespace concord::reference {
namespace {

// Gates in ONNX's order: input, output, forget, cell.
enum Gate : std::int64_t { kInput, kOutput, kForget, kCell };

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Recurrence cell(call, 4, 5, 2);
  const bool coupled = call.attrs().integer("input_forget", 0) != 0;
  const double* peepholes = call.data(7);  // [D, 3·H]: input, output, forget
  const double unit = call.unit();
  Output<N> y(call, 0, cell.y_shape());
  Output<N> y_h(call, 1, cell.state_shape());
  Output<N> y_c(call, 2, cell.state_shape());
  for (std::int64_t i = 0; i < y.count(); ++i) y.set(i, number<N>(0));
  const double cost = static_cast<double>(cell.steps) * 8.0 * static_cast<double>(cell.hidden) *
                      static_cast<double>(cell.inputs + cell.hidden);
  parallel_for(
      cell.directions * cell.batch, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t d = task / cell.batch;
          const std::int64_t b = task % cell.batch;
          const Activation& f = cell.activation(d, 0);
          const Activation& g = cell.activation(d, 1);
          const Activation& h_fn = cell.activation(d, 2);
          std::vector<N> h = cell.initial<N>(call, 5, d, b);
          std::vector<N> c = cell.initial<N>(call, 6, d, b);
          for_each_step(cell, d, b, [&](std::int64_t t) {
            std::vector<N> next = h;
            for (std::int64_t i = 0; i < cell.hidden; ++i) {
              const auto at = static_cast<std::size_t>(i);
              // p·c, added before a gate's activation.
              const auto peep = [&](std::int64_t which, const N& state, const N& value) {
                if (peepholes == nullptr) return value;
                return value + number<N>(peepholes[(d * 3 + which) * cell.hidden + i]) * state;
              };
              const auto pre = [&](Gate gate) {
                return cell.gate(call, d, b, t, gate * cell.hidden + i, h);
              };
              const N in = f(peep(0, c[at], pre(kInput)), unit);
              const N forget = coupled ? number<N>(1) - in : f(peep(2, c[at], pre(kForget)), unit);
              c[at] = forget * c[at] + in * g(pre(kCell), unit);
              const N out = f(peep(1, c[at], pre(kOutput)), unit);
              next[at] = out * h_fn(c[at], unit);
            }
            h = std::move(next);
            const std::int64_t place = cell.y_place(t, d, b);
            for (std::int64_t i = 0; i < cell.hidden; ++i) {
              y.set(place + i, h[static_cast<std::size_t>(i)]);
            }
          });
          const std::int64_t place = cell.state_place(d, b);
          for (std::int64_t i = 0; i < cell.hidden; ++i) {
            y_h.set(place + i, h[static_cast<std::size_t>(i)]);
            y_c.set(place + i, c[static_cast<std::size_t>(i)]);
          }
        }
      });
  std::vector<OracleValue> results;
  results.push_back(y.finish());
  results.push_back(y_h.finish());
  results.push_back(y_c.finish());
  results.resize(call.node.outputs.size());
  return results;
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_lstm{run};

}  // namespace concord::reference
