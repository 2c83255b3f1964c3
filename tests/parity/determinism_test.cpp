#include "parity/determinism.h"

#include <gtest/gtest.h>

#include "importer/importer.h"
#include "parity/tensor_hash.h"
#include "parity/toggles.h"

namespace concord::parity {
namespace {

using graph::Graph;

std::shared_ptr<const Graph> load(const char* name) {
  return importer::load(std::string(CONCORD_SOURCE_DIR "/models/") + name).graph;
}

TEST(Determinism, RowsMoveOnByOne) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor t = Tensor::of<float>({3, 2}, std::span<const float>(values));
  const SymShape rows = {Dim::symbol("b"), Dim(2)};
  const Tensor moved = rotated(t, rows, "b");
  const std::vector<float> expected = {5, 6, 1, 2, 3, 4};
  EXPECT_TRUE(identical(moved, Tensor::of<float>({3, 2}, std::span<const float>(expected))));
  const SymShape columns = {Dim(3), Dim::symbol("b")};
  const std::vector<float> swapped = {2, 1, 4, 3, 6, 5};
  EXPECT_TRUE(identical(rotated(t, columns, "b"),
                        Tensor::of<float>({3, 2}, std::span<const float>(swapped))));
  EXPECT_TRUE(identical(rotated(t, rows, "c"), t));
}

TEST(Determinism, FindsTheBatch) {
  EXPECT_EQ(batch_symbol(*load("bert__dynamo20")), "batch");
}

TEST(Determinism, NamesTheFirstStepThatDiffers) {
  const auto graph = load("mobilenet_s__dynamo20");
  std::vector<WorkerStep> steps;
  WorkerFingerprint a;
  for (const graph::NodeId id : graph->order()) {
    WorkerStep step;
    step.node = id.index;
    steps.push_back(step);
    a.taps[{{}, graph->node(id).output().index}] = 1;
  }
  EXPECT_EQ(first_that_differs(*graph, steps, a, a), "");
  WorkerFingerprint b = a;
  const graph::Node& third = graph->node(graph->order()[2]);
  b.taps[{{}, third.output().index}] = 2;
  b.taps[{{}, graph->node(graph->order()[5]).output().index}] = 2;
  const std::string name = first_that_differs(*graph, steps, a, b);
  EXPECT_EQ(name, std::string(to_string(third.op)) + " '" + third.name + "'");
}

TEST(Determinism, HashesTellItemsApart) {
  const auto list = [](std::initializer_list<float> values) {
    std::vector<Tensor> items;
    for (const float value : values) items.push_back(Tensor::scalar(value));
    return Tensor::container(sequence_of(DataType::f32), std::move(items));
  };
  EXPECT_EQ(hash_of(list({1, 2})), hash_of(list({1, 2})));
  EXPECT_NE(hash_of(list({1, 2})), hash_of(list({1, 3})));
  EXPECT_NE(hash_of(list({1, 2})), hash_of(list({2, 1})));
  EXPECT_NE(hash_of(list({1})), hash_of(list({1, 2})));
}

TEST(Toggles, ChangeOneKey) {
  EXPECT_EQ(with_key("cpu", "fusion", "off"), "cpu:fusion=off");
  EXPECT_EQ(with_key("cpu:threads=2,fusion=on", "fusion", "off"), "cpu:fusion=off,threads=2");
}

TEST(Toggles, OnlyWhatTheModelAndTheBackendHave) {
  WorkerJob job;
  job.spec = "cpu";
  std::set<std::string> names;
  for (const Toggle& toggle : toggles_of(*load("bert__dynamo20"), job)) names.insert(toggle.name);
  EXPECT_TRUE(names.contains("fusion=off"));
  EXPECT_TRUE(names.contains("fuse_attention off"));
  EXPECT_TRUE(names.contains("threads=1"));
  EXPECT_TRUE(names.contains("isa=avx2"));
  EXPECT_FALSE(names.contains("fuse_conv off"));  // it has none
  EXPECT_FALSE(names.contains("precision=f32"));  // it is
  job.spec = "cpu:fusion=off,threads=1";
  names.clear();
  for (const Toggle& toggle : toggles_of(*load("bert__dynamo20"), job)) names.insert(toggle.name);
  EXPECT_FALSE(names.contains("fusion=off"));
  EXPECT_FALSE(names.contains("threads=1"));
}

}  // namespace
}  // namespace concord::parity
