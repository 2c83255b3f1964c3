// Rotary position embedding against double loops.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "graph/error.h"
#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

struct RotaryCase {
  std::string name;
  std::string layout = "bhsd";
  std::int64_t rotary = 0;  // 0: all of the depth
  bool interleaved = false, full_width = false, positions = false, batched = false;
};

constexpr std::int64_t kBatch = 2, kHeads = 3, kSequence = 5, kDepth = 8, kTable = 11;

class LowerRotary : public testing::TestWithParam<RotaryCase> {};

TEST_P(LowerRotary, agrees_with_double_loops) {
  const RotaryCase& c = GetParam();
  const bool bshd = c.layout == "bshd";
  const std::int64_t rotary = c.rotary == 0 ? kDepth : c.rotary;
  const std::int64_t width = c.full_width ? rotary : rotary / 2;
  const std::int64_t first = bshd ? kSequence : kHeads;
  const std::int64_t second = bshd ? kHeads : kSequence;
  const Tensor x = random_floats({kBatch, first, second, kDepth}, 1);
  const Shape table =
      c.positions ? Shape{kTable, width} : Shape{c.batched ? kBatch : 1, kSequence, width};
  const Tensor cosines = random_floats(table, 2);
  const Tensor sines = random_floats(table, 3);
  NodeCase test{"rotary",
                {{"layout", c.layout},
                 {"rotary_dim", c.rotary},
                 {"interleaved", std::int64_t{c.interleaved}}},
                {x, cosines, sines}};
  Tensor positions;
  if (c.positions) {
    positions = c.batched ? ints({kBatch, kSequence}, {0, 1, 2, 3, 4, 10, 9, 8, 7, 6})
                          : ints({1, kSequence}, {3, 4, 5, 6, 10});
    test.inputs.push_back(positions);
  }
  const std::vector<Tensor> outputs = run_node(test);
  ASSERT_EQ(outputs.size(), 1U);
  for (std::int64_t row = 0; row < kBatch * kHeads * kSequence; ++row) {
    const std::int64_t b = row / (kHeads * kSequence);
    const std::int64_t s = bshd ? row / kHeads % kSequence : row % kSequence;
    std::int64_t trig = s + (c.batched ? b * kSequence : 0);
    if (c.positions) trig = positions.at_int(trig);
    for (std::int64_t i = 0; i < kDepth; ++i) {
      double expected = x.at_double(row * kDepth + i);
      if (i < rotary) {
        const std::int64_t half = rotary / 2;
        const bool is_first = c.interleaved ? i % 2 == 0 : i < half;
        const std::int64_t pair = c.interleaved ? i / 2 : i % half;
        const std::int64_t partner = c.interleaved ? i ^ 1 : (i + half) % rotary;
        const std::int64_t at = trig * width + (c.full_width ? i : pair);
        const double other = x.at_double(row * kDepth + partner);
        expected =
            expected * cosines.at_double(at) + (is_first ? -other : other) * sines.at_double(at);
      }
      ASSERT_LE(std::abs(outputs[0].at_double(row * kDepth + i) - expected), 5e-7)
          << "row " << row << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LowerRotary,
    testing::Values(RotaryCase{"halves"}, RotaryCase{"bshd", "bshd"},
                    RotaryCase{"interleaved", "bhsd", 0, true}, RotaryCase{"part", "bshd", 4},
                    RotaryCase{"full_width", "bhsd", 0, false, true},
                    RotaryCase{"full_interleaved", "bhsd", 4, true, true},
                    RotaryCase{"batched", "bhsd", 0, false, false, false, true},
                    RotaryCase{"positions", "bshd", 0, false, false, true},
                    RotaryCase{"batched_positions", "bhsd", 6, false, false, true, true}),
    [](const auto& one) { return one.param.name; });

TEST(LowerRotaryErrors, checks_positions) {
  const Tensor table = random_floats({4, 4}, 2);
  const NodeCase test{
      "rotary",
      {{"layout", "bhsd"}, {"rotary_dim", std::int64_t{0}}, {"interleaved", std::int64_t{0}}},
      {random_floats({1, 1, 1, 8}, 1), table, table, ints({1, 1}, {4})}};
  EXPECT_THROW(run_node(test), Error);
}

}  // namespace
}  // namespace concord::gpu
