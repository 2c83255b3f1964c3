// What a user does wrong: one plain line that names file and cause, a hint, the right exit code.
#include <filesystem>

#include <gtest/gtest.h>

#include "importer/tensor_io.h"
#include "tests/tools/expect_error.h"

namespace concord::tests {
namespace {

Outcome run_model(const std::string& model) {
  return concord({"run", model, "--backend", "reference"});
}

TEST(BadModel, Missing) {
  expect_error(run_model("no-such.onnx"), 2, {"no-such.onnx"});
}

TEST(BadModel, Empty) {
  const TemporaryFolder folder;
  expect_error(run_model(folder.write("empty.onnx", "")), 2, {"empty.onnx", "empty"});
}

TEST(BadModel, NotOnnx) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text.onnx", "This is not a model, it is a sentence.\n");
  expect_error(run_model(text), 2, {"text.onnx"});
}

TEST(BadModel, CutAtEveryEighth) {
  const TemporaryFolder folder;
  const std::string whole = read_file(bundled("bert__dynamo20") + "/model.onnx");
  ASSERT_GT(whole.size(), 1000u);
  for (int eighth = 1; eighth < 8; ++eighth) {
    const std::size_t size = whole.size() * static_cast<std::size_t>(eighth) / 8;
    const std::string cut = folder.write("cut.onnx", whole.substr(0, size));
    expect_error(run_model(cut), 2, {"cut.onnx"});
  }
}

TEST(BadModel, FolderWithoutModel) {
  const TemporaryFolder folder;
  expect_error(run_model(folder.path().string()), 2, {folder.path().filename().string()});
}

// Bytes flipped anywhere: an error or an answer, never a crash.
TEST(BadModel, FlippedBytesNeverCrash) {
  const TemporaryFolder folder;
  std::string whole = read_file(bundled("bert__dynamo20") + "/model.onnx");
  std::uint64_t state = 1;
  for (int i = 0; i < 40; ++i) {
    std::string changed = whole;
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // The structure lies at both ends, the weights between.
      const std::size_t region = std::min<std::size_t>(changed.size(), 40000);
      const std::size_t at = (state >> 33) % region;
      changed[(i % 2) != 0 ? at : changed.size() - 1 - at] = static_cast<char>(state >> 57);
    }
    const Outcome outcome = concord({"inspect", folder.write("flipped.onnx", changed)});
    EXPECT_TRUE(outcome.exit == 0 || outcome.exit == 2 || outcome.exit == 3)
        << "round " << i << ": exit " << outcome.exit << ": " << outcome.err;
  }
}

TEST(BadInputs, UnknownName) {
  const TemporaryFolder folder;
  const std::string file = read_file(bundled("bert__dynamo20") + "/test_data_set_0/input_0.pb");
  folder.write("nonsense.pb", file);
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--inputs",
                        folder.path().string()}),
               2, {"nonsense"});
}

// A number in a file that only the run can tell to be wrong: file, node and number are named.
TEST(BadInputs, IdOutsideTheTable) {
  const TemporaryFolder folder;
  const Tensor ids = Tensor::of<std::int64_t>({1, 2}, std::vector<std::int64_t>{1, 123456});
  importer::write_pb(folder.path() / "input_0.pb", ids, "input_ids");
  for (const char* backend : {"reference", "cpu"}) {
    expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", backend, "--inputs",
                          folder.path().string(), "--quiet"}),
                 2, {"bert__dynamo20", "node '", "123456"});
  }
  expect_error(concord({"parity", bundled("bert__dynamo20"), "--backends", "cpu", "--inputs",
                        folder.path().string(), "--quiet"}),
               2, {"bert__dynamo20", "node '", "123456"});
  expect_error(concord({"bench", bundled("bert__dynamo20"), "--backends", "cpu", "--inputs",
                        folder.path().string(), "--quiet"}),
               2, {"bert__dynamo20", "node '", "123456"});
}

TEST(BadInputs, NoFileAtAll) {
  const TemporaryFolder folder;
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--inputs",
                        folder.path().string()}),
               2, {folder.path().filename().string(), "input_ids"});
}

// What is not given is generated, of sizes that fit, and said so.
TEST(Inputs, TheRestIsGenerated) {
  const TemporaryFolder folder;
  const Tensor ids = Tensor::of<std::int64_t>({1, 3}, std::vector<std::int64_t>{1, 2, 3});
  importer::write_npy(folder.path() / "ids.npy", ids);
  const Outcome outcome =
      concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--inputs",
               "input_ids=" + (folder.path() / "ids.npy").string()});
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("generated: attention_mask, token_type_ids"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("[1, 3, "), std::string::npos) << outcome.out;
}

TEST(Inputs, OneGivenTwice) {
  const TemporaryFolder folder;
  importer::write_npy(folder.path() / "ids.npy", Tensor::zeros(DataType::i64, {1, 3}));
  const std::string word = "input_ids=" + (folder.path() / "ids.npy").string();
  expect_error(
      concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--inputs", word, word}),
      2, {"input_ids", "twice"});
}

TEST(BadInputs, WrongType) {
  // A float tensor where the model wants int64.
  const TemporaryFolder folder;
  const std::string set = bundled("bert__dynamo20") + "/test_data_set_0/";
  folder.write("input_0.pb", read_file(set + "output_0.pb"));
  folder.write("input_1.pb", read_file(set + "input_1.pb"));
  folder.write("input_2.pb", read_file(set + "input_2.pb"));
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--inputs",
                        folder.path().string()}),
               2, {"input_ids", "int64"});
}

TEST(BadInputs, ContradictoryExtents) {
  // input_ids of one data set, the mask of another with other sizes.
  const TemporaryFolder folder;
  const std::string sets = bundled("bert__dynamo20") + "/test_data_set_";
  folder.write("input_0.pb", read_file(sets + "0/input_0.pb"));
  folder.write("input_1.pb", read_file(sets + "1/input_1.pb"));
  folder.write("input_2.pb", read_file(sets + "0/input_2.pb"));
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--inputs",
                        folder.path().string()}),
               2, {"the model wants"});
}

TEST(BadInputs, UnknownDimension) {
  expect_error(
      concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--set", "sequence=8"}),
      2, {"sequence", "batch", "seq"});
}

TEST(BadInputs, NotANumber) {
  expect_error(
      concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--set", "seq=many"}), 2,
      {"many"});
}

TEST(BadBackend, Unknown) {
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "gpu"}), 2,
               {"gpu", "reference"});
}

TEST(BadBackend, UnknownKey) {
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "cpu:thread=1"}), 2,
               {"thread", "threads"});
}

TEST(BadBackend, UnknownDevice) {
  const Outcome outcome =
      concord({"run", bundled("bert__dynamo20"), "--backend", "vulkan:device=none-such"});
  // Not part of this build, no driver, or no such device: each is the machine's answer.
  EXPECT_TRUE(outcome.exit == 5 || outcome.exit == 2) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("concord: error: ")) << outcome.err;
}

TEST(BadBackend, UnknownIsRefusedBeforeAnyWork) {
  expect_error(concord({"parity", bundled("bert__dynamo20"), "--backends", "cpu,nope"}), 2,
               {"nope", "reference"});
  expect_error(concord({"conformance", bundled("gru__script17"), "--backend", "nope"}), 2,
               {"nope", "reference"});
}

TEST(BadModel, ParityTellsOnStderrToo) {
  const TemporaryFolder folder;
  expect_error(concord({"parity", folder.write("bad.onnx", "no model"), "--backends", "reference",
                        "--json", "-"}),
               2, {"bad.onnx"});
}

// Sizes whose bytes overflow are refused, not allocated.
TEST(BadInputs, ImpossibleExtent) {
  expect_error(concord({"run", bundled("bert__dynamo20"), "--backend", "reference", "--set",
                        "batch=2305843009213693952"}),
               2, {"too many elements"});
}

// The mask of a decoder is shorter than past and new positions together.
TEST(BadInputs, ShapesThatDoNotFitTogether) {
  for (const char* backend : {"reference", "cpu"}) {
    const Outcome outcome =
        concord({"run", bundled("llama_past__dynamo20"), "--backend", backend, "--set", "seq=3",
                 "--set", "past_seq=6", "--set", "total_seq=2"});
    EXPECT_EQ(outcome.exit, 2) << backend << ": " << outcome.err;
  }
}

TEST(BadOutput, FullStdout) {
  EXPECT_EQ(concord({"inspect", bundled("bert__dynamo20")}, "exec >/dev/full;").exit, 5);
  EXPECT_EQ(concord({"--help"}, "exec >/dev/full;").exit, 5);
}

TEST(BadOutput, FullDiskLeavesNoHalfWrittenFile) {
  const TemporaryFolder folder;
  const std::string report = (folder.path() / "report.html").string();
  // Files may grow to one block.
  const Outcome outcome =
      concord({"inspect", bundled("bert__dynamo20"), "--json", report}, "ulimit -f 1;");
  EXPECT_EQ(outcome.exit, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("report.html"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(report));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ADD_FAILURE() << "left behind: " << entry.path();
  }
}

TEST(BadOutput, FolderThatCannotBeWritten) {
  const Outcome outcome =
      concord({"inspect", bundled("bert__dynamo20"), "--json", "/proc/no-such-folder/report.json"});
  expect_error(outcome, 2, {"/proc/no-such-folder"});
}

TEST(Usage, UnknownOption) {
  expect_error(concord({"run", "model.onnx", "--backend", "cpu", "--colour"}), 2, {"colour"});
}

TEST(Usage, MissingModel) {
  expect_error(concord({"parity"}), 2, {"MODEL"});
}

}  // namespace
}  // namespace concord::tests
