#include "parity/examine.h"

#include <gtest/gtest.h>

#include "importer/importer.h"
#include "importer/tensor_io.h"

namespace concord::parity {
namespace {

// Toggles and parts of a model are judged by what the user allows, as the whole is.
TEST(Examine, JudgesByTheTolerancesThatAreGiven) {
  const std::string folder = CONCORD_SOURCE_DIR "/models/whisper_encoder__dynamo20";
  const auto imported = importer::load(folder).graph;
  const importer::DataSet data = importer::read_data_set(folder + "/test_data_set_0", *imported);
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : imported->inputs) {
    inputs.push_back(data.inputs.at(imported->value(id).name));
  }
  WorkerJob job;
  job.model = folder;
  job.spec = "cpu:precision=bf16";
  OraclePass oracle(imported, inputs);
  EXPECT_EQ(examine(imported, job, oracle, true).verdict(), Verdict::agrees);
  oracle.allow([](const std::string&) { return Tolerance{1e-6, 0}; });
  EXPECT_EQ(examine(imported, job, oracle, true).verdict(), Verdict::diverged);
  job.spec = "cpu";
  oracle.allow([](const std::string&) { return Tolerance{1e-5, 0}; });
  EXPECT_EQ(examine(imported, job, oracle, true).verdict(), Verdict::agrees);
}

}  // namespace
}  // namespace concord::parity
