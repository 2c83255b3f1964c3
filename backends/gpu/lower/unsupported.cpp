// Operators that the GPU backends don't run yet; the session gives them to another backend.

#include "backends/gpu/lowering.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

void refuse(NodeLowering& node) {
  throw Error(ErrorKind::failed, "core operator " + std::string(to_string(node.node().op)) +
                                     " has no GPU kernels and should not have come here");
}

}  // namespace

#define CONCORD_GPU_UNSUPPORTED(op, reason)                                                  \
  extern const Lowering gpu_##op;                                                            \
  const Lowering gpu_##op{[](const Query&) -> std::optional<std::string> { return reason; }, \
                          refuse};

CONCORD_GPU_UNSUPPORTED(bit_cast, "no GPU kernel for bit_cast yet")
CONCORD_GPU_UNSUPPORTED(conv_transpose, "no GPU kernel for conv_transpose yet")
CONCORD_GPU_UNSUPPORTED(cum_prod, "no GPU kernel for cum_prod yet")
CONCORD_GPU_UNSUPPORTED(dequantize, "no GPU kernel for dequantize yet")
CONCORD_GPU_UNSUPPORTED(det, "no GPU kernel for det yet")
CONCORD_GPU_UNSUPPORTED(dft, "no GPU kernel for dft yet")
CONCORD_GPU_UNSUPPORTED(dynamic_quantize, "no GPU kernel for dynamic_quantize yet")
CONCORD_GPU_UNSUPPORTED(einsum, "no GPU kernel for einsum yet")
CONCORD_GPU_UNSUPPORTED(grid_sample, "no GPU kernel for grid_sample yet")
CONCORD_GPU_UNSUPPORTED(gru, "no GPU kernel for gru yet")
CONCORD_GPU_UNSUPPORTED(if_then_else, "no GPU kernel for if_then_else yet")
CONCORD_GPU_UNSUPPORTED(linear_attention, "no GPU kernel for linear_attention yet")
CONCORD_GPU_UNSUPPORTED(lookup, "no GPU kernel for lookup yet")
CONCORD_GPU_UNSUPPORTED(loop, "no GPU kernel for loop yet")
CONCORD_GPU_UNSUPPORTED(lrn, "no GPU kernel for lrn yet")
CONCORD_GPU_UNSUPPORTED(lstm, "no GPU kernel for lstm yet")
CONCORD_GPU_UNSUPPORTED(matmul_integer, "no GPU kernel for matmul_integer yet")
CONCORD_GPU_UNSUPPORTED(matmul_nbits, "no GPU kernel for matmul_nbits yet")
CONCORD_GPU_UNSUPPORTED(non_max_suppression, "no GPU kernel for non_max_suppression yet")
CONCORD_GPU_UNSUPPORTED(nonzero, "no GPU kernel for nonzero yet")
CONCORD_GPU_UNSUPPORTED(pool, "no GPU kernel for pool yet")
CONCORD_GPU_UNSUPPORTED(quantize, "no GPU kernel for quantize yet")
CONCORD_GPU_UNSUPPORTED(random, "no GPU kernel for random yet")
CONCORD_GPU_UNSUPPORTED(reduce_dynamic, "no GPU kernel for reduce_dynamic yet")
CONCORD_GPU_UNSUPPORTED(regex_match, "no GPU kernel for regex_match yet")
CONCORD_GPU_UNSUPPORTED(resize, "no GPU kernel for resize yet")
CONCORD_GPU_UNSUPPORTED(reverse_sequence, "no GPU kernel for reverse_sequence yet")
CONCORD_GPU_UNSUPPORTED(rnn, "no GPU kernel for rnn yet")
CONCORD_GPU_UNSUPPORTED(roi_align, "no GPU kernel for roi_align yet")
CONCORD_GPU_UNSUPPORTED(scan, "no GPU kernel for scan yet")
CONCORD_GPU_UNSUPPORTED(sequence, "no GPU kernel for sequence yet")
CONCORD_GPU_UNSUPPORTED(string_normalize, "no GPU kernel for string_normalize yet")
CONCORD_GPU_UNSUPPORTED(string_split, "no GPU kernel for string_split yet")
CONCORD_GPU_UNSUPPORTED(tfidf, "no GPU kernel for tfidf yet")
CONCORD_GPU_UNSUPPORTED(top_k, "no GPU kernel for top_k yet")
CONCORD_GPU_UNSUPPORTED(tree_ensemble, "no GPU kernel for tree_ensemble yet")
CONCORD_GPU_UNSUPPORTED(unique, "no GPU kernel for unique yet")

}  // namespace concord::gpu
