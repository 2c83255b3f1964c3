// States of a session: the same bits as when the caller hands every output on by itself.
#include <algorithm>

#include <gtest/gtest.h>

#include "backends/session.h"
#include "backends/state_area.h"
#include "graph/error.h"
#include "tests/backends/models.h"
#include "tests/graph/builder.h"

namespace concord {
namespace {

using graph::Builder;
using graph::Graph;
using graph::ValueId;
using Inputs = std::map<std::string, Tensor>;

constexpr std::string_view past_prefix = "past_key_values";
constexpr std::string_view present_prefix = "present";

// A decoder's caches by the names of their inputs: number of the output, output's name.
struct Caches {
  std::map<std::string, std::pair<std::size_t, std::string>> by_input;

  explicit Caches(const Graph& graph) {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const std::string& name = graph.value(graph.outputs[i]).name;
      if (!name.starts_with(present_prefix)) continue;
      by_input[std::string(past_prefix) + name.substr(present_prefix.size())] = {i, name};
    }
  }
};

// A session that goes on token by token, its caches bound or handed on here.
class Decoder {
 public:
  Decoder(const std::shared_ptr<const Graph>& graph, const std::string& spec, bool bound,
          std::int64_t batch = 1)
      : session(graph, spec), caches_(*graph), bound_(bound), batch_(batch) {
    if (bound) {
      for (const auto& [input, output] : caches_.by_input) {
        session.bind_state(output.second, input);
      }
    }
    clear();
  }

  // Runs on `count` more tokens that are numbered on from `seed`.
  std::vector<Tensor> step(std::int64_t count, std::int64_t seed, const RunOptions& options = {}) {
    Inputs inputs = bound_ ? Inputs{} : past_;
    Tensor ids(DataType::i64, {batch_, count});
    Tensor positions(DataType::i64, {batch_, count});
    Tensor mask(DataType::i64, {batch_, length_ + count});
    for (std::int64_t i = 0; i < batch_ * count; ++i) {
      ids.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] = (seed * 37 + i * 11) % 1000;
      positions.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] = length_ + i % count;
    }
    std::ranges::fill(mask.as_mutable<std::int64_t>(), 1);
    inputs["input_ids"] = ids;
    inputs["position_ids"] = positions;
    inputs["attention_mask"] = mask;
    std::vector<Tensor> outputs = session.run(inputs, options);
    length_ += count;
    if (!bound_) {
      for (const auto& [input, output] : caches_.by_input) past_[input] = outputs[output.first];
    }
    return outputs;
  }

  std::map<std::string, Tensor> caches() {
    if (!bound_) return past_;
    std::map<std::string, Tensor> result;
    for (const auto& [input, output] : caches_.by_input) result[input] = session.state(input);
    return result;
  }

  void set_caches(const std::map<std::string, Tensor>& caches) {
    past_ = caches;
    if (bound_) {
      for (const auto& [input, tensor] : caches) session.set_state(input, tensor);
    }
    length_ = caches.begin()->second.shape()[2];
    batch_ = caches.begin()->second.shape()[0];
  }

  // An empty cache.
  void clear() {
    length_ = 0;
    if (bound_) {
      session.reset_states();
      return;
    }
    for (const ValueId id : session.imported().inputs) {
      const graph::Value& value = session.imported().value(id);
      if (!value.name.starts_with(past_prefix)) continue;
      const Shape shape = {batch_, *(*value.shape)[1].constant(), 0, *(*value.shape)[3].constant()};
      past_[value.name] = Tensor::zeros(value.dtype, shape);
    }
  }

  Session session;

 private:
  Caches caches_;
  bool bound_;
  std::int64_t batch_;
  std::int64_t length_ = 0;
  std::map<std::string, Tensor> past_;
};

void expect_same_caches(Decoder& a, Decoder& b, const std::string& where) {
  const auto left = a.caches();
  const auto right = b.caches();
  ASSERT_EQ(left.size(), right.size()) << where;
  for (const auto& [name, tensor] : left)
    EXPECT_TRUE(identical(tensor, right.at(name))) << where << " " << name;
}

// Rows `rows` of axis 0, positions [0, length) of axis 2.
std::map<std::string, Tensor> picked(const std::map<std::string, Tensor>& caches,
                                     const std::vector<std::int64_t>& rows, std::int64_t length) {
  std::map<std::string, Tensor> result;
  for (const auto& [name, from] : caches) {
    Shape shape = from.shape();
    const std::int64_t heads = shape[1];
    const std::int64_t all = shape[2];
    const std::int64_t width = shape[3] * bits(from.dtype()) / 8;
    shape[0] = static_cast<std::int64_t>(rows.size());
    shape[2] = length;
    Tensor to(from.dtype(), shape);
    for (std::int64_t head = 0; head < shape[0] * heads; ++head) {
      const std::int64_t row = rows[static_cast<std::size_t>(head / heads)];
      std::copy_n(from.data() + (row * heads + head % heads) * all * width, length * width,
                  to.mutable_data() + head * length * width);
    }
    result[name] = to;
  }
  return result;
}

bool says(const Session& session, const std::string& words) {
  return session.describe().find(words) != std::string::npos;
}

TEST(StateArea, GrowsAndKeepsWhatIsInUse) {
  EXPECT_EQ(state_capacity(0), 64);
  EXPECT_EQ(state_capacity(64), 64);
  EXPECT_EQ(state_capacity(65), 96);
  EXPECT_EQ(state_capacity(97), 128);
  EXPECT_EQ(state_capacity(129), 192);
  for (std::int64_t length = 1; length < 5000; ++length) {
    const std::int64_t room = state_capacity(length);
    ASSERT_GE(room, length);
    ASSERT_LE(room, std::max<std::int64_t>(64, length * 3 / 2));
    ASSERT_EQ(state_capacity(room), room);
  }
  const Tensor value = Builder::random({2, 60, 3});
  StateArea area;
  EXPECT_FALSE(area.is_set());
  area.assign(value);
  area.make_room(1, state_capacity(61), 61);
  EXPECT_TRUE(identical(area.read(), value));
  area.make_room(1, state_capacity(70), 70);
  EXPECT_TRUE(identical(area.read(), value));
  area.accept();
  EXPECT_EQ(area.shape(), (Shape{2, 70, 3}));
}

struct Model {
  const char* name;
  const char* spec;
};

class States : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const std::string backend = parse_spec(GetParam().spec).backend;
    if (!tests::starts_here(backend)) GTEST_SKIP() << backend << " does not start here";
  }
};

// From an empty cache over several changes of capacity, a prompt at first and once in between.
TEST_P(States, DecodeAsWithoutThem) {
  const auto model = importer::load(tests::bundled(GetParam().name));
  const bool on_cpu = std::string(GetParam().spec).starts_with("cpu");
  const std::int64_t steps = on_cpu ? 130 : 6;
  Decoder plain(model.graph, GetParam().spec, false, 2);
  Decoder bound(model.graph, GetParam().spec, true, 2);
  EXPECT_EQ(says(bound.session, "kept in place"), on_cpu);
  EXPECT_EQ(says(bound.session, "handed on"), !on_cpu);
  EXPECT_FALSE(bound.session.state("past_key_values.0.key").defined());
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t count = i == 0 ? 5 : i == 40 ? 9 : 1;
    const std::vector<Tensor> wanted = plain.step(count, i);
    const std::vector<Tensor> got = bound.step(count, i);
    ASSERT_TRUE(identical(got[0], wanted[0])) << "step " << i;
    for (std::size_t o = 1; o < got.size(); ++o) ASSERT_FALSE(got[o].defined()) << o;
    if (i % 50 == 1) expect_same_caches(plain, bound, "step " + std::to_string(i));
  }
  expect_same_caches(plain, bound, "at the end");
}

INSTANTIATE_TEST_SUITE_P(
    Models, States,
    testing::Values(Model{"gpt2_past__script17", "cpu"},
                    Model{"gpt2_past__script17", "cpu:threads=1,precision=bf16"},
                    Model{"llama_past__dynamo20", "cpu"}, Model{"llama_past__dynamo20_fp16", "cpu"},
                    Model{"llama_past__dynamo20_bf16", "cpu"},
                    Model{"llama_past__dynamo20_int4", "cpu"},
                    Model{"llama_past__dynamo20", "reference"},
                    Model{"llama_past__dynamo20", "vulkan"}),
    [](const auto& test) {
      std::string name = std::string(test.param.name) + "_" + test.param.spec;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

constexpr const char* kLlama = "llama_past__dynamo20";

TEST(SessionStates, StartAgainFromAnywhere) {
  const auto model = importer::load(tests::bundled(kLlama));
  Decoder plain(model.graph, "cpu", false, 3);
  Decoder bound(model.graph, "cpu", true, 3);
  const auto go_on = [&](std::int64_t steps, const std::string& what) {
    for (std::int64_t i = 0; i < steps; ++i) {
      ASSERT_TRUE(identical(plain.step(1, i)[0], bound.step(1, i)[0])) << what << ", step " << i;
    }
    expect_same_caches(plain, bound, what);
  };
  go_on(70, "from nothing");
  // Beams in another order and number, and back to where there is less room.
  for (const auto& [rows, length] : std::vector<std::pair<std::vector<std::int64_t>, std::int64_t>>{
           {{2, 0, 0}, 70}, {{1, 2}, 70}, {{0, 1}, 20}, {{1}, 0}}) {
    const auto caches = picked(bound.caches(), rows, length);
    plain.set_caches(caches);
    bound.set_caches(caches);
    go_on(50, "set to " + std::to_string(length));
  }
  plain.clear();
  bound.clear();
  go_on(3, "reset");
}

TEST(SessionStates, SetStateCopies) {
  const auto model = importer::load(tests::bundled(kLlama));
  Decoder bound(model.graph, "cpu", true);
  bound.step(4, 1);
  auto caches = bound.caches();
  const Tensor before = caches.begin()->second.clone();
  bound.set_caches(caches);
  std::ranges::fill(caches.begin()->second.as_mutable<float>(), 7.0F);
  EXPECT_TRUE(identical(bound.caches().begin()->second, before));
}

TEST(SessionStates, SessionsOfOneModelDoNotMeet) {
  const auto model = importer::load(tests::bundled(kLlama));
  Decoder first(model.graph, "cpu", true);
  Decoder second(model.graph, "cpu", true);
  Decoder plain_first(model.graph, "cpu", false);
  Decoder plain_second(model.graph, "cpu", false);
  for (std::int64_t i = 0; i < 70; ++i) {
    ASSERT_TRUE(identical(first.step(1, i)[0], plain_first.step(1, i)[0])) << i;
    if (i % 3 != 0) continue;
    ASSERT_TRUE(identical(second.step(2, i + 500)[0], plain_second.step(2, i + 500)[0])) << i;
  }
}

TEST(SessionStates, TapsAndTimesChangeNothing) {
  struct Sink final : TapSink {
    std::map<std::int32_t, Tensor> taken;
    bool wants(ValueId) const override { return true; }
    void take(ValueId id, Tensor tensor) override { taken[id.index] = tensor.clone(); }
  };
  const auto model = importer::load(tests::bundled(kLlama));
  Decoder plain(model.graph, "cpu", false);
  Decoder bound(model.graph, "cpu", true);
  plain.step(5, 0);
  bound.step(5, 0);
  Sink sink;
  std::vector<SessionStep> steps;
  RunOptions options;
  options.taps = &sink;
  options.steps = &steps;
  EXPECT_TRUE(identical(bound.step(1, 1, options)[0], plain.step(1, 1)[0]));
  const auto append = [](const SessionStep& step) { return step.info.kernel == "append"; };
  EXPECT_EQ(std::ranges::count_if(steps, append), 4);
  const Graph& graph = bound.session.optimised();
  for (const ValueId id : graph.outputs) {
    const std::string& name = graph.value(id).name;
    if (!name.starts_with(present_prefix)) continue;
    ASSERT_TRUE(sink.taken.contains(id.index)) << name;
    const std::string input = std::string(past_prefix) + name.substr(present_prefix.size());
    EXPECT_TRUE(identical(sink.taken.at(id.index), plain.caches().at(input))) << name;
  }
}

TEST(SessionStates, AFailedRunLeavesThem) {
  const auto model = importer::load(tests::bundled(kLlama));
  Decoder bound(model.graph, "cpu", true);
  const auto fail = [&](std::int64_t length) {
    Inputs inputs;
    inputs["input_ids"] = Tensor::from_ints(std::vector<std::int64_t>{1'000'000}).reshaped({1, 1});
    inputs["position_ids"] = Tensor::from_ints(std::vector<std::int64_t>{length}).reshaped({1, 1});
    inputs["attention_mask"] = Tensor::zeros(DataType::i64, {1, length + 1});
    EXPECT_THROW(bound.session.run(inputs), Error);
  };
  fail(0);
  EXPECT_FALSE(bound.session.state("past_key_values.0.key").defined());
  bound.step(64, 0);
  const auto before = bound.caches();
  fail(64);
  for (const auto& [name, tensor] : bound.caches()) EXPECT_TRUE(identical(tensor, before.at(name)));
}

}  // namespace
}  // namespace concord
