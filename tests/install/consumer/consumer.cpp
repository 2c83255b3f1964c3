// Runs MODEL on zeros on the named backends, and fails where an output differs between them.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "backends/session.h"
#include "importer/importer.h"

namespace {

using concord::Tensor;

std::vector<Tensor> run_on_zeros(const concord::importer::Imported& model,
                                 const std::string& backend) {
  concord::Session session(model.graph, backend);
  std::map<std::string, Tensor> inputs;
  for (const auto id : model.graph->inputs) {
    const auto& value = model.graph->value(id);
    concord::Shape shape;
    // Symbolic dimensions, [batch, seq], of 3 each.
    for (const auto& dim : value.shape.value()) shape.push_back(dim.constant().value_or(3));
    inputs.emplace(value.name, Tensor::zeros(value.dtype, shape));
  }
  return session.run(inputs);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto model = concord::importer::load(argv[1]);
    const std::vector<Tensor> truth = run_on_zeros(model, "reference");
    for (int arg = 2; arg < argc; ++arg) {
      const std::vector<Tensor> outputs = run_on_zeros(model, argv[arg]);
      double worst = 0;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].shape() != truth[i].shape()) return 1;
        for (std::int64_t k = 0; k < outputs[i].count(); ++k) {
          const double want = truth[i].at_double(k);
          const double error = std::fabs(outputs[i].at_double(k) - want);
          if (!(error <= 1e-4 + 1e-3 * std::fabs(want))) return 1;
          worst = std::fmax(worst, error);
        }
      }
      std::printf("%s: %zu outputs, at most %.2g from the oracle's\n", argv[arg], outputs.size(),
                  worst);
    }
    return argc > 2 && !truth.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
