#include "backends/cpu/lowering.h"
#include "graph/error.h"

// Operators that the CPU backend does not carry out, each with its reason.

namespace concord::cpu {
namespace {

PlanFn refuse(Compiler&) {
  throw Error(ErrorKind::failed, "internal: an unsupported node reached the compiler");
}

}  // namespace

#define CONCORD_UNSUPPORTED(name, reason)                                                         \
  const Lowering cpu_##name{                                                                      \
      .why_unsupported = [](const graph::Graph&,                                                  \
                            const graph::Node&) -> std::optional<std::string> { return reason; }, \
      .prepare = refuse};
CONCORD_UNSUPPORTED(if_then_else, "control flow is the session's")
CONCORD_UNSUPPORTED(loop, "control flow is the session's")
CONCORD_UNSUPPORTED(scan, "control flow is the session's")
CONCORD_UNSUPPORTED(regex_match, "strings are the host's")
CONCORD_UNSUPPORTED(sequence, "sequences are the host's")
CONCORD_UNSUPPORTED(string_normalize, "strings are the host's")
CONCORD_UNSUPPORTED(string_split, "strings are the host's")
CONCORD_UNSUPPORTED(tfidf, "counting n-grams is the host's")
CONCORD_UNSUPPORTED(reduce_dynamic, "axes that only the run knows")
#undef CONCORD_UNSUPPORTED

}  // namespace concord::cpu
