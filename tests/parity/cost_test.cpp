#include <gtest/gtest.h>

#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/compare.h"

namespace concord::parity {
namespace {

// What the oracle computes for a report: the model once, and three times more for each distinct
// set of precisions; beside it each participant's steps once, on their own operands.
TEST(Cost, OraclePassesAreOneAndThreeForEachPrecision) {
  const std::string folder = CONCORD_SOURCE_DIR "/models/whisper_encoder__dynamo20";
  const auto imported = importer::load(folder).graph;
  const importer::DataSet data = importer::read_data_set(folder + "/test_data_set_0", *imported);
  CompareCase one;
  for (const graph::ValueId id : imported->inputs) {
    one.inputs.push_back(data.inputs.at(imported->value(id).name));
  }
  one.expected = data.outputs;
  WorkerJob job;
  job.model = folder;
  CompareOptions options;
  for (const char* spec : {"cpu", "cpu:threads=1", "cpu:fusion=off", "cpu:precision=bf16"}) {
    options.specs.push_back(parse_spec(spec));
  }
  options.per_step = true;
  options.measure = false;
  int passes = 0;
  options.progress = [&passes](const std::string& what, double fraction) {
    passes += what == "float64 oracle" && fraction == 1 ? 1 : 0;
  };
  const std::vector<CaseReport> reports = compare_model(imported, job, {one}, options);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_EQ(reports[0].participants.size(), 5u);  // the data set's outputs are one
  for (const ParticipantReport& participant : reports[0].participants) {
    EXPECT_EQ(participant.verdict, Verdict::agrees)
        << participant.spec << ": " << participant.error;
  }
  EXPECT_EQ(passes, 1 + 3 * 2);  // float32 and bfloat16
}

}  // namespace
}  // namespace concord::parity
