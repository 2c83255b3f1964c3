#pragma once

#include "backends/cpu/kernels/recurrent.h"
#include "backends/cpu/lowering.h"

namespace concord::cpu {

// lstm, gru and rnn: x, w, r, [b], [seq_lens], [h0], and for lstm [c0], [peepholes].
std::optional<std::string> why_not_recurrent(const graph::Graph& graph, const graph::Node& node,
                                             Cell cell);
PlanFn prepare_recurrent(Compiler& compiler, Cell cell);

}  // namespace concord::cpu
