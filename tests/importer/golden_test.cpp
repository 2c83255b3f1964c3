// Whole models as they are imported, compared with texts under golden/. After a change that is
// meant, CONCORD_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it.
#include <cstdlib>
#include <regex>

#include "tests/importer/onnx_model.h"

namespace concord::importer {
namespace {

namespace fs = std::filesystem;

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, DumpIsAsBefore) {
  const fs::path root = CONCORD_SOURCE_DIR;
  const Imported imported = load(root / "models" / GetParam());
  const std::string text =
      std::regex_replace(graph::dump(*imported.graph), std::regex("\\?[a-z]*[0-9]+"), "?");
  const fs::path file = root / "tests/importer/golden" / (std::string(GetParam()) + ".txt");
  if (std::getenv("CONCORD_UPDATE_GOLDEN") != nullptr) write(file, text);
  EXPECT_EQ(text, read(file));
}

INSTANTIATE_TEST_SUITE_P(Importer, Golden,
                         ::testing::Values("gru__script17", "silero_vad_16k", "vit__dynamo20"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace concord::importer
