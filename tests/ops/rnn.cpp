#include "tests/ops/recurrent_cases.h"

namespace concord::ops_test {

OpCases cases_rnn() {
  OpCases list;
  list.push_back(recurrent_case("plain", 1, {}, "tanh"));
  list.push_back(recurrent_case("relu", 1, {}, "relu").set("direction", "reverse"));
  list.push_back(recurrent_case("both ways", 1, {4, 2, 5, 16, 2}, "tanh,tanh"));
  list.push_back(
      recurrent_case("lengths", 1, {}, "tanh").in(DataType::i32, {3}, values({5, 1, 3})));
  return list;
}

}  // namespace concord::ops_test
