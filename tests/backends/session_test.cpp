#include "backends/session.h"

#include <gtest/gtest.h>

#include "graph/error.h"
#include "tests/backends/models.h"

namespace concord {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::ValueId;

// y = x[indices of the non-zero elements of x], whose extent only a run can tell, then doubled.
std::shared_ptr<Graph> non_zero_elements() {
  auto graph = std::make_shared<Graph>();
  const ValueId x = graph->add_value("x", DataType::f32, SymShape{Dim::symbol("n")});
  graph->inputs = {x};
  const Dim found = Dim::fresh_dynamic("found");
  const ValueId where = graph->add_value("where", DataType::i64, SymShape{1, found});
  const ValueId index = graph->add_value("index", DataType::i64, SymShape{found});
  const ValueId picked = graph->add_value("picked", DataType::f32, SymShape{found});
  const ValueId y = graph->add_value("y", DataType::f32, SymShape{found});
  const auto add = [&](OpKind op, std::vector<ValueId> inputs, ValueId output,
                       graph::Attributes attrs) {
    Node node;
    node.op = op;
    node.name = std::string(graph::to_string(op));
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attrs = std::move(attrs);
    graph->add_node(std::move(node));
  };
  add(OpKind::nonzero, {x}, where, {});
  add(OpKind::reshape, {where}, index,
      {{"shape", SymShape{found}}, {"allow_zero", std::int64_t{0}}});
  add(OpKind::gather, {x, index}, picked, {{"axis", std::int64_t{0}}});
  add(OpKind::binary, {picked, picked}, y, {{"fn", std::string("add")}});
  graph->outputs = {y};
  return graph;
}

TEST(Session, RunsWhatDependsOnData) {
  for (const char* spec : {"reference", "cpu"}) {
    Session session(non_zero_elements(), spec);
    for (const std::vector<float>& x :
         {std::vector<float>{0, 2, 0, 3, 4}, std::vector<float>{1, 1}, std::vector<float>{0, 0}}) {
      std::vector<float> wanted;
      for (const float v : x) {
        if (v != 0) wanted.push_back(2 * v);
      }
      const auto count = static_cast<std::int64_t>(x.size());
      const std::vector<Tensor> outputs =
          session.run({{"x", Tensor::of<float>({count}, std::span<const float>(x))}});
      ASSERT_EQ(outputs.size(), 1u);
      const auto got = outputs[0].as<float>();
      EXPECT_EQ(std::vector<float>(got.begin(), got.end()), wanted) << spec;
    }
  }
}

TEST(Session, SaysWhatTheModelWants) {
  const auto model = importer::load(tests::bundled("bert__dynamo20"));
  Session session(model.graph, "cpu");
  const auto expect = [&](const std::map<std::string, Tensor>& inputs, const std::string& words) {
    try {
      session.run(inputs);
      ADD_FAILURE() << "taken, though " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_NE(error.hint().find("input_ids: int64[batch, seq]"), std::string::npos)
          << error.hint();
    }
  };
  const Tensor ids = Tensor::zeros(DataType::i64, {1, 4});
  expect({{"input_ids", ids}}, "is missing");
  expect({{"ids", ids}}, "no input 'ids'");
  expect({{"input_ids", Tensor::zeros(DataType::i32, {1, 4})},
          {"attention_mask", ids},
          {"token_type_ids", ids}},
         "is int32, the model wants int64");
  expect({{"input_ids", Tensor::zeros(DataType::i64, {4})},
          {"attention_mask", ids},
          {"token_type_ids", ids}},
         "has rank 1");
  expect({{"input_ids", ids},
          {"attention_mask", Tensor::zeros(DataType::i64, {1, 5})},
          {"token_type_ids", ids}},
         "dimension 1 is 5");
}

// An index outside its table is an error that names it, not a read outside.
TEST(Session, RefusesIndicesOutsideTheirTable) {
  const auto model = importer::load(tests::bundled("bert__dynamo20"));
  Session session(model.graph, "cpu");
  std::vector<Tensor> inputs = tests::data_set("bert__dynamo20", *model.graph, 0);
  inputs[0] = inputs[0].clone();
  inputs[0].as_mutable<std::int64_t>()[0] = 1'000'000;
  try {
    session.run(inputs);
    FAIL() << "an index of a million was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(std::string(error.what()).find("1000000"), std::string::npos) << error.what();
  }
}

TEST(Session, TapsChangeNothingAndOfferWhatStepsWrite) {
  struct Sink final : TapSink {
    std::map<std::int32_t, Tensor> taken;
    bool wants(ValueId) const override { return true; }
    void take(ValueId id, Tensor tensor) override { taken[id.index] = tensor.clone(); }
  };
  const auto model = importer::load(tests::bundled("llama_past__dynamo20"));
  Session session(model.graph, "cpu");
  const std::vector<Tensor> inputs = tests::data_set("llama_past__dynamo20", *model.graph, 0);
  const std::vector<Tensor> plain = session.run(inputs);
  Sink sink;
  RunOptions options;
  options.taps = &sink;
  const std::vector<Tensor> tapped = session.run(inputs, options);
  ASSERT_EQ(plain.size(), tapped.size());
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(identical(plain[i], tapped[i])) << i;
  EXPECT_GT(sink.taken.size(), 20u);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto tap = sink.taken.find(session.optimised().outputs[i].index);
    ASSERT_NE(tap, sink.taken.end()) << i;
    EXPECT_TRUE(identical(tap->second, plain[i])) << i;
  }
}

// A backend that runs nothing but products: all else falls back, and is told.
TEST(Session, FallbackIsReportedAndCanBeRefused) {
  const auto model = importer::load(tests::bundled("lstm__dynamo20"));
  std::vector<std::string> lines;
  SessionOptions options;
  options.log = [&lines](const std::string& line) { lines.push_back(line); };
  try {
    const Session session(model.graph, parse_spec("vulkan"), options);
    std::size_t fell = 0;
    for (const Fallback& f : session.fallbacks()) {
      if (f.by_nature) continue;
      ++fell;
      EXPECT_FALSE(f.reason.empty()) << f.name;
    }
    if (fell == 0) GTEST_SKIP() << "nothing of this model falls back on this backend";
    EXPECT_EQ(lines.size(), 1u);
    options.allow_fallback = false;
    try {
      const Session refused(model.graph, parse_spec("vulkan"), options);
      FAIL() << "fallback was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) throw;
    GTEST_SKIP() << "no Vulkan here: " << error.what();
  }
}

}  // namespace
}  // namespace concord
