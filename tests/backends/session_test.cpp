#include "backends/session.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "backends/ranks.h"
#include "backends/registry.h"
#include "graph/error.h"
#include "tests/backends/models.h"
#include "tests/graph/builder.h"

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

// A backend that has no kernels at all.
class Nothing final : public Backend {
 public:
  std::string_view name() const override { return "nothing"; }
  const DeviceInfo& device() const override { return device_; }
  std::string version() const override { return "0"; }
  std::optional<std::string> why_unsupported(const Graph&, const Node&) const override {
    return "it runs nothing";
  }
  std::unique_ptr<Program> compile(std::shared_ptr<const Graph>, const CompileOptions&) override {
    throw Error(ErrorKind::failed, "it compiles nothing");
  }

 private:
  DeviceInfo device_;
};

std::shared_ptr<Backend> make_nothing(const BackendSpec&) {
  return std::make_shared<Nothing>();
}

// y = relu(exp(x)), or a determinant.
std::shared_ptr<Graph> graph_of(const std::optional<SymShape>& shape, bool determinant) {
  graph::Builder b;
  graph::Value x;
  x.name = "x";
  x.dtype = DataType::f32;
  x.shape = shape;
  b.graph.inputs = {b.graph.add_value(x)};
  const ValueId first = b.graph.inputs.front();
  b.graph.outputs = {determinant ? b.op(OpKind::det, {first})
                                 : b.unary("relu", b.unary("exp", first))};
  return std::make_shared<Graph>(b.graph);
}

SessionOptions quiet(bool allow_fallback = true) {
  SessionOptions options;
  options.allow_fallback = allow_fallback;
  options.log = [](const std::string&) {};
  return options;
}

void expect_refused(const std::shared_ptr<const Graph>& model, const std::string& backend) {
  try {
    const Session session(model, parse_spec(backend), quiet(false));
    ADD_FAILURE() << "fallback was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
  }
}

TEST(Session, FallbackIsReportedAndCanBeRefused) {
  register_backend("nothing", make_nothing);
  const auto model = graph_of(SymShape{3, 3}, true);
  std::vector<std::string> lines;
  SessionOptions options;
  options.log = [&lines](const std::string& line) { lines.push_back(line); };
  const Session session(model, parse_spec("nothing"), options);
  ASSERT_EQ(session.fallbacks().size(), 1u);
  EXPECT_FALSE(session.fallbacks().front().by_nature);
  EXPECT_EQ(session.fallbacks().front().reason, "it runs nothing");
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_NE(session.describe().find("it runs nothing"), std::string::npos);
  expect_refused(model, "nothing");
}

TEST(Session, InputsOfAnyRankAreBoundFirst) {
  register_backend("nothing", make_nothing);
  const std::vector<float> values = {-1, 0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Tensor> inputs = {Tensor::of<float>({3, 3}, std::span<const float>(values))};
  const auto open = graph_of(std::nullopt, false);
  EXPECT_THROW(Session(open, parse_spec("cpu"), quiet()), Error);
  const auto bound = with_ranks(open, ranks_of(inputs));
  Session session(bound, parse_spec("cpu"), quiet());
  session.prepare(bindings_of(session.imported(), inputs));
  std::vector<SessionStep> steps;
  RunOptions options;
  options.steps = &steps;
  const std::vector<Tensor> outputs = session.run(inputs, options);
  EXPECT_FLOAT_EQ(outputs.at(0).as<float>()[0], std::exp(-1.0F));
  // The graph that it tells is the one that ran.
  EXPECT_EQ(session.optimised().value(session.optimised().inputs[0]).shape->size(), 2u);
  ASSERT_FALSE(steps.empty());
  for (const SessionStep& step : steps) {
    const auto& order = session.optimised().order();
    EXPECT_NE(std::find(order.begin(), order.end(), step.info.node), order.end());
  }
  EXPECT_FALSE(session.describe().empty());
  EXPECT_THROW(session.run(std::vector<Tensor>{Tensor::zeros(DataType::f32, {3})}), Error);
  // Known ranks are left as they are.
  EXPECT_EQ(with_ranks(bound, ranks_of(inputs)), bound);
}

// Extents of a shape of unknown length turned into attributes: they follow once it is known.
TEST(Session, AttributesFollowTheRanks) {
  graph::Builder b;
  const graph::ValueId x = b.graph.add_value("x", DataType::f32);
  b.graph.inputs.push_back(x);
  const graph::Attributes all = {{"start", std::int64_t{0}}, {"end", INT64_MAX}};
  const graph::ValueId rank =
      b.op(graph::OpKind::shape_of, {b.op(graph::OpKind::shape_of, {x}, all)}, all);
  b.output(b.op(graph::OpKind::constant_of, {rank},
                {{"value", Tensor::of<float>({1}, std::vector<float>{2})}}),
           "y");
  const std::vector<Tensor> inputs = {Tensor::zeros(DataType::f32, {3, 4, 5})};
  const auto bound = with_ranks(std::make_shared<const graph::Graph>(b.graph), ranks_of(inputs));
  for (const char* backend : {"reference", "cpu"}) {
    Session session(bound, parse_spec(backend), quiet());
    EXPECT_EQ(session.run(inputs).at(0).shape(), (Shape{3})) << backend;
  }
}

TEST(Session, FallbackOfInputsOfAnyRankCanBeRefused) {
  register_backend("nothing", make_nothing);
  const std::vector<std::int64_t> ranks = {2};
  const auto model = with_ranks(graph_of(std::nullopt, true), ranks);
  EXPECT_EQ(Session(model, parse_spec("nothing"), quiet()).fallbacks().size(), 1u);
  expect_refused(model, "nothing");
}

BackendSpec fallback_spec;

std::shared_ptr<Backend> refuse_cpu(const BackendSpec& spec) {
  fallback_spec = spec;
  throw Error(ErrorKind::failed, "no cpu");
}

TEST(Session, TheCpuThatTakesFallbacksHasItsThreadsAndInstructionSet) {
  register_backend("nothing", make_nothing);
  register_backend("cpu", refuse_cpu);
  try {
    const Session session(graph_of(SymShape{3, 3}, true), parse_spec("nothing:isa=avx2,threads=2"),
                          quiet());
  } catch (const Error&) {
  }
  register_backend("cpu", nullptr);
  EXPECT_EQ(fallback_spec.options.isa, "avx2");
  EXPECT_EQ(fallback_spec.options.threads, 2);
}

}  // namespace
}  // namespace concord
