#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/build_id.h"
#include "backends/registry.h"
#include "graph/error.h"
#include "importer/interrupt.h"
#include "parity/worker.h"
#include "tools/concord/commands.h"
#include "tools/concord/validators.h"

namespace concord::tools {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  concord parity model.onnx --set seq=16,128 --html report.html\n"
    "  concord bench model.onnx --backends cpu,vulkan --per-step\n"
    "\n"
    "Exit codes: 0 agrees, 1 diverged, 2 usage or invalid input, 3 unsupported,\n"
    "4 slower than the baseline, 5 a backend, device or the machine failed.";

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 80;
}

void print_version() {
  std::cout << "concord " << CONCORD_VERSION << " (build " << CONCORD_BUILD_ID << ")\n";
  for (const BackendStatus& status : list_backends()) {
    std::cout << "  " << status.name << ": ";
    if (!status.available) {
      std::cout << "not available: " << status.reason << "\n";
      continue;
    }
    try {
      std::cout << open_backend(parse_spec(status.name))->version() << "\n";
    } catch (const Error& error) {
      std::cout << "not available: " << error.what() << "\n";
    }
  }
}

int run(int argc, char** argv) {
  CLI::App app("Runs ONNX models on several backends and tells whether they agree.", "concord");
  const std::size_t width = terminal_width();
  app.get_formatter()->column_width(std::min<std::size_t>(34, width / 2));
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  bool version = false;
  app.add_flag("--version", version, "Versions of the program, its libraries and the drivers");
  CommonOptions common;
  int exit = 0;
  add_devices(app, common, exit);
  add_inspect(app, common, exit);
  add_run(app, common, exit);
  add_parity(app, common, exit);
  add_bench(app, common, exit);
  add_conformance(app, common, exit);
  add_operators(app, common, exit);
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
  bool helped = false;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    exit = app.exit(done);
    helped = true;
  } catch (const CLI::ParseError& error) {
    std::string help = "see concord";
    for (const CLI::App* command : app.get_subcommands()) help += " " + command->get_name();
    return print_error(Error(ErrorKind::usage, error.what(), help + " --help"));
  }
  if (version) {
    print_version();
  } else if (!helped && app.get_subcommands().empty()) {
    std::cout << app.help();
  }
  if (!std::cout.flush()) {
    throw Error(ErrorKind::failed, "cannot write to the standard output",
                "see whether its disk is full or its reader has gone");
  }
  return exit;
}

}  // namespace
}  // namespace concord::tools

int main(int argc, char** argv) {
  // A file that may not grow is then an error of write(), with a message, and not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  if (argc == 2 && std::strcmp(argv[1], "worker") == 0) return concord::parity::worker_main();
  concord::importer::clean_up_on_signals();
  try {
    return concord::tools::run(argc, argv);
  } catch (const std::exception&) {
    return concord::tools::print_error(concord::tools::caught_error());
  }
}
