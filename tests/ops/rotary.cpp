#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_rotary() {
  using enum DataType;
  OpCases list;
  const auto rotary = [](const std::string& name, const char* layout, int rotary_dim,
                         int interleaved) {
    return OpCase(name)
        .set("layout", layout)
        .set("rotary_dim", rotary_dim)
        .set("interleaved", interleaved);
  };
  const Fill angle = uniform(-1, 1);
  list.push_back(rotary("full width table", "bhsd", 0, 0)
                     .in(f32, {2, 3, 5, 16})
                     .in(f32, {1, 5, 16}, values({0.5, 0.25, 0.125, 1, 0.5, 0.25, 0.125, 1}))
                     .in(f32, {1, 5, 16}, values({0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4})));
  list.push_back(rotary("half width table", "bhsd", 0, 0)
                     .in(f32, {2, 3, 5, 16})
                     .in(f32, {2, 5, 8}, angle)
                     .in(f32, {2, 5, 8}, angle));
  list.push_back(rotary("interleaved", "bhsd", 0, 1)
                     .in(f32, {2, 3, 5, 16})
                     .in(f32, {1, 5, 8}, angle)
                     .in(f32, {1, 5, 8}, angle));
  list.push_back(rotary("seq first", "bshd", 0, 0)
                     .in(f32, {2, 5, 3, 16})
                     .in(f32, {1, 5, 8}, angle)
                     .in(f32, {1, 5, 8}, angle));
  list.push_back(rotary("part of the head", "bhsd", 8, 0)
                     .in(f32, {2, 3, 5, 16})
                     .in(f32, {1, 5, 4}, angle)
                     .in(f32, {1, 5, 4}, angle));
  list.push_back(rotary("positions", "bshd", 0, 0)
                     .in(f32, {2, 5, 3, 16})
                     .weight(f32, {20, 8}, angle)
                     .weight(f32, {20, 8}, angle)
                     .in(i64, {2, 5}, integers(0, 19)));
  list.push_back(rotary("f16", "bhsd", 0, 0)
                     .in(f16, {2, 3, 5, 16})
                     .in(f16, {1, 5, 8}, angle)
                     .in(f16, {1, 5, 8}, angle));
  return list;
}

}  // namespace concord::ops_test
