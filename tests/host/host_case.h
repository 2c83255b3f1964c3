#pragma once

#include <gtest/gtest.h>

#include "backends/host/host.h"
#include "graph/error.h"
#include "tests/host/one_node.h"

namespace concord::test {

using graph::OpKind;

inline std::vector<Tensor> host_run(OpKind op, const std::vector<Tensor>& inputs,
                                    graph::Attributes attrs = {},
                                    std::vector<DataType> outputs = {DataType::undefined},
                                    const Bindings& bindings = {}) {
  const OneNode one = one_node(op, inputs, std::move(attrs), std::move(outputs));
  EXPECT_EQ(host::why_unsupported(one.graph, one.node()), std::nullopt);
  return host::run(one.graph, one.node(), inputs, bindings);
}

inline std::string host_text(OpKind op, const std::vector<Tensor>& inputs,
                             graph::Attributes attrs = {}, const Bindings& bindings = {}) {
  return shown(host_run(op, inputs, std::move(attrs), {DataType::undefined}, bindings).at(0));
}

// The message of the Error(invalid) that this ends with.
inline std::string host_error(OpKind op, const std::vector<Tensor>& inputs,
                              graph::Attributes attrs = {},
                              std::vector<DataType> outputs = {DataType::undefined}) {
  try {
    host_run(op, inputs, std::move(attrs), std::move(outputs));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace concord::test
