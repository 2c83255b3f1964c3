#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_einsum() {
  using enum DataType;
  OpCases list;
  const auto add = [&](const char* equation, DataType dtype, std::vector<Shape> shapes) {
    OpCase op_case(std::string(equation) + " " + std::string(to_string(dtype)));
    for (Shape& shape : shapes) op_case.in(dtype, std::move(shape));
    list.push_back(op_case.set("equation", equation));
  };
  add("ij,jk->ik", f32, {{5, 7}, {7, 9}});
  add("bij,bjk->bik", f32, {{3, 5, 7}, {3, 7, 9}});
  add("bhid,bhjd->bhij", f32, {{2, 3, 5, 8}, {2, 3, 6, 8}});
  add("bhij,bhjd->bihd", f32, {{2, 3, 5, 6}, {2, 3, 6, 8}});
  add("bihd,bjhd->bhij", f32, {{2, 5, 3, 8}, {2, 6, 3, 8}});
  add("...ij,...jk->...ik", f32, {{2, 3, 5, 7}, {2, 3, 7, 9}});
  add("i,j->ij", f32, {{5}, {7}});
  add("ij->ji", f32, {{5, 7}});
  add("ij->i", f32, {{5, 7}});
  add("ii->i", f32, {{5, 5}});
  add("ii", f32, {{5, 5}});
  add("ij,ij->", f32, {{5, 7}, {5, 7}});
  add("i,ij,j->", f32, {{5}, {5, 7}, {7}});
  add("ij,jk", f64, {{5, 7}, {7, 9}});
  add("bij,bjk->bik", f16, {{3, 5, 7}, {3, 7, 9}});
  add("ij,kj->ik", f32, {{4, 1}, {3, 6}});
  return list;
}

}  // namespace concord::ops_test
