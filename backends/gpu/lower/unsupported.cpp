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

CONCORD_GPU_UNSUPPORTED(if_then_else, "the session runs control flow")
CONCORD_GPU_UNSUPPORTED(lookup, "no GPU kernel for lookup yet")
CONCORD_GPU_UNSUPPORTED(loop, "the session runs control flow")
CONCORD_GPU_UNSUPPORTED(non_max_suppression, "how many results there are depends on data")
CONCORD_GPU_UNSUPPORTED(nonzero, "how many results there are depends on data")
CONCORD_GPU_UNSUPPORTED(random, "no GPU kernel for random yet")
CONCORD_GPU_UNSUPPORTED(regex_match, "strings are the host's")
CONCORD_GPU_UNSUPPORTED(scan, "the session runs control flow")
CONCORD_GPU_UNSUPPORTED(sequence, "sequences are the host's")
CONCORD_GPU_UNSUPPORTED(string_normalize, "strings are the host's")
CONCORD_GPU_UNSUPPORTED(string_split, "strings are the host's")
CONCORD_GPU_UNSUPPORTED(tfidf, "no GPU kernel for tfidf yet")
CONCORD_GPU_UNSUPPORTED(tree_ensemble, "no GPU kernel for tree_ensemble yet")
CONCORD_GPU_UNSUPPORTED(unique, "how many results there are depends on data")

}  // namespace concord::gpu
