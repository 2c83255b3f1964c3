#include "tests/ops/recurrent_cases.h"

namespace concord::ops_test {

OpCases cases_lstm() {
  using enum DataType;
  const char* usual = "sigmoid,tanh,tanh";
  const char* twice = "sigmoid,tanh,tanh,sigmoid,tanh,tanh";
  OpCases list;
  list.push_back(recurrent_case("plain", 4, {}, usual).set("input_forget", 0));
  list.push_back(recurrent_case("one batch", 4, {6, 1, 8, 32}, usual).set("input_forget", 0));
  list.push_back(recurrent_case("with states", 4, {}, usual)
                     .omit()
                     .in(f32, {1, 3, 9})
                     .in(f32, {1, 3, 9})
                     .set("input_forget", 0));
  list.push_back(recurrent_case("both ways", 4, {4, 2, 5, 16, 2}, twice).set("input_forget", 0));
  list.push_back(recurrent_case("both ways, lengths", 4, {5, 3, 5, 8, 2}, twice)
                     .in(i32, {3}, values({5, 2, 4}))
                     .set("input_forget", 0));
  list.push_back(recurrent_case("peepholes", 4, {}, usual)
                     .omit()
                     .omit()
                     .omit()
                     .weight(f32, {1, 27}, normal(0, 0.3))
                     .set("input_forget", 0));
  list.push_back(recurrent_case("clip", 4, {}, usual).set("input_forget", 0).set("clip", 0.5));
  list.push_back(recurrent_case("coupled gates", 4, {}, usual).set("input_forget", 1));
  list.push_back(
      recurrent_case("other functions", 4, {}, "hardsigmoid,relu,softsign").set("input_forget", 0));
  list.push_back(
      recurrent_case("weights of the run", 4, {}, usual, f32, false).set("input_forget", 0));
  return list;
}

}  // namespace concord::ops_test
