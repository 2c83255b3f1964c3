#include "backends/reference/recurrent.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Recurrence cell(call, 1, 5, 1);
  const double unit = call.unit();
  Output<N> y(call, 0, cell.y_shape());
  Output<N> y_h(call, 1, cell.state_shape());
  for (std::int64_t i = 0; i < y.count(); ++i) y.set(i, number<N>(0));
  for (std::int64_t task = 0; task < cell.directions * cell.batch; ++task) {
    const std::int64_t d = task / cell.batch;
    const std::int64_t b = task % cell.batch;
    std::vector<N> h = cell.initial<N>(call, 5, d, b);
    for_each_step(cell, d, b, [&](std::int64_t t) {
      std::vector<N> next;
      for (std::int64_t i = 0; i < cell.hidden; ++i) {
        next.push_back(cell.activation(d, 0)(cell.gate(call, d, b, t, i, h), unit));
      }
      h = std::move(next);
      for (std::int64_t i = 0; i < cell.hidden; ++i) {
        y.set(cell.y_place(t, d, b) + i, h[static_cast<std::size_t>(i)]);
      }
    });
    for (std::int64_t i = 0; i < cell.hidden; ++i) {
      y_h.set(cell.state_place(d, b) + i, h[static_cast<std::size_t>(i)]);
    }
  }
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

const Kernel reference_rnn{run};

}  // namespace concord::reference
