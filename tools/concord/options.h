#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/error.h"
#include "graph/graph.h"
#include "importer/importer.h"
#include "parity/worker.h"

namespace concord::tools {

// What every subcommand takes.
struct CommonOptions {
  bool no_fallback = false;
  bool verbose = false;
  bool quiet = false;
  std::string external_root;
  std::vector<std::string> disabled_passes;
  int threads = 0;
  std::string isa;

  importer::ImportOptions import_options() const;
  // The spec with --threads and --isa, where it does not set them itself.
  BackendSpec spec(const BackendSpec& written) const;
  parity::WorkerJob job(const std::filesystem::path& model, const std::string& spec) const;
};

// INPUTS of the command line.
struct InputOptions {
  std::vector<std::string> inputs;  // DIR, FILE.npz or NAME=FILE
  std::vector<std::string> set;     // DIM=N[,N…]
  std::uint64_t seed = 0;
};

// One set of inputs to run a model on.
struct InputCase {
  std::string label;  // "test_data_set_0", "batch=1 seq=16"
  Bindings dims;
  std::vector<Tensor> inputs;                 // in the model's order
  std::map<std::string, Tensor> expected;     // outputs by name, where the data set has them
  bool generated = false;                     // all of the inputs
  std::vector<std::string> generated_inputs;  // or those of these names
  std::string generated_text() const;         // " (generated inputs)", empty for none
};

// The cases that the options ask for: given files, or generated inputs for each combination of
// --set, or the data sets of the model's folder (all of them, or only the first).
std::vector<InputCase> input_cases(const std::filesystem::path& model, const graph::Graph& graph,
                                   const InputOptions& options, bool all_data_sets);

// --set DIM=N[,N…]…: every combination.
std::vector<Bindings> parse_set(const std::vector<std::string>& words);

// The specs of --backends; without it, every backend that starts here (the oracle is not one of
// them). Those that do not start are named in `skipped` with the reason.
std::vector<BackendSpec> chosen_backends(const std::string& list, const CommonOptions& common,
                                         std::vector<std::string>& skipped);

// Where a report goes, by the option that says it; empty: nowhere.
struct Target {
  const char* option;
  const std::string& file;
};
// Before any work: throws Error(usage) if two reports have one target, or one cannot be made.
void check_targets(std::initializer_list<Target> targets);

// The error with the model's path before it, unless the path is in it.
Error about_model(const Error& error, const std::filesystem::path& model);
// Runs the work and gives its errors the model's path.
void about_model(const std::filesystem::path& model, const std::function<void()>& work);

// The exception that is being handled, as an error to report.
Error caught_error();

// One line and a hint on stderr; the exit code.
int print_error(const Error& error);

// Each spec in each precision; one that names a precision itself stays as it is.
std::vector<BackendSpec> in_precisions(const std::vector<BackendSpec>& specs,
                                       const std::vector<std::string>& precisions);

std::string now_text();  // ISO 8601, UTC

// Shows what is going on, on a line of stderr that the next call overwrites, if that is a terminal
// and --quiet is not given; an empty text wipes it.
void show_progress(const CommonOptions& common, const std::string& what, double fraction);

// Writes text to a file, or to stdout for "-"; throws Error(failed) if the system refuses.
void write_report(const std::string& target, const std::string& text);

}  // namespace concord::tools
