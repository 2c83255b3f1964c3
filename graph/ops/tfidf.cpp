#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const Attributes& attrs = in.attrs();
  const Tensor& pool = attrs.tensor("pool");
  if ((pool.dtype() == DataType::string) != (in.dtype(0) == DataType::string)) {
    mismatch("elements like those of the pool, " + std::string(concord::to_string(pool.dtype())),
             in.describe_input(0));
  }
  const std::string& mode = attrs.text("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") mismatch("TF, IDF or TFIDF", mode);
  const std::int64_t size = attrs.integer("size");
  const auto& indexes = attrs.integers("indexes");
  for (const std::int64_t index : indexes) {
    if (index < 0 || index >= size) {
      mismatch("indexes below " + std::to_string(size), std::to_string(index));
    }
  }
  const auto weights = attrs.numbers("weights").size();
  if (weights != 0 && weights != indexes.size()) {
    mismatch(std::to_string(indexes.size()) + " weights", std::to_string(weights));
  }
  // The pool holds, for n = 1, 2, …, the n-grams from starts[n − 1] on.
  const auto& starts = attrs.integers("starts");
  std::int64_t grams = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : pool.count();
    const auto n = static_cast<std::int64_t>(i) + 1;
    if (starts[i] < 0 || end < starts[i] || end > pool.count() || (end - starts[i]) % n != 0) {
      mismatch("counts of n-grams that fit a pool of " + std::to_string(pool.count()),
               std::to_string(starts[i]) + " to " + std::to_string(end) +
                   " for n = " + std::to_string(n));
    }
    grams += (end - starts[i]) / n;
  }
  if (grams != static_cast<std::int64_t>(indexes.size())) {
    mismatch(std::to_string(grams) + " indexes, one for each n-gram",
             std::to_string(indexes.size()));
  }
  if (attrs.integer("min_gram") < 1 || attrs.integer("max_gram") < attrs.integer("min_gram") ||
      attrs.integer("skip") < 0) {
    mismatch("1 ≤ min_gram ≤ max_gram and skip ≥ 0",
             std::to_string(attrs.integer("min_gram")) + ", " +
                 std::to_string(attrs.integer("max_gram")) + " and " +
                 std::to_string(attrs.integer("skip")));
  }
  if (!in.rank(0)) return in.output(0, DataType::f32);
  if (*in.rank(0) < 1 || *in.rank(0) > 2) mismatch("rank 1 or 2", in.describe_input(0));
  SymShape shape = *in.shape(0);
  shape.back() = Dim(size);
  in.output(0, DataType::f32, std::move(shape));
}

}  // namespace

const OpSchema schema_tfidf{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
