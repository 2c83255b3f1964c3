// The table of operators: what runs where, told by asking every backend about every folder's nodes.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include <CLI/CLI.hpp>

#include "backends/ranks.h"
#include "backends/registry.h"
#include "backends/session.h"
#include "graph/error.h"
#include "importer/converter_table.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/conformance.h"
#include "tools/concord/commands.h"

namespace concord::tools {
namespace {

struct Options {
  std::vector<std::string> folders;
  std::string backends = "reference,cpu,vulkan";
  std::string output;
  std::string check;
};

// Folders with nodes of an operator, and in how many of them all of these run on the backend.
struct Support {
  int folders = 0;
  std::vector<int> native;
  std::vector<int> by_nature;  // the host's by nature: shapes, strings, sequences
};

// Domain, operator, first opset of the converter's range; −1 without a converter.
using Key = std::tuple<std::string, std::string, std::int64_t>;

std::string full_name(const std::string& domain, const std::string& op) {
  return domain.empty() ? op : domain + "." + op;
}

class Table {
 public:
  explicit Table(std::vector<std::string> backends) : backends_(std::move(backends)) {
    for (const importer::Converter& converter : importer::all_converters()) {
      const Key key{std::string(converter.domain), std::string(converter.op), converter.since};
      rows_[key] = Support{0, zeros(), zeros()};
      until_[key] = converter.until;
    }
  }

  void add(const std::filesystem::path& folder) {
    try {
      add_imported(importer::load(folder), folder);
    } catch (const importer::UnsupportedOperators& error) {
      std::set<std::pair<std::string, std::string>> seen;
      for (const importer::UnsupportedOperator& row : error.rows()) {
        if (!seen.emplace(row.domain, row.op).second) continue;
        ++row_of(row.domain, row.op, row.opset).folders;
      }
    }
  }

  std::string markdown() const {
    std::string text =
        "# Operators\n\n"
        "Written by `concord operators`; `tools/update_operators.sh` does it again. Each row is "
        "one form of an operator, by the opsets of its domain. *Folders* counts ONNX's own "
        "conformance folders with a node of it; a backend's column says in how many of them all "
        "such nodes run on that backend itself. *host*: they work on shapes, strings or sequences, "
        "which no device holds, and the host carries them out for every backend. What a backend "
        "does not run, the CPU does, and the report says so. `cuda` runs what `vulkan` does: they "
        "share their kernels.\n\n"
        "Every folder passes on every backend, but for those that "
        "lists in `tests/conformance` name with a reason; CI runs them all. Operators "
        "without folders, and opsets older than the folders', are tested against values of other "
        "runtimes and of ONNX's definitions in `tests/importer`, as far as its `*_test.cpp` name "
        "them.\n\n"
        "| operator | opsets | folders |";
    for (const std::string& backend : backends_) text += " " + backend + " |";
    text += "\n| --- | --- | ---: |";
    for (std::size_t b = 0; b < backends_.size(); ++b) text += " --- |";
    text += "\n";
    for (const auto& [key, support] : rows_) {
      const auto& [domain, op, since] = key;
      text += "| " + full_name(domain, op) + " | " + range(key) + " | " +
              std::to_string(support.folders) + " |";
      for (std::size_t b = 0; b < backends_.size(); ++b) {
        text += " " + cell(support, b, since >= 0) + " |";
      }
      text += "\n";
    }
    return text;
  }

 private:
  std::vector<int> zeros() const { return std::vector<int>(backends_.size(), 0); }

  Support& row_of(const std::string& domain, const std::string& op, std::int64_t opset) {
    const importer::Converter* converter = importer::find_converter(domain, op, opset);
    Support& row = rows_[{domain, op, converter != nullptr ? converter->since : -1}];
    if (row.native.empty()) row = Support{0, zeros(), zeros()};
    return row;
  }

  void add_imported(const importer::Imported& model, const std::filesystem::path& folder) {
    for (const importer::OperatorUse& use : model.info.operators) {
      if (importer::find_converter(use.domain, use.op, use.opset) == nullptr) continue;
      ++row_of(use.domain, use.op, use.opset).folders;
    }
    const std::shared_ptr<const graph::Graph> graph = ranked(model.graph, folder);
    for (std::size_t b = 0; b < backends_.size(); ++b) {
      std::set<std::string> fallen;
      std::set<std::string> hosts;
      try {
        SessionOptions options;
        options.log = [](const std::string&) {};
        const Session session(graph, parse_spec(backends_[b]), options);
        for (const Fallback& fallback : session.fallbacks()) {
          (fallback.by_nature ? hosts : fallen).insert(fallback.op);
        }
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) {
          throw error.with_context(folder.string() + " on " + backends_[b]);
        }
        continue;  // no backend runs it
      }
      for (const importer::OperatorUse& use : model.info.operators) {
        if (importer::find_converter(use.domain, use.op, use.opset) == nullptr) continue;
        const std::string name = full_name(use.domain, use.op);
        if (fallen.contains(name)) continue;
        Support& row = row_of(use.domain, use.op, use.opset);
        ++(hosts.contains(name) ? row.by_nature : row.native)[b];
      }
    }
  }

  // For the ranks of the folder's data, where the model leaves them open.
  static std::shared_ptr<const graph::Graph> ranked(std::shared_ptr<const graph::Graph> graph,
                                                    const std::filesystem::path& folder) {
    if (input_of_any_rank(*graph) == nullptr) return graph;
    const std::vector<std::filesystem::path> sets = importer::data_sets(folder);
    if (sets.empty()) return graph;
    const std::vector<std::int64_t> ranks =
        ranks_of(*graph, importer::read_data_set(sets.front(), *graph).inputs);
    return with_ranks(std::move(graph), ranks);
  }

  std::string range(const Key& key) const {
    const auto it = until_.find(key);
    if (it == until_.end()) return "–";
    const std::string since = std::to_string(std::get<2>(key));
    if (it->second == importer::kLatest) return since + "+";
    return it->second == std::get<2>(key) ? since : since + "–" + std::to_string(it->second);
  }

  static std::string cell(const Support& support, std::size_t backend, bool is_known) {
    if (!is_known) return "not supported";
    if (support.folders == 0) return "";
    const int native = support.native[backend];
    const int hosts = support.by_nature[backend];
    if (native == support.folders) return "yes";
    if (native + hosts == 0) return "no";
    if (hosts == support.folders) return "host";
    std::string text = std::to_string(native) + " of " + std::to_string(support.folders);
    return hosts > 0 ? text + ", " + std::to_string(hosts) + " host" : text;
  }

  std::vector<std::string> backends_;
  std::map<Key, Support> rows_;
  std::map<Key, std::int64_t> until_;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::stringstream in(list);
  for (std::string item; std::getline(in, item, ',');) items.push_back(item);
  return items;
}

int operators(const Options& options) {
  const std::vector<std::string> backends = split(options.backends);
  // An error of its own, if there is one. Kept open: starting a device for each folder takes a
  // minute.
  std::vector<std::shared_ptr<Backend>> opened;
  for (const std::string& backend : backends) opened.push_back(open_backend(parse_spec(backend)));
  Table table(backends);
  for (const std::string& root : options.folders) {
    for (const auto& folder : parity::model_folders(root)) table.add(folder);
  }
  const std::string text = table.markdown();
  if (options.check.empty()) {
    write_report(options.output.empty() ? "-" : options.output, text);
    return 0;
  }
  std::ifstream in(options.check);
  std::stringstream found;
  found << in.rdbuf();
  if (in && found.str() == text) return 0;
  std::cout << options.check << " is not what this program writes; first line that differs:\n";
  std::stringstream want(text);
  std::string mine;
  std::string theirs;
  while (std::getline(want, mine)) {
    if (!std::getline(found, theirs)) theirs.clear();
    if (mine != theirs) break;
  }
  std::cout << "  file: " << theirs << "\n  now:  " << mine << "\n";
  return exit_code(ErrorKind::diverged);
}

}  // namespace

void add_operators(CLI::App& app, CommonOptions&, int& exit) {
  CLI::App* command = app.add_subcommand(
      "operators", "Write a table of operators: which opsets are known and what runs where");
  auto options = std::make_shared<Options>();
  command
      ->add_option("DIR", options->folders,
                   "Folders in ONNX's test layout, or folders of such folders")
      ->required();
  command->add_option("--backends", options->backends, "Default: reference,cpu,vulkan")
      ->type_name("NAME,...");
  command->add_option("--output", options->output, "Write the table here (default: stdout)")
      ->type_name("FILE");
  command->add_option("--check", options->check, "Compare with this file instead of writing")
      ->type_name("FILE");
  command->footer("Example: concord operators onnx/backend/test/data/node --output operators.md");
  command->callback([options, &exit] { exit = operators(*options); });
}

}  // namespace concord::tools
