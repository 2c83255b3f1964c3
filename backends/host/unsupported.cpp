#include "backends/host/kernel.h"

namespace concord::host {

// Operators that the host does not run: floating-point arithmetic, and control flow, which whoever
// runs the graph unfolds.
#define NOT_THE_HOSTS(name)  \
  const Kernel host_##name { \
    nullptr, nullptr         \
  }

NOT_THE_HOSTS(attention);
NOT_THE_HOSTS(conv);
NOT_THE_HOSTS(conv_transpose);
NOT_THE_HOSTS(dequantize);
NOT_THE_HOSTS(det);
NOT_THE_HOSTS(dft);
NOT_THE_HOSTS(dynamic_quantize);
NOT_THE_HOSTS(einsum);
NOT_THE_HOSTS(elementwise);
NOT_THE_HOSTS(grid_sample);
NOT_THE_HOSTS(group_norm);
NOT_THE_HOSTS(gru);
NOT_THE_HOSTS(if_then_else);
NOT_THE_HOSTS(layer_norm);
NOT_THE_HOSTS(linear_attention);
NOT_THE_HOSTS(loop);
NOT_THE_HOSTS(lrn);
NOT_THE_HOSTS(lstm);
NOT_THE_HOSTS(matmul);
NOT_THE_HOSTS(matmul_nbits);
NOT_THE_HOSTS(pool);
NOT_THE_HOSTS(quantize);
NOT_THE_HOSTS(resize);
NOT_THE_HOSTS(rms_norm);
NOT_THE_HOSTS(rnn);
NOT_THE_HOSTS(roi_align);
NOT_THE_HOSTS(rotary);
NOT_THE_HOSTS(scan);
NOT_THE_HOSTS(softmax);

}  // namespace concord::host
