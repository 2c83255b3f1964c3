#include <cstdlib>
#include <fstream>
#include <sstream>

#include "graph/schema.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "tests/graph/graph_case.h"

namespace concord::graph {
namespace {

namespace fs = std::filesystem;

// The bundled models, and those in the folder that CONCORD_MORE_MODELS names.
std::vector<fs::path> folders() {
  std::vector<fs::path> roots{fs::path(CONCORD_SOURCE_DIR) / "models"};
  if (const char* more = std::getenv("CONCORD_MORE_MODELS")) roots.emplace_back(more);
  std::map<std::string, fs::path> found;
  for (const fs::path& root : roots) {
    if (!fs::is_directory(root)) continue;
    for (const auto& entry : fs::directory_iterator(root)) {
      if (fs::exists(entry.path() / "model.onnx")) {
        found.emplace(entry.path().filename().string(), entry.path());
      }
    }
  }
  std::vector<fs::path> list;
  for (const auto& [name, path] : found) list.push_back(path);
  return list;
}

std::optional<importer::Imported> load(const fs::path& folder) {
  try {
    return importer::load(folder);
  } catch (const importer::UnsupportedOperators&) {
    return std::nullopt;
  }
}

// "name op=n op=n …" by name.
std::map<std::string, std::string> golden() {
  std::map<std::string, std::string> lines;
  std::ifstream file(fs::path(CONCORD_SOURCE_DIR) / "tests/graph/op_counts.txt");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    const auto blank = line.find(' ');
    lines[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return lines;
}

std::string line_of(const Graph& graph) {
  std::string line;
  for (const auto& [kind, n] : count_ops(graph)) {
    line += (line.empty() ? "" : " ") + kind + "=" + std::to_string(n);
  }
  return line;
}

TEST(Models, OptimiseToTheOperatorsThatTheyAreMadeOf) {
  const auto expected = golden();
  std::string all;
  for (const fs::path& folder : folders()) {
    const auto model = load(folder);
    if (!model) continue;
    const std::string name = folder.filename().string();
    SCOPED_TRACE(name);
    const Graph graph = optimise(*model->graph, folding());
    const std::string line = line_of(graph);
    all += name + " " + line + "\n";
    const auto it = expected.find(name);
    if (it != expected.end()) {
      EXPECT_EQ(line, it->second);
    }
  }
  // What to put into op_counts.txt when a change is meant.
  std::ofstream(fs::path(CONCORD_BINARY_DIR) / "op_counts.txt") << all;
}

TEST(Models, VerifyAfterImportAndAfterEachPass) {
  for (const fs::path& folder : folders()) {
    const auto model = load(folder);
    if (!model) continue;
    SCOPED_TRACE(folder.filename().string());
    verify(*model->graph);
    for (const Pass& pass : passes()) {
      PassOptions options = folding();
      options.disabled = {std::string(pass.name)};
      const Graph graph = optimise(*model->graph, options);
      ASSERT_NO_THROW(verify(graph)) << "without " << pass.name;
    }
    // Neither inferring again nor optimising what is optimised changes anything.
    const Graph once = optimise(*model->graph, folding());
    Graph again = once;
    infer(again);
    EXPECT_EQ(dump(once), dump(again));
    const Graph twice = optimise(once, folding());
    EXPECT_EQ(line_of(once), line_of(twice));
  }
}

TEST(Models, GiveTheSameOptimised) {
  for (const fs::path& folder : folders()) {
    const auto model = load(folder);
    if (!model) continue;
    SCOPED_TRACE(folder.filename().string());
    const Graph graph = optimise(*model->graph, folding());
    const auto sets = importer::data_sets(folder);
    // Models of 16-bit or quantised types round at casts that fusions remove.
    const std::string name = folder.filename().string();
    bool rounds = false;
    for (const NodeId id : model->graph->order()) {
      const Node& node = model->graph->node(id);
      rounds = rounds || node.op == OpKind::quantize || node.op == OpKind::dynamic_quantize;
      for (const ValueId output : node.outputs) {
        if (!output.valid()) continue;
        const DataType type = model->graph->value(output).dtype;
        rounds = rounds || type == DataType::f16 || type == DataType::bf16;
      }
    }
    for (const fs::path& set : sets) {
      const auto data = importer::read_data_set(set, *model->graph);
      std::vector<Tensor> inputs;
      for (const ValueId id : model->graph->inputs) {
        inputs.push_back(data.inputs.at(model->graph->value(id).name));
      }
      expect_same(*model->graph, graph, inputs, rounds ? 2e-2 : 2e-5);
    }
  }
}

}  // namespace
}  // namespace concord::graph
