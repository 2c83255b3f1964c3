#pragma once

#include "tools/concord/options.h"

namespace CLI {
class App;
}

namespace concord::tools {

// Each adds its subcommand; when it is parsed, its callback runs it and sets the exit code.
void add_devices(CLI::App& app, CommonOptions& common, int& exit);
void add_inspect(CLI::App& app, CommonOptions& common, int& exit);
void add_run(CLI::App& app, CommonOptions& common, int& exit);
void add_parity(CLI::App& app, CommonOptions& common, int& exit);
void add_bench(CLI::App& app, CommonOptions& common, int& exit);
void add_conformance(CLI::App& app, CommonOptions& common, int& exit);

// The options that a subcommand's INPUTS stand for, and those that stand everywhere.
void add_input_options(CLI::App& command, InputOptions& inputs);
void add_precision_option(CLI::App& command, std::vector<std::string>& precisions);
void add_common_options(CLI::App& command, CommonOptions& common);

}  // namespace concord::tools
