#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "graph/dtype.h"
#include "parity/conformance.h"
#include "tests/importer/onnx_model.h"

namespace concord::importer {

// A tensor of floats or integers.
inline Tensor t(DataType dtype, Shape shape, const std::vector<double>& numbers) {
  Tensor result = Tensor::zeros(dtype, std::move(shape));
  const std::int64_t width = bits(dtype) / 8;
  for (std::int64_t i = 0; i < result.count(); ++i) {
    const double number = numbers.at(static_cast<std::size_t>(i));
    const std::uint64_t raw = is_float(dtype)
                                  ? float_to_bits(dtype, number)
                                  : static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    std::memcpy(result.mutable_data() + i * width, &raw, static_cast<std::size_t>(width));
  }
  return result;
}

// One node, what it is given (undefined: omitted) and what another runtime made of it.
struct ValueCase {
  std::string name;
  std::string op;
  std::string domain;
  std::vector<Tensor> inputs;
  std::vector<Attr> attrs;
  std::vector<Tensor> outputs;
  // Not 0 where the other runtime rounds its operands to 8 bits on the way and this one does not
  // (DynamicQuantizeLSTM): what that is worth. Else compared as ONNX's own runner does.
  double coarse = 0;
};

inline void PrintTo(const ValueCase& c, std::ostream* out) {
  *out << c.name;
}
inline std::string case_name(const ::testing::TestParamInfo<ValueCase>& info) {
  return info.param.name;
}

inline void expect_values(const ValueCase& c) {
  OnnxModel model(17);
  model.import("com.microsoft", 1).import("ai.onnx.ml", 3);
  std::vector<std::string> inputs;
  std::vector<Tensor> given;
  for (const Tensor& tensor : c.inputs) {
    inputs.push_back(tensor.defined() ? "x" + std::to_string(inputs.size()) : "");
    if (!tensor.defined()) continue;
    model.input(inputs.back(), tensor.dtype(),
                std::vector<Extent>(tensor.shape().begin(), tensor.shape().end()));
    given.push_back(tensor);
  }
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    outputs.push_back("y" + std::to_string(i));
    model.output(outputs.back());
  }
  model.node(c.op, inputs, outputs, c.attrs, c.domain);
  const std::vector<Tensor> found = evaluate(*import(model).graph, given);
  ASSERT_EQ(found.size(), c.outputs.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (c.coarse == 0) {
      EXPECT_EQ(parity::difference(found[i], c.outputs[i]), "") << outputs[i];
      continue;
    }
    ASSERT_EQ(found[i].shape(), c.outputs[i].shape());
    for (std::int64_t k = 0; k < found[i].count(); ++k) {
      EXPECT_NEAR(found[i].at_double(k), c.outputs[i].at_double(k), c.coarse);
    }
  }
}

}  // namespace concord::importer
