#include "parity/minimise.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "graph/error.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/model_part.h"
#include "parity/toggles.h"

namespace concord::parity {
namespace {

using graph::Graph;
using Nodes = PartMaker::Nodes;
using Part = PartMaker::Part;

// A folder for candidates that goes with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "concord-part-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorKind::failed, "cannot make a folder for parts of the model",
                  "free some space, or set TMPDIR to a folder that can be written");
    }
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

class Minimiser {
 public:
  Minimiser(const std::shared_ptr<const Graph>& imported, const WorkerJob& job,
            const std::vector<Tensor>& inputs, const Signature& wanted,
            const MinimiseOptions& options)
      : job_(job),
        options_(options),
        wanted_(wanted),
        maker_(imported, job, inputs, scratch_.folder()) {
    job_.model = scratch_.folder() / "part";
    std::filesystem::create_directories(job_.model);
  }

  // Parts that fail alike, each smaller than the one before.
  std::vector<Part> reduce(const std::optional<Nodes>& start) {
    std::vector<Part> kept;
    if (start) {
      // A step's failure may need its neighbours, which decided how it was fused.
      Nodes nodes = *start;
      for (int ring = 0; ring < 6 && kept.empty(); ++ring) {
        for (const bool fixed : {false, true}) {
          if (kept.empty() && keeps({nodes, {}, fixed})) kept.push_back({nodes, {}, fixed});
        }
        const Nodes larger = maker_.grown(nodes);
        if (larger == nodes) break;
        nodes = larger;
      }
    }
    if (kept.empty()) {
      const Part whole{maker_.all(), {}, false};
      if (!keeps(whole)) return kept;
      kept.push_back(whole);
      narrow(kept);
    }
    drop(kept);
    // Shapes that became weights contradict symbols.
    if (Part fixed = kept.back(); !fixed.fixed && fixed.nodes.size() > 1) {
      fixed.fixed = true;
      if (keeps(fixed)) {
        kept.push_back(std::move(fixed));
        drop(kept);
      }
    }
    shrink(kept);
    return kept;
  }

  bool write(const Part& part, const std::filesystem::path& folder) const {
    return maker_.write(part, folder);
  }
  PartMaker& maker() { return maker_; }
  int tried() const { return tried_; }

 private:
  bool keeps(const Part& part) {
    if (tried_ >= options_.most_candidates) return false;
    ++tried_;
    if (options_.progress) options_.progress(tried_);
    try {
      if (!maker_.write(part, job_.model)) return false;
      return signature_of(examine_part(job_, options_, wanted_.kind == Signature::Kind::output)) ==
             wanted_;
    } catch (const Error&) {
      return false;  // it is no model
    }
  }

 public:
  // The part in a folder, on its own data set.
  static Examination examine_part(const WorkerJob& job, const MinimiseOptions& options,
                                  bool outputs) {
    const auto imported = importer::load(job.model).graph;
    const importer::DataSet set = importer::read_data_set(job.model / "test_data_set_0", *imported);
    std::vector<Tensor> inputs;
    for (const graph::ValueId id : imported->inputs) {
      inputs.push_back(set.inputs.at(imported->value(id).name));
    }
    OraclePass oracle(imported, inputs);
    oracle.allow(options.tolerance);
    return examine(imported, job, oracle, outputs);
  }

 private:
  // Without a step to start from: the shortest run of nodes, in the file's order, that fails.
  void narrow(std::vector<Part>& kept) {
    std::vector<std::size_t> order(kept.back().nodes.begin(), kept.back().nodes.end());
    const auto part = [&](std::size_t first, std::size_t last) {
      return Part{Nodes(order.begin() + static_cast<std::ptrdiff_t>(first),
                        order.begin() + static_cast<std::ptrdiff_t>(last)),
                  {},
                  false};
    };
    std::size_t last = order.size();
    for (std::size_t low = 1; low < last;) {
      const std::size_t middle = low + (last - low) / 2;
      if (keeps(part(0, middle))) {
        last = middle;
      } else {
        low = middle + 1;
      }
    }
    std::size_t first = 0;
    for (std::size_t high = last - 1; first < high;) {
      const std::size_t middle = first + (high - first + 1) / 2;
      if (keeps(part(middle, last))) {
        first = middle;
      } else {
        high = middle - 1;
      }
    }
    if (first > 0 || last < order.size()) kept.push_back(part(first, last));
  }

  // Leaves out nodes, many at once first, as long as the failure stays.
  void drop(std::vector<Part>& kept) {
    std::size_t chunk = std::max<std::size_t>(kept.back().nodes.size() / 2, 1);
    while (kept.back().nodes.size() > 1) {
      bool any = false;
      std::vector<std::size_t> order(kept.back().nodes.begin(), kept.back().nodes.end());
      for (std::size_t at = 0; at < order.size(); at += chunk) {
        Part less = kept.back();
        for (std::size_t i = at; i < std::min(at + chunk, order.size()); ++i) {
          less.nodes.erase(order[i]);
        }
        if (less.nodes.empty() || less.nodes.size() == kept.back().nodes.size()) continue;
        if (!keeps(less)) continue;
        kept.push_back(std::move(less));
        any = true;
      }
      if (chunk == 1 && !any) return;
      if (!any) chunk = std::max<std::size_t>(chunk / 2, 1);
    }
  }

  // Makes symbolic sizes small, one after the other.
  void shrink(std::vector<Part>& kept) {
    for (const auto& [symbol, size] : maker_.symbols(kept.back().nodes)) {
      for (const std::int64_t smaller : {std::int64_t{1}, std::int64_t{2}, size / 4, size / 2}) {
        if (smaller < 1 || smaller >= size) continue;
        Part part = kept.back();
        part.sizes[symbol] = smaller;
        if (!keeps(part)) continue;
        kept.push_back(std::move(part));
        break;
      }
    }
  }

  WorkerJob job_;
  const MinimiseOptions& options_;
  Signature wanted_;
  Scratch scratch_;
  PartMaker maker_;
  int tried_ = 0;
};

std::string shell_word(const std::string& word) {
  if (word.find_first_of(" '\"$\\()&;|<>*?") == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// Toggles that cure the part as they cure the whole, as far as the part knows them.
bool same_cures(const std::set<std::string>& whole, const std::vector<ToggleReport>& part) {
  std::set<std::string> known;
  for (const ToggleReport& toggle : part) known.insert(toggle.name);
  std::set<std::string> expected;
  std::set_intersection(whole.begin(), whole.end(), known.begin(), known.end(),
                        std::inserter(expected, expected.end()));
  return cures(part) == expected && expected.empty() == whole.empty();
}

}  // namespace

std::string Signature::text() const {
  switch (kind) {
    case Kind::step:
      return "step " + op + " " + verdict;
    case Kind::output:
      return "output " + verdict;
    case Kind::crash:
      return crash;
    case Kind::none:
      break;
  }
  return "no failure";
}

Signature signature_of(const Examination& examination) {
  Signature signature;
  if (examination.failed) {
    signature.kind = Signature::Kind::crash;
    const std::string what = examination.failed->what();
    const std::size_t crashed = what.find("crashed with signal");
    signature.crash =
        crashed != std::string::npos
            ? what.substr(crashed)
            : "an error of kind " + std::to_string(static_cast<int>(examination.failed->kind()));
    return signature;
  }
  if (const StepReport* fault = examination.fault()) {
    signature.kind = Signature::Kind::step;
    signature.op = fault->op;
    signature.verdict = to_string(fault->verdict);
    return signature;
  }
  if (examination.verdict() > Verdict::branched) {
    signature.kind = Signature::Kind::output;
    signature.verdict = to_string(examination.verdict());
  }
  return signature;
}

MinimalReport minimise(const std::shared_ptr<const Graph>& imported, const WorkerJob& job,
                       const std::vector<Tensor>& inputs, const Examination& failure,
                       const std::set<std::string>& cured_by, const MinimiseOptions& options) {
  MinimalReport report;
  const Signature wanted = signature_of(failure);
  report.signature = wanted.text();
  try {
    Minimiser minimiser(imported, job, inputs, wanted, options);
    std::optional<Nodes> start;
    if (wanted.kind == Signature::Kind::step) {
      start = minimiser.maker().members(*failure.optimised, *failure.fault());
    }
    std::vector<Part> kept = minimiser.reduce(start);
    report.tried = minimiser.tried();
    if (kept.empty()) {
      report.error = "no part of the model with the oracle's values on its borders fails alike";
      return report;
    }
    std::filesystem::create_directories(options.folder);
    WorkerJob final_job = job;
    final_job.model = options.folder;
    // The smallest part that the same toggles cure; the smallest of all if there is none.
    for (std::size_t i = kept.size(); i-- > 0;) {
      if (!minimiser.write(kept[i], options.folder)) continue;
      const Examination part = Minimiser::examine_part(final_job, options, true);
      report.nodes = static_cast<int>(kept[i].nodes.size());
      report.steps = static_cast<int>(part.worker_steps.size());
      if (!options.toggles) break;
      const auto loaded = importer::load(options.folder).graph;
      OraclePass oracle(loaded, [&] {
        const auto set = importer::read_data_set(options.folder / "test_data_set_0", *loaded);
        std::vector<Tensor> list;
        for (const graph::ValueId id : loaded->inputs) {
          list.push_back(set.inputs.at(loaded->value(id).name));
        }
        return list;
      }());
      oracle.allow(options.tolerance);
      report.keeps_cures = same_cures(cured_by, try_toggles(loaded, final_job, part, oracle));
      if (report.keeps_cures) break;
    }
    report.folder = options.folder.string();
    report.command = "concord parity " + shell_word(report.folder) + " --backends " +
                     shell_word(job.spec) + " --per-step";
    for (const std::string& word : options.command_tail) report.command += " " + shell_word(word);
    importer::write_file(options.folder / "command.txt", report.command + "\n");
  } catch (const Error& error) {
    report.error = error.what();
  }
  return report;
}

}  // namespace concord::parity
