#include "importer/converter_table.h"

namespace concord::importer {
namespace {

Tensor value_of(Conversion& c) {
  if (auto tensor = c.tensor("value")) return std::move(*tensor);
  if (auto tensor = c.tensor("sparse_value")) return std::move(*tensor);
  if (c.has_attribute("value_float")) {
    return Tensor::scalar(static_cast<float>(c.number("value_float")));
  }
  if (c.has_attribute("value_int")) return Tensor::scalar(c.integer("value_int"));
  if (const auto numbers = c.numbers("value_floats")) {
    const std::vector<float> floats(numbers->begin(), numbers->end());
    return Tensor::of<float>({static_cast<std::int64_t>(floats.size())}, floats);
  }
  if (const auto integers = c.integers("value_ints")) return Tensor::from_ints(*integers);
  if (c.has_attribute("value_string")) {
    Tensor tensor(DataType::string, {});
    tensor.mutable_strings()[0] = c.text("value_string");
    return tensor;
  }
  if (const auto texts = c.texts("value_strings")) {
    Tensor tensor(DataType::string, {static_cast<std::int64_t>(texts->size())});
    for (std::size_t i = 0; i < texts->size(); ++i) tensor.mutable_strings()[i] = (*texts)[i];
    return tensor;
  }
  c.invalid("it has no value");
}

void constant(Conversion& c) {
  c.output(0, c.make_constant(value_of(c)));
}

void constant_of_shape(Conversion& c) {
  Tensor value = Tensor::zeros(DataType::f32, {1});
  if (auto given = c.tensor("value")) value = std::move(*given);
  if (value.count() != 1) {
    c.invalid("attribute 'value' has " + std::to_string(value.count()) + " elements, expected 1");
  }
  c.output(0, c.emit(OpKind::constant_of, {c.input(0)}, {{"value", value.reshaped({1})}}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Constant", 1, kLatest, constant},
    {kOnnx, "ConstantOfShape", 9, kLatest, constant_of_shape},
};

}  // namespace

std::span<const Converter> constant_converters() {
  return kConverters;
}

}  // namespace concord::importer
