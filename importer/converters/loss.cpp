// Losses, as ONNX defines them by other operators.
#include <numeric>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

// −weight[target]·log_probability[target], averaged, summed or as it is. log_probabilities
// [N, C, d…], targets [N, d…], weights [C]; a target of ignore_index counts nothing.
ValueId negative_log_likelihood(Conversion& c, ValueId log_probabilities, ValueId targets,
                                ValueId weights) {
  const std::string reduction = c.text("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    c.invalid("attribute 'reduction' is '" + reduction + "', expected mean, sum or none");
  }
  const DataType type = c.dtype(log_probabilities);
  const SymShape shape = c.known_shape(targets);
  ValueId counts;  // [N, d…], bool
  if (c.has_attribute("ignore_index")) {
    const ValueId ignored =
        c.make_scalar(static_cast<double>(c.integer("ignore_index")), c.dtype(targets));
    counts = c.unary(UnaryFn::logical_not, c.binary(BinaryFn::equal, targets, ignored));
    targets = c.select(counts, targets, c.make_scalar(0, c.dtype(targets)));
  }
  const ValueId picked =
      c.emit(OpKind::gather_elements, {log_probabilities, c.unsqueeze(targets, {1})},
             {{"axis", std::int64_t{1}}});
  ValueId loss = c.unary(UnaryFn::neg, c.reshape(picked, shape));
  ValueId factors;  // [N, d…]
  if (weights.valid()) factors = c.gather(weights, targets, 0);
  if (counts.valid()) {
    const ValueId zero = c.make_scalar(0, type);
    factors = factors.valid() ? c.select(counts, factors, zero) : c.cast(counts, type);
  }
  if (factors.valid()) loss = c.binary(BinaryFn::mul, loss, factors);
  if (reduction == "none") return loss;
  std::vector<std::int64_t> all(shape.size());
  std::iota(all.begin(), all.end(), 0);
  if (reduction == "sum") return c.reduce(ReduceFn::sum, loss, all, false);
  if (!factors.valid()) return c.reduce(ReduceFn::mean, loss, all, false);
  return c.binary(BinaryFn::div, c.reduce(ReduceFn::sum, loss, all, false),
                  c.reduce(ReduceFn::sum, factors, all, false));
}

void nll_loss(Conversion& c) {
  c.output(0, negative_log_likelihood(c, c.input(0), c.input(1), c.optional_input(2)));
}

void softmax_cross_entropy(Conversion& c) {
  const ValueId log_probabilities = c.emit(
      OpKind::softmax, {c.input(0)},
      {{"axis", std::int64_t{1}}, {"log", std::int64_t{1}}, {"nan_to_zero", std::int64_t{0}}});
  c.output(1, log_probabilities);
  c.output(0, negative_log_likelihood(c, log_probabilities, c.input(1), c.optional_input(2)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "NegativeLogLikelihoodLoss", 12, kLatest, nll_loss},
    {kOnnx, "SoftmaxCrossEntropyLoss", 12, kLatest, softmax_cross_entropy},
};

}  // namespace

std::span<const Converter> loss_converters() {
  return kConverters;
}

}  // namespace concord::importer
