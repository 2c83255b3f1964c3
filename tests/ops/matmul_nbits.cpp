#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_matmul_nbits() {
  using enum DataType;
  OpCases list;
  const auto add = [&](const std::string& name, std::int64_t rows, int bits, int block, int k,
                       int n, bool zeros, bool bias) {
    const std::int64_t blocks = (k + block - 1) / block;
    OpCase op_case(name);
    op_case.in(f32, {rows, k})
        .weight(u8, {n, blocks, block * bits / 8}, integers(0, 255))
        .weight(f32, {n * blocks}, uniform(0.01, 0.1));
    if (zeros) {
      op_case.weight(u8, {n * ((blocks * bits + 7) / 8)}, integers(0, 255));
    } else {
      op_case.omit();
    }
    if (bias) op_case.weight(f32, {n});
    list.push_back(op_case.set("bits", bits).set("block_size", block).set("k", k).set("n", n));
  };
  add("4 bits", 5, 4, 32, 64, 24, false, false);
  add("4 bits, one row", 1, 4, 32, 64, 24, true, false);
  add("4 bits, zero points and bias", 5, 4, 16, 80, 21, true, true);
  add("4 bits, part of a block", 3, 4, 32, 70, 9, true, false);
  add("8 bits", 3, 8, 32, 64, 24, true, false);
  return list;
}

}  // namespace concord::ops_test
