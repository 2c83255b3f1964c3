#pragma once

#include "tests/ops/op_case.h"

namespace concord::ops_test {

// lstm (4 gates), gru (3) and rnn (1) over the same shapes.
struct RecurrentShape {
  std::int64_t seq = 5, batch = 3, input = 7, hidden = 9, directions = 1;
};

inline OpCase recurrent_case(const std::string& name, std::int64_t gates, const RecurrentShape& s,
                             const char* activations, DataType dtype = DataType::f32,
                             bool constant = true) {
  OpCase op_case(name);
  op_case.in(dtype, {s.seq, s.batch, s.input});
  const auto weight = [&](Shape shape) {
    if (constant) {
      op_case.weight(dtype, std::move(shape), normal(0, 0.3));
    } else {
      op_case.in(dtype, std::move(shape), normal(0, 0.3));
    }
  };
  weight({s.directions, gates * s.hidden, s.input});
  weight({s.directions, gates * s.hidden, s.hidden});
  weight({s.directions, 2 * gates * s.hidden});
  return op_case.set("hidden_size", static_cast<int>(s.hidden))
      .set("direction", s.directions == 2 ? "bidirectional" : "forward")
      .set("activations", activations)
      .set("clip", 0.0)
      .set("layout", 0)
      .outputs(gates == 4 ? 3 : 2);
}

}  // namespace concord::ops_test
