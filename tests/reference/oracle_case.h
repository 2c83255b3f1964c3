#pragma once

#include <cmath>

#include <gtest/gtest.h>

#include "backends/reference/oracle.h"
#include "graph/error.h"
#include "tests/host/one_node.h"

namespace concord::test {

using graph::OpKind;
using reference::Numerics;
using reference::OracleValue;

inline std::vector<OracleValue> oracle_run(OpKind op, const std::vector<Tensor>& inputs,
                                           graph::Attributes attrs,
                                           std::vector<DataType> outputs = {DataType::f32},
                                           const Numerics& numerics = {}) {
  const OneNode one = one_node(op, inputs, std::move(attrs), std::move(outputs));
  std::vector<OracleValue> values;
  for (const Tensor& t : inputs) {
    values.push_back(t.defined() ? reference::from_tensor(t) : OracleValue{});
  }
  return reference::evaluate(one.graph, one.node(), values, {}, numerics);
}

// Shape and elements of a float64 result against expected ones.
inline void expect_values(const OracleValue& actual, const Shape& shape,
                          const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(actual.value.shape(), shape);
  ASSERT_EQ(actual.value.dtype(), DataType::f64);
  ASSERT_EQ(actual.value.count(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double got = actual.value.as<double>()[i];
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(got)) << "element " << i << " is " << got;
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(got, expected[i]) << "element " << i;
    } else {
      EXPECT_NEAR(got, expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
    }
  }
}

// Values alike whether σ is asked for or not.
inline void expect_oracle(OpKind op, const std::vector<Tensor>& inputs,
                          const graph::Attributes& attrs, const Shape& shape,
                          const std::vector<double>& expected, double tolerance = 1e-12) {
  expect_values(oracle_run(op, inputs, attrs).at(0), shape, expected, tolerance);
  Numerics tracked;
  tracked.sigma = true;
  const OracleValue with_sigma = oracle_run(op, inputs, attrs, {DataType::f32}, tracked).at(0);
  expect_values(with_sigma, shape, expected, tolerance);
  ASSERT_EQ(with_sigma.sigma.shape(), shape);
  for (const double s : with_sigma.sigma.as<double>()) EXPECT_TRUE(s >= 0 && std::isfinite(s)) << s;
}

inline std::vector<std::int64_t> ints(std::initializer_list<std::int64_t> values) {
  return values;
}

}  // namespace concord::test
