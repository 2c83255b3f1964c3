// Encoders, scalers and other operators of ai.onnx.ml that treat columns of features.
#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

Tensor floats_of(const std::vector<double>& numbers) {
  const std::vector<float> floats(numbers.begin(), numbers.end());
  return Tensor::of<float>({static_cast<std::int64_t>(floats.size())}, floats);
}

ValueId look_up(Conversion& c, Tensor keys, Tensor values, Tensor otherwise) {
  return c.emit(OpKind::lookup, {c.input(0)},
                {{"keys", std::move(keys)},
                 {"values", std::move(values)},
                 {"default", std::move(otherwise)}});
}

// Opset 1: strings to their positions, or positions to strings.
void classes_to_positions(Conversion& c, const Texts& classes) {
  std::vector<std::int64_t> positions(classes.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i);
  const Tensor places = Tensor::from_ints(positions);
  const Tensor names = list_of(classes);
  const std::int64_t no_place = c.integer("default_int64", -1);
  const std::string no_name = c.text("default_string", "_Unused");
  if (c.dtype(c.input(0)) == DataType::string) {
    return c.output(0, look_up(c, names, places, Tensor::from_ints({{no_place}})));
  }
  c.output(0, look_up(c, places, names, list_of(Texts{no_name})));
}

void label_encoder_1(Conversion& c) {
  classes_to_positions(c, c.texts("classes_strings").value_or(Texts{}));
}

// One of the attributes prefix + s, prefix + _tensor, and so on.
std::optional<Tensor> list_attribute(Conversion& c, const std::string& prefix) {
  if (auto tensor = c.tensor(prefix + "_tensor")) {
    return tensor->reshaped({tensor->count()});
  }
  if (const auto texts = c.texts(prefix + "_strings")) return list_of(*texts);
  if (const auto integers = c.integers(prefix + "_int64s")) return Tensor::from_ints(*integers);
  if (const auto numbers = c.numbers(prefix + "_floats")) return floats_of(*numbers);
  return std::nullopt;
}

Tensor default_value(Conversion& c, DataType type) {
  if (auto tensor = c.tensor("default_tensor")) return *tensor;
  if (type == DataType::string) return list_of(Texts{c.text("default_string", "_Unused")});
  if (type == DataType::f32) return floats_of({c.number("default_float", -0.0)});
  if (type == DataType::i64) return Tensor::from_ints({{c.integer("default_int64", -1)}});
  if (type == DataType::f64) {
    const double zero = -0.0;
    return Tensor::of<double>({1}, {&zero, 1});
  }
  return Tensor::zeros(type, {1});
}

void label_encoder(Conversion& c) {
  c.ignore({"default_string", "default_float", "default_int64", "default_tensor"});
  const auto keys = list_attribute(c, "keys");
  const auto values = list_attribute(c, "values");
  if (!keys || !values) c.invalid("it lacks its keys or its values");
  c.output(0, look_up(c, *keys, *values, default_value(c, values->dtype())));
}

void category_mapper(Conversion& c) {
  const auto names = c.texts("cats_strings");
  const auto numbers = c.integers("cats_int64s");
  if (!names || !numbers) c.invalid("it lacks cats_strings or cats_int64s");
  const std::int64_t no_number = c.integer("default_int64", -1);
  const std::string no_name = c.text("default_string", "_Unused");
  if (c.dtype(c.input(0)) == DataType::string) {
    return c.output(0, look_up(c, list_of(*names), Tensor::from_ints(*numbers),
                               Tensor::from_ints({{no_number}})));
  }
  c.output(0, look_up(c, Tensor::from_ints(*numbers), list_of(*names), list_of(Texts{no_name})));
}

// A row of zeros for what is no category, whatever `zeros` says: nothing else could be told.
void one_hot_encoder(Conversion& c) {
  c.ignore({"zeros"});
  ValueId x = c.input(0);
  ValueId categories;
  if (const auto names = c.texts("cats_strings"); names && !names->empty()) {
    categories = c.make_constant(list_of(*names));
  } else if (const auto numbers = c.integers("cats_int64s")) {
    categories = c.make_integers(*numbers);
    x = c.cast(x, DataType::i64);
  } else {
    c.invalid("it has no categories");
  }
  const ValueId column = c.unsqueeze(x, {c.known_rank(x)});
  c.output(0, c.cast(c.binary(BinaryFn::equal, column, categories), DataType::f32));
}

void array_feature_extractor(Conversion& c) {
  const ValueId x = c.input(0);
  const std::int64_t rank = c.known_rank(x);
  if (rank == 0) c.invalid("a scalar has no features");
  const SymShape indices = c.known_shape(c.input(1));
  Dim count(1);
  for (const Dim& dim : indices) count = count * dim;
  const ValueId y = c.gather(x, c.reshape(c.input(1), {count}), rank - 1);
  c.output(0, rank == 1 ? c.unsqueeze(y, {0}) : y);
}

void binarizer(Conversion& c) {
  const ValueId x = c.input(0);
  const ValueId above = c.binary(BinaryFn::greater, x, c.number("threshold", 0));
  c.output(0, c.cast(above, c.dtype(x)));
}

// One number, or one for each feature.
ValueId by_feature(Conversion& c, const std::vector<double>& numbers) {
  return c.make_constant(floats_of(numbers));
}

void scaler(Conversion& c) {
  const ValueId x = c.cast(c.input(0), DataType::f32);
  const ValueId moved = c.binary(
      BinaryFn::sub, x, by_feature(c, c.numbers("offset").value_or(std::vector<double>{0})));
  c.output(0, c.binary(BinaryFn::mul, moved,
                       by_feature(c, c.numbers("scale").value_or(std::vector<double>{1}))));
}

// A norm of 0 divides nothing.
void normalizer(Conversion& c) {
  const ValueId x = c.cast(c.input(0), DataType::f32);
  const std::string norm = c.text("norm", "MAX");
  const ReduceFn fn = norm == "MAX" ? ReduceFn::max : norm == "L1" ? ReduceFn::l1 : ReduceFn::l2;
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    c.invalid("attribute 'norm' is '" + norm + "', expected MAX, L1 or L2");
  }
  const ValueId size = c.reduce(fn, x, {c.known_rank(x) - 1}, true);
  const ValueId is_zero = c.binary(BinaryFn::equal, size, 0.0);
  const ValueId divisor = c.select(is_zero, c.make_scalar(1, DataType::f32), size);
  c.output(0, c.binary(BinaryFn::div, x, divisor));
}

void imputer(Conversion& c) {
  const ValueId x = c.input(0);
  ValueId imputed;
  ValueId missing;
  if (is_float(c.dtype(x))) {
    const auto numbers = c.numbers("imputed_value_floats");
    if (!numbers) c.invalid("attribute 'imputed_value_floats' is missing");
    imputed = c.cast(by_feature(c, *numbers), c.dtype(x));
    const double replaced = c.number("replaced_value_float", 0);
    missing =
        replaced != replaced ? c.unary(UnaryFn::is_nan, x) : c.binary(BinaryFn::equal, x, replaced);
  } else {
    const auto integers = c.integers("imputed_value_int64s");
    if (!integers) c.invalid("attribute 'imputed_value_int64s' is missing");
    imputed = c.cast(c.make_integers(*integers), c.dtype(x));
    const ValueId replaced = c.make_constant(Tensor::scalar(c.integer("replaced_value_int64", 0)));
    missing = c.binary(BinaryFn::equal, x, c.cast(replaced, c.dtype(x)));
  }
  c.output(0, c.select(missing, imputed, x));
}

void feature_vectorizer(Conversion& c) {
  c.ignore({"inputdimensions"});
  std::vector<ValueId> parts;
  for (const ValueId input : c.inputs()) {
    const ValueId x = c.cast(input, DataType::f32);
    parts.push_back(c.known_rank(x) == 1 ? c.unsqueeze(x, {0}) : x);
  }
  c.output(0, c.concat(std::move(parts), 1));
}

constexpr Converter kConverters[] = {
    {kMl, "ArrayFeatureExtractor", 1, kLatest, array_feature_extractor},
    {kMl, "Binarizer", 1, kLatest, binarizer},
    {kMl, "CategoryMapper", 1, kLatest, category_mapper},
    {kMl, "FeatureVectorizer", 1, kLatest, feature_vectorizer},
    {kMl, "Imputer", 1, kLatest, imputer},
    {kMl, "LabelEncoder", 1, 1, label_encoder_1},
    {kMl, "LabelEncoder", 2, kLatest, label_encoder},
    {kMl, "Normalizer", 1, kLatest, normalizer},
    {kMl, "OneHotEncoder", 1, kLatest, one_hot_encoder},
    {kMl, "Scaler", 1, kLatest, scaler},
};

}  // namespace

std::span<const Converter> ml_encoders_converters() {
  return kConverters;
}

}  // namespace concord::importer
