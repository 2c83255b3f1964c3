#include "tests/ops/recurrent_cases.h"

namespace concord::ops_test {

OpCases cases_gru() {
  using enum DataType;
  const char* usual = "sigmoid,tanh";
  OpCases list;
  list.push_back(recurrent_case("plain", 3, {}, usual).set("linear_before_reset", 0));
  list.push_back(recurrent_case("reset after", 3, {}, usual).set("linear_before_reset", 1));
  list.push_back(recurrent_case("reverse", 3, {}, usual)
                     .set("linear_before_reset", 1)
                     .set("direction", "reverse"));
  list.push_back(
      recurrent_case("both ways, with a state", 3, {4, 2, 5, 16, 2}, "sigmoid,tanh,sigmoid,tanh")
          .omit()
          .in(f32, {2, 2, 16})
          .set("linear_before_reset", 1));
  list.push_back(recurrent_case("lengths", 3, {}, usual)
                     .in(i32, {3}, values({5, 1, 3}))
                     .set("linear_before_reset", 0));
  list.push_back(
      recurrent_case("weights of the run", 3, {}, usual, f32, false).set("linear_before_reset", 0));
  return list;
}

}  // namespace concord::ops_test
