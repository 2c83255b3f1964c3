// Linear models of ai.onnx.ml, and what all classifiers there share.
#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

// x·coefficientsᵀ + intercepts, [N, rows]; the coefficients are [rows, features].
ValueId linear(Conversion& c, std::int64_t rows) {
  const auto coefficients = c.numbers("coefficients");
  if (!coefficients || rows < 1 || static_cast<std::int64_t>(coefficients->size()) % rows != 0) {
    c.invalid("its coefficients are no matrix of " + std::to_string(rows) + " rows");
  }
  const std::vector<float> flat(coefficients->begin(), coefficients->end());
  const auto width = static_cast<std::int64_t>(flat.size()) / rows;
  const ValueId weights = c.make_constant(Tensor::of<float>({rows, width}, flat));
  ValueId bias;
  if (const auto intercepts = c.numbers("intercepts"); intercepts && !intercepts->empty()) {
    if (static_cast<std::int64_t>(intercepts->size()) != rows) {
      c.invalid("it has " + std::to_string(intercepts->size()) + " intercepts for " +
                std::to_string(rows) + " rows");
    }
    const std::vector<float> numbers(intercepts->begin(), intercepts->end());
    bias = c.make_constant(Tensor::of<float>({rows}, numbers));
  }
  ValueId x = c.cast(c.input(0), DataType::f32);
  if (c.known_rank(x) == 1) x = c.unsqueeze(x, {0});
  return c.matmul(x, weights, bias, 1, false, true);
}

void regressor(Conversion& c) {
  c.output(0,
           post_transform(c, c.text("post_transform", "NONE"), linear(c, c.integer("targets", 1))));
}

void classifier(Conversion& c) {
  c.ignore({"multi_class"});
  const auto labels = class_labels(c);
  if (!labels) c.invalid("it has no class labels");
  const std::string transform = c.text("post_transform", "NONE");
  const auto intercepts = c.numbers("intercepts");
  const auto rows = intercepts && !intercepts->empty()
                        ? static_cast<std::int64_t>(intercepts->size())
                        : labels->count();
  ValueId scores = linear(c, rows);
  const ValueId table = c.make_constant(*labels);
  if (rows == 1 && labels->count() == 2) {
    const ValueId second = c.cast(c.binary(BinaryFn::greater, scores, 0.0), DataType::i64);
    c.output(0, c.gather(table, c.reshape(second, {c.known_shape(scores).front()}), 0));
    scores = c.concat({c.unary(UnaryFn::neg, scores), scores}, 1);
    return c.output(1, transform == "LOGISTIC" ? c.unary(UnaryFn::sigmoid, scores) : scores);
  }
  if (rows != labels->count()) {
    c.invalid("it has " + std::to_string(rows) + " rows for " + std::to_string(labels->count()) +
              " classes");
  }
  const ValueId best = c.emit(OpKind::arg_reduce, {scores},
                              {{"fn", std::string("argmax")},
                               {"axis", std::int64_t{1}},
                               {"keepdims", std::int64_t{0}},
                               {"select_last", std::int64_t{0}}});
  c.output(0, c.gather(table, best, 0));
  c.output(1, post_transform(c, transform, scores));
}

constexpr Converter kConverters[] = {
    {kMl, "LinearClassifier", 1, kLatest, classifier},
    {kMl, "LinearRegressor", 1, kLatest, regressor},
};

}  // namespace

std::optional<Tensor> class_labels(Conversion& c) {
  for (const char* name : {"classlabels_ints", "classlabels_int64s"}) {
    if (const auto numbers = c.integers(name); numbers && !numbers->empty()) {
      c.ignore({"classlabels_strings"});
      return Tensor::from_ints(*numbers);
    }
  }
  if (const auto texts = c.texts("classlabels_strings"); texts && !texts->empty()) {
    return list_of(*texts);
  }
  return std::nullopt;
}

ValueId post_transform(Conversion& c, const std::string& name, ValueId scores) {
  if (name == "NONE") return scores;
  if (name == "LOGISTIC") return c.unary(UnaryFn::sigmoid, scores);
  if (name == "SOFTMAX") {
    return c.emit(
        OpKind::softmax, {scores},
        {{"axis", std::int64_t{1}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}});
  }
  if (name == "SOFTMAX_ZERO") {  // scores of 0 stay 0, and count nothing
    const ValueId zero = c.make_scalar(0, c.dtype(scores));
    const ValueId highest = c.reduce(ReduceFn::max, scores, {1}, true);
    const ValueId powers = c.unary(UnaryFn::exp, c.binary(BinaryFn::sub, scores, highest));
    const ValueId counted = c.select(c.binary(BinaryFn::equal, scores, zero), zero, powers);
    const ValueId sum = c.reduce(ReduceFn::sum, counted, {1}, true);
    const ValueId is_empty = c.binary(BinaryFn::equal, sum, zero);
    return c.binary(BinaryFn::div, counted,
                    c.select(is_empty, c.make_scalar(1, c.dtype(scores)), sum));
  }
  c.unsupported("post_transform '" + name + "'");
}

std::span<const Converter> ml_linear_converters() {
  return kConverters;
}

}  // namespace concord::importer
