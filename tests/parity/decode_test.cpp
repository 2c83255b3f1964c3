#include "parity/decode.h"

#include <gtest/gtest.h>

#include "graph/error.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"

namespace concord::parity {
namespace {

using graph::Graph;

std::string model(const char* name) {
  return std::string(CONCORD_SOURCE_DIR "/models/") + name;
}

std::string input_name(const Graph& graph, std::size_t i) {
  return graph.value(graph.inputs[i]).name;
}

TEST(Decode, FindsADecodersInputsAndOutputs) {
  for (const char* name : {"gpt2_past__script17", "llama_past__dynamo20"}) {
    const auto graph = importer::load(model(name)).graph;
    const DecoderLayout layout = decoder_layout(*graph);
    EXPECT_EQ(input_name(*graph, layout.tokens), "input_ids");
    ASSERT_EQ(layout.caches.size(), 4u);
    EXPECT_EQ(input_name(*graph, layout.caches[0].first), "past_key_values.0.key");
    EXPECT_EQ(graph->value(graph->outputs[layout.caches[0].second]).name, "present.0.key");
    ASSERT_EQ(layout.masks.size(), 1u);
    EXPECT_EQ(input_name(*graph, layout.masks[0]), "attention_mask");
    ASSERT_EQ(layout.positions.size(), 1u);
    EXPECT_EQ(graph->value(graph->outputs[layout.logits]).name, "logits");
  }
}

TEST(Decode, RefusesWhatIsNoDecoder) {
  const auto graph = importer::load(model("bert__dynamo20")).graph;
  EXPECT_THROW(decoder_layout(*graph), Error);
}

TEST(Decode, TheNextStepsInputs) {
  DecoderLayout layout;
  layout.tokens = 0;
  layout.masks = {1};
  layout.positions = {2};
  layout.caches = {{3, 1}};
  const std::vector<std::int64_t> ids = {1, 2, 3, 4};
  const std::vector<std::int64_t> mask = {1, 1, 0, 1};
  const std::vector<std::int64_t> positions = {5, 6, 5, 6};
  const auto ints = [](const std::vector<std::int64_t>& v) {
    return Tensor::of<std::int64_t>({2, 2}, std::span<const std::int64_t>(v));
  };
  const Tensor present = Tensor::zeros(DataType::f32, {2, 3});
  const std::vector<Tensor> next =
      next_inputs(layout, {ints(ids), ints(mask), ints(positions), Tensor::scalar(1.0f)},
                  {Tensor::scalar(0.0f), present}, {7, 8});
  EXPECT_EQ(next[0].shape(), (Shape{2, 1}));
  EXPECT_EQ(next[0].ints(), (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(next[1].shape(), (Shape{2, 3}));
  EXPECT_EQ(next[1].ints(), (std::vector<std::int64_t>{1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(next[2].ints(), (std::vector<std::int64_t>{7, 7}));
  EXPECT_TRUE(identical(next[3], present));
}

// The tokens that the oracle chooses step by step are those of one run over all of them.
TEST(Decode, StepsAgreeWithOneRun) {
  const auto graph = importer::load(model("gpt2_past__script17")).graph;
  const DecoderLayout layout = decoder_layout(*graph);
  const importer::DataSet set =
      importer::read_data_set(model("gpt2_past__script17") + "/test_data_set_0", *graph);
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph->inputs) {
    inputs.push_back(set.inputs.at(graph->value(id).name));
  }
  const std::vector<DecodedStep> two = decode_oracle(*graph, layout, inputs, 2);
  ASSERT_EQ(two.size(), 2u);
  // Prompt and first token at once.
  std::vector<Tensor> longer = inputs;
  const auto extended = [&](std::size_t i, const std::vector<std::int64_t>& last) {
    const Tensor& t = inputs[i];
    const std::int64_t width = t.shape()[1];
    std::vector<std::int64_t> values;
    for (std::int64_t b = 0; b < t.shape()[0]; ++b) {
      for (std::int64_t j = 0; j < width; ++j) values.push_back(t.at_int(b * width + j));
      values.push_back(last[static_cast<std::size_t>(b)]);
    }
    longer[i] =
        Tensor::of<std::int64_t>({t.shape()[0], width + 1}, std::span<const std::int64_t>(values));
  };
  const auto batch = static_cast<std::size_t>(inputs[layout.tokens].shape()[0]);
  extended(layout.tokens, two[0].tokens);
  extended(layout.masks[0], std::vector<std::int64_t>(batch, 1));
  std::vector<std::int64_t> positions;
  const Tensor& before = inputs[layout.positions[0]];
  for (std::size_t b = 0; b < batch; ++b) {
    positions.push_back(before.at_int((static_cast<std::int64_t>(b) + 1) * before.shape()[1] - 1) +
                        1);
  }
  extended(layout.positions[0], positions);
  const std::vector<DecodedStep> one = decode_oracle(*graph, layout, longer, 1);
  EXPECT_EQ(one[0].tokens, two[1].tokens);
  for (std::int64_t i = 0; i < one[0].logits.count(); ++i) {
    ASSERT_NEAR(one[0].logits.at_double(i), two[1].logits.at_double(i), 1e-9);
  }
}

}  // namespace
}  // namespace concord::parity
