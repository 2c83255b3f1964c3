#include "parity/conformance.h"

#include <fstream>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "backends/registry.h"
#include "graph/error.h"
#include "tools/concord/commands.h"

namespace concord::tools {
namespace {

struct Options {
  std::vector<std::string> folders;
  std::string backend = "cpu";
  std::string gaps;
  std::string fallbacks;
  std::string json;
};

// One folder name per line; what follows a blank or '#' is its reason.
std::map<std::string, std::string> read_list(const std::string& option, const std::string& file) {
  std::map<std::string, std::string> list;
  if (file.empty()) return list;
  std::error_code failure;
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, failure)) {
    throw Error(ErrorKind::invalid, file + ": cannot be read",
                option + " takes a file with one folder name per line");
  }
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos || line[start] == '#') continue;
    const std::size_t end = line.find_first_of(" \t", start);
    const std::string reason = end == std::string::npos ? "" : line.substr(end + 1);
    list[line.substr(start, end - start)] = reason;
  }
  return list;
}

struct PerOperator {
  int passed = 0;
  int total = 0;
};

int conformance(const Options& options, const CommonOptions& common) {
  check_targets({{"--json", options.json}});
  const auto gaps = read_list("--gaps", options.gaps);
  const auto fallbacks = read_list("--fallbacks", options.fallbacks);
  std::vector<std::filesystem::path> folders;
  for (const std::string& root : options.folders) {
    for (auto& folder : parity::model_folders(root)) folders.push_back(std::move(folder));
  }
  const std::string spec = common.spec(parse_spec(options.backend)).text;
  static_cast<void>(open_backend(parse_spec(spec)));  // an error of its own, not of each folder
  const bool progress = isatty(STDERR_FILENO) != 0 && !common.quiet;
  std::size_t count = 0;
  const auto results = parity::check_folders(
      folders, spec, common.job({}, spec), [&](const parity::FolderResult& result) {
        ++count;
        if (progress) {
          std::cerr << "\r\033[K" << count << "/" << folders.size() << " "
                    << std::filesystem::path(result.folder).filename().string() << std::flush;
        }
      });
  if (progress) std::cerr << "\r\033[K";

  std::map<std::string, PerOperator> operators;
  std::map<std::string, int> causes;
  nlohmann::json failed = nlohmann::json::array();
  nlohmann::json fell_back = nlohmann::json::array();
  std::size_t passed = 0;
  std::size_t native = 0;
  int unexpected = 0;
  std::vector<std::string> stale;
  std::vector<std::string> native_now;
  const bool text = options.json != "-";
  for (const parity::FolderResult& result : results) {
    const std::string name = std::filesystem::path(result.folder).filename().string();
    PerOperator& row = operators[result.op.empty() ? "(no operator)" : result.op];
    ++row.total;
    if (result.passed) {
      ++row.passed;
      ++passed;
      native += result.native ? 1 : 0;
      const bool expected = fallbacks.contains(name);
      if (result.native && expected) native_now.push_back(name);
      if (!result.native) {
        fell_back.push_back(
            {{"folder", result.folder}, {"operator", result.op}, {"reason", result.fallback}});
        if (!options.fallbacks.empty() && !expected) {
          ++unexpected;
          if (text) std::cout << "FELL BACK " << name << " (" << result.fallback << ")\n";
        }
      }
      if (gaps.contains(name)) stale.push_back(name);
      continue;
    }
    ++causes[result.unsupported ? "unsupported" : "wrong or failed"];
    failed.push_back({{"folder", result.folder}, {"operator", result.op}, {"cause", result.cause}});
    const bool known = gaps.contains(name);
    unexpected += known ? 0 : 1;
    if (text && (!common.quiet || !known)) {
      std::cout << (known ? "gap    " : "FAILED ") << name << " (" << result.op
                << "): " << result.cause << "\n";
    }
  }
  if (text) {
    if (common.verbose) {
      for (const auto& [op, row] : operators) {
        std::cout << "  " << op << ": " << row.passed << " of " << row.total << "\n";
      }
    }
    for (const std::string& name : stale) {
      std::cout << "passes now, though the gaps file lists it: " << name << "\n";
    }
    for (const std::string& name : native_now) {
      std::cout << "needs no fallback now, though the file of fallbacks lists it: " << name << "\n";
    }
    std::cout << spec << ": " << passed << " of " << results.size() << " folders pass, " << native
              << " of them without fallback";
    for (const auto& [cause, n] : causes) std::cout << "; " << n << " " << cause;
    std::cout << "\n";
  }
  if (!options.json.empty()) {
    const nlohmann::json report = {
        {"schema", 1},           {"backend", spec},         {"total", results.size()},
        {"passed", passed},      {"passed_native", native}, {"failed", failed},
        {"fell_back", fell_back}};
    write_report(options.json,
                 report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  return unexpected > 0 || !stale.empty() || !native_now.empty() ? exit_code(ErrorKind::diverged)
                                                                 : 0;
}

}  // namespace

void add_conformance(CLI::App& app, CommonOptions& common, int& exit) {
  CLI::App* command =
      app.add_subcommand("conformance", "Check folders in ONNX's test layout on one backend");
  auto options = std::make_shared<Options>();
  command->add_option("DIR", options->folders, "A model folder, or a folder of such folders")
      ->required();
  command->add_option("--backend", options->backend, "Default: cpu")->type_name("SPEC");
  command->add_option("--gaps", options->gaps, "Folders that are expected to fail, with reasons")
      ->type_name("FILE");
  command
      ->add_option(
          "--fallbacks", options->fallbacks,
          "Folders that are expected to pass with fallback only; others must not fall back")
      ->type_name("FILE");
  command->add_option("--json", options->json, "Write JSON (- for stdout)")->type_name("FILE");
  add_common_options(*command, common);
  command->footer("Example: concord conformance onnx/backend/test/data/node --backend cpu");
  command->callback([options, &common, &exit] { exit = conformance(*options, common); });
}

}  // namespace concord::tools
