#include "parity/conformance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "backends/ranks.h"
#include "backends/session.h"
#include "graph/complex.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/worker_json.h"
#include "parity/worker_process.h"

namespace concord::parity {
namespace {

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;
constexpr double kRelativeBf16 = 0x1p-6;

std::string element_text(const Tensor& tensor, std::int64_t index) {
  if (tensor.dtype() == DataType::string) {
    return "'" + tensor.strings()[static_cast<std::size_t>(index)] + "'";
  }
  if (!is_float(tensor.dtype())) return std::to_string(tensor.at_int(index));
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", tensor.at_double(index));
  return text;
}

bool element_agrees(const Tensor& a, const Tensor& e, std::int64_t i) {
  if (a.dtype() == DataType::string) {
    return a.strings()[static_cast<std::size_t>(i)] == e.strings()[static_cast<std::size_t>(i)];
  }
  if (!is_float(a.dtype())) return a.at_int(i) == e.at_int(i);
  const double x = a.at_double(i);
  const double y = e.at_double(i);
  if (std::isnan(y)) return std::isnan(x);
  if (std::isinf(y)) return x == y;
  const double rtol = a.dtype() == DataType::bf16 ? kRelativeBf16 : kRelative;
  return std::abs(x - y) <= kAbsolute + rtol * std::abs(y);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The first node that did not stay on the session's backend and why; empty if all that write
// outputs did.
std::string first_fallback(const Session& session) {
  const auto& fallbacks = session.fallbacks();
  const auto first =
      std::ranges::find_if(fallbacks, [](const Fallback& f) { return !f.by_nature; });
  return first == fallbacks.end() ? "" : first->op + ": " + first->reason;
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() != expected.dtype()) {
    return "is " + std::string(to_string(actual.dtype())) + ", expected " +
           std::string(to_string(expected.dtype()));
  }
  if (actual.shape() != expected.shape()) {
    return "has shape " + to_string(actual.shape()) + ", expected " + to_string(expected.shape());
  }
  if (is_container(actual.dtype())) {
    for (std::size_t i = 0; i < actual.items().size(); ++i) {
      const std::string what = difference(actual.items()[i], expected.items()[i]);
      if (!what.empty()) return "item " + std::to_string(i) + " " + what;
    }
    return "";
  }
  if (is_complex(actual.dtype())) return difference(parts_of(actual), parts_of(expected));
  std::int64_t bad = 0;
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    if (element_agrees(actual, expected, i)) continue;
    if (bad++ == 0) first = i;
  }
  if (bad == 0) return "";
  return std::to_string(bad) + " of " + std::to_string(actual.count()) +
         " elements differ; element " + std::to_string(first) + " is " +
         element_text(actual, first) + ", expected " + element_text(expected, first);
}

FolderResult check_folder(const std::filesystem::path& folder, const std::string& spec,
                          const WorkerJob& options) {
  FolderResult result;
  result.folder = folder.string();
  try {
    importer::ImportOptions import;
    import.external_root = options.external_root;
    const importer::Imported model = importer::load(folder, import);
    if (!model.info.operators.empty()) {
      const importer::OperatorUse& use = model.info.operators.front();
      result.op = (use.domain.empty() ? "" : use.domain + ".") + use.op;
    }
    SessionOptions session_options;
    session_options.allow_fallback = options.allow_fallback;
    session_options.disabled_passes = options.disabled_passes;
    session_options.log = [](const std::string&) {};
    const auto sets = importer::data_sets(folder);
    if (sets.empty()) throw Error(ErrorKind::invalid, "no test_data_set_N in the folder");
    std::size_t compared = 0;
    std::optional<Session> session;
    for (const std::filesystem::path& set : sets) {
      const importer::DataSet data = importer::read_data_set(set, *model.graph);
      // A model that leaves ranks open is another graph for each data set.
      if (!session || input_of_any_rank(*model.graph) != nullptr) {
        session.emplace(with_ranks(model.graph, ranks_of(*model.graph, data.inputs)),
                        parse_spec(spec), session_options);
        if (result.fallback.empty()) result.fallback = first_fallback(*session);
        result.native = result.fallback.empty();
      }
      std::vector<SessionStep> steps;
      RunOptions run;
      run.steps = &steps;
      const std::vector<Tensor> outputs = session->run(data.inputs, run);
      // A node that is planned when its operands are there may find only then that it must go
      // elsewhere.
      const auto moved = std::ranges::find_if(steps, [&](const SessionStep& step) {
        return step.backend == "cpu" && parse_spec(spec).backend != "cpu";
      });
      if (moved != steps.end() && result.native) {
        result.native = false;
        result.fallback = "a step that could not be planned here ran on cpu: " + moved->info.kernel;
      }
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = model.graph->value(model.graph->outputs[i]).name;
        const auto expected = data.outputs.find(name);
        if (expected == data.outputs.end()) continue;
        ++compared;
        const std::string what = difference(outputs[i], expected->second);
        if (!what.empty()) {
          result.cause = set.filename().string() + ": output '" + name + "' " + what;
          return result;
        }
      }
    }
    if (compared == 0) {
      throw Error(ErrorKind::invalid, "compared nothing: no data set has an expected output");
    }
    result.passed = true;
  } catch (const importer::UnsupportedOperators& error) {
    const importer::UnsupportedOperator& first = error.rows().front();
    result.op = (first.domain.empty() ? "" : first.domain + ".") + first.op;
    result.cause = first_line(error.what());
    result.unsupported = true;
  } catch (const Error& error) {
    result.cause = first_line(error.what());
    result.unsupported = error.kind() == ErrorKind::unsupported;
  } catch (const std::exception& error) {
    result.cause = std::string("internal: ") + first_line(error.what());
  }
  return result;
}

std::vector<std::filesystem::path> model_folders(const std::filesystem::path& root) {
  if (std::filesystem::exists(root / "model.onnx")) return {root};
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    if (std::filesystem::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  if (error) {
    throw Error(ErrorKind::invalid, root.string() + ": " + error.message(),
                "give a folder with model.onnx, or one that holds such folders");
  }
  if (folders.empty()) {
    throw Error(ErrorKind::invalid, root.string() + " holds no folder with a model.onnx",
                "give a folder in ONNX's test layout, or one that holds such folders");
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

FolderWorker::FolderWorker(const std::string& spec, const WorkerJob& options)
    : spec_(spec),
      options_(options),
      process_(std::make_unique<WorkerProcess>(spec, options.timeout_s)) {
  options_.spec = spec;
}

FolderWorker::~FolderWorker() = default;

FolderResult FolderWorker::check(const std::filesystem::path& folder) {
  WorkerJob job = options_;
  job.model = folder;
  const nlohmann::json j = process_->ask({{"command", "folder"}, {"job", to_json(job)}});
  return {folder.string(),
          j.at("passed").get<bool>(),
          j.at("native").get<bool>(),
          j.at("op").get<std::string>(),
          j.at("cause").get<std::string>(),
          j.at("unsupported").get<bool>(),
          j.at("fallback").get<std::string>()};
}

std::vector<FolderResult> check_folders(const std::vector<std::filesystem::path>& folders,
                                        const std::string& spec, const WorkerJob& options,
                                        const std::function<void(const FolderResult&)>& done) {
  std::vector<FolderResult> results;
  std::optional<FolderWorker> worker;
  for (const std::filesystem::path& folder : folders) {
    FolderResult result;
    try {
      if (!worker) worker.emplace(spec, options);
      result = worker->check(folder);
    } catch (const Error& error) {
      worker.reset();
      result.folder = folder.string();
      result.cause = error.what();
    }
    done(result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace concord::parity
