#include "backends/host/host.h"
#include "backends/reference/kernel.h"
#include "backends/reference/rounding.h"

namespace concord::reference {

std::vector<OracleValue> through_host(const Call& call) {
  const std::vector<Tensor> inputs = call.tensors();
  std::vector<Tensor> outputs = host::run(call.graph, call.node, inputs, call.bindings);
  std::vector<OracleValue> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(exact_output(call, i, std::move(outputs[i])));
  }
  return results;
}

// Operators that no float arithmetic is in: their error is none, and so is σ.
#define THROUGH_HOST(name)        \
  const Kernel reference_##name { \
    through_host                  \
  }

THROUGH_HOST(arg_reduce);
THROUGH_HOST(broadcast);
THROUGH_HOST(concat);
THROUGH_HOST(constant_of);
THROUGH_HOST(dims);
THROUGH_HOST(eye_like);
THROUGH_HOST(gather);
THROUGH_HOST(gather_elements);
THROUGH_HOST(gather_nd);
THROUGH_HOST(lookup);
THROUGH_HOST(non_max_suppression);
THROUGH_HOST(nonzero);
THROUGH_HOST(one_hot);
THROUGH_HOST(pad);
THROUGH_HOST(random);
THROUGH_HOST(regex_match);
THROUGH_HOST(reshape);
THROUGH_HOST(reverse_sequence);
THROUGH_HOST(select);
THROUGH_HOST(shape_of);
THROUGH_HOST(slice);
THROUGH_HOST(split);
THROUGH_HOST(string_normalize);
THROUGH_HOST(string_split);
THROUGH_HOST(tfidf);
THROUGH_HOST(tile);
THROUGH_HOST(top_k);
THROUGH_HOST(transpose);
THROUGH_HOST(tree_ensemble);
THROUGH_HOST(trilu);
THROUGH_HOST(unique);

}  // namespace concord::reference
