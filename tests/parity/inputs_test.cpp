#include "parity/inputs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/error.h"
#include "importer/importer.h"
#include "parity/random.h"

namespace concord::parity {
namespace {

std::shared_ptr<const graph::Graph> bundled(const std::string& name) {
  return importer::load(std::string(CONCORD_SOURCE_DIR "/models/") + name).graph;
}

const Tensor& input(const graph::Graph& graph, const std::vector<Tensor>& inputs,
                    const std::string& name) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (graph.value(graph.inputs[i]).name == name) return inputs[i];
  }
  throw std::out_of_range(name);
}

// The first numbers of SplitMix64 with seed 0, as its authors' C code gives them.
TEST(Random, IsSplitMix64) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(random.next(), 0x6E789E6AA1B965F4u);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(3);
  double sum = 0;
  double squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double v = random.normal();
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1, 0.02);
}

TEST(Inputs, IndicesLieInsideTheirTable) {
  const auto graph = bundled("bert__dynamo20");
  const auto inputs = generate_inputs(*graph, choose_dims(*graph, {{"seq", 32}}), 1);
  std::int64_t most = 0;
  for (const std::int64_t id : input(*graph, inputs, "input_ids").ints()) {
    EXPECT_GE(id, 0);
    most = std::max(most, id);
  }
  EXPECT_GT(most, 7);  // spread over the table, not only its first rows
  for (const std::int64_t v : input(*graph, inputs, "attention_mask").ints()) EXPECT_EQ(v, 1);
  for (const std::int64_t v : input(*graph, inputs, "token_type_ids").ints()) {
    EXPECT_TRUE(v == 0 || v == 1) << v;
  }
}

TEST(Inputs, ExtentsThatTheGraphTiesFitTogether) {
  const auto graph = bundled("llama_past__dynamo20");
  const Bindings dims = choose_dims(*graph, {{"seq", 3}, {"past_seq", 5}});
  EXPECT_EQ(dims.at("total_seq"), 8);
}

TEST(Inputs, UnknownDimensionListsTheKnownOnes) {
  const auto graph = bundled("bert__dynamo20");
  try {
    choose_dims(*graph, {{"length", 3}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.hint().find("seq"), std::string::npos);
  }
}

}  // namespace
}  // namespace concord::parity
