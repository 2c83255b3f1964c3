#include "backends/reference/recurrent.h"

namespace concord::reference {
namespace {

// Gates in ONNX's order: update, reset, hidden.
enum Gate : std::int64_t { kUpdate, kReset, kHidden };

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Recurrence cell(call, 3, 5, 1);
  const bool reset_after = call.attrs().integer("linear_before_reset", 0) != 0;
  const double unit = call.unit();
  Output<N> y(call, 0, cell.y_shape());
  Output<N> y_h(call, 1, cell.state_shape());
  for (std::int64_t i = 0; i < y.count(); ++i) y.set(i, number<N>(0));
  const double cost = static_cast<double>(cell.steps) * 6.0 * static_cast<double>(cell.hidden) *
                      static_cast<double>(cell.inputs + cell.hidden);
  parallel_for(
      cell.directions * cell.batch, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t d = task / cell.batch;
          const std::int64_t b = task % cell.batch;
          const Activation& f = cell.activation(d, 0);
          const Activation& g = cell.activation(d, 1);
          std::vector<N> h = cell.initial<N>(call, 5, d, b);
          for_each_step(cell, d, b, [&](std::int64_t t) {
            std::vector<N> update;
            std::vector<N> reset;
            for (std::int64_t i = 0; i < cell.hidden; ++i) {
              update.push_back(f(cell.gate(call, d, b, t, kUpdate * cell.hidden + i, h), unit));
              reset.push_back(f(cell.gate(call, d, b, t, kReset * cell.hidden + i, h), unit));
            }
            std::vector<N> kept;  // r ∘ h
            for (std::size_t i = 0; i < h.size(); ++i) kept.push_back(reset[i] * h[i]);
            std::vector<N> next;
            for (std::int64_t i = 0; i < cell.hidden; ++i) {
              const auto at = static_cast<std::size_t>(i);
              const std::int64_t row = kHidden * cell.hidden + i;
              N pre = number<N>(0);
              if (reset_after) {
                Sum<N> from_input;
                cell.add_input(from_input, d, b, t, row);
                Sum<N> from_state;
                cell.add_state(from_state, d, row, h);
                const auto conversions = Recurrence::conversions<N>(call);
                N state = from_state.result(conversions);
                pre = from_input.result(conversions);
                if (cell.has_bias()) {
                  state = state + number<N>(cell.state_bias(d, row));
                  pre = pre + number<N>(cell.input_bias(d, row));
                }
                pre = cell.clipped(pre + reset[at] * state);
              } else {
                pre = cell.gate(call, d, b, t, row, kept);
              }
              const N candidate = g(pre, unit);
              next.push_back((number<N>(1) - update[at]) * candidate + update[at] * h[at]);
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
          }
        }
      });
  std::vector<OracleValue> results;
  results.push_back(y.finish());
  results.push_back(y_h.finish());
  results.resize(call.node.outputs.size());
  return results;
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_gru{run};

}  // namespace concord::reference
