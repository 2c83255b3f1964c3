// LSTM, GRU and plain recurrent layers: the inputs' products for all steps at once, then step by
// step the state's.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/matmul.h"

namespace concord::cpu {

enum class Cell : std::uint8_t { lstm, gru, rnn };

constexpr std::int64_t gate_count(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

struct CellFunction {
  ElementOp op = ElementOp::sigmoid;
  float p0 = 0, p1 = 0;
};

// One direction. Gates stand in ONNX's order: lstm input, output, forget, cell; gru update, reset,
// hidden.
struct RecurrentArgs {
  Cell cell = Cell::lstm;
  std::int64_t seq = 0, batch = 0, input = 0, hidden = 0;
  bool reverse = false;
  CellFunction functions[3];         // lstm f, g, h; gru f, g; rnn f
  bool linear_before_reset = false;  // gru
  bool input_forget = false;         // lstm: the forget gate is 1 − the input gate
  float clip = 0;                    // 0: none
  const PackedWeights* w = nullptr;  // [input, gates · hidden]
  const PackedWeights* r = nullptr;  // [hidden, gates · hidden]; gru without linear_before_reset:
                                     // [hidden, 2 · hidden]
  const PackedWeights* r_hidden = nullptr;  // that gru's [hidden, hidden]
  const float* bias = nullptr;            // [2 · gates · hidden]: of the input, then of the state
  const float* peephole = nullptr;        // lstm: [3 · hidden]: input, output, forget
  const std::int32_t* lengths = nullptr;  // [batch]: steps behind are skipped and give zeros
  // x at step t, batch b: x + t · x_step + b · x_batch, [input] contiguous; one of the strides is
  // the other's extent times itself, so that all rows lie side by side.
  const float* x = nullptr;
  std::int64_t x_step = 0, x_batch = 0;
  // States by batch stride; null: zeros, or not wanted.
  const float* h0 = nullptr;
  const float* c0 = nullptr;
  std::int64_t state0_batch = 0;
  float* y = nullptr;  // null: not wanted
  std::int64_t y_step = 0, y_batch = 0;
  float* h_last = nullptr;
  float* c_last = nullptr;
  std::int64_t state_batch = 0;
  float* workspace = nullptr;  // recurrent_workspace(args) floats
};

std::int64_t recurrent_workspace(const RecurrentArgs& args);
void recurrent(const RecurrentArgs& args);

}  // namespace concord::cpu
