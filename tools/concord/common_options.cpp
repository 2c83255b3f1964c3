#include <CLI/CLI.hpp>

#include "tools/concord/commands.h"

namespace concord::tools {

void add_input_options(CLI::App& command, InputOptions& inputs) {
  command
      .add_option("--inputs", inputs.inputs,
                  "Folder of input_N.pb or NAME.npy, a FILE.npz, or NAME=FILE.npy ...")
      ->type_name("DIR|FILE|NAME=FILE");
  command.add_option("--set", inputs.set, "Sizes of symbolic dimensions; several multiply")
      ->type_name("DIM=N[,N]")
      ->take_all();
  command.add_option("--seed", inputs.seed, "Seed of generated inputs (default 0)")->type_name("N");
}

void add_precision_option(CLI::App& command, std::vector<std::string>& precisions) {
  command
      .add_option("--precision", precisions,
                  "Each backend in each of these; what one does not have is skipped")
      ->type_name("P[,P]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"model", "f32", "tf32", "bf16", "f16", "int8"}));
}

void add_common_options(CLI::App& command, CommonOptions& common) {
  command.add_flag("--no-fallback", common.no_fallback,
                   "A node that its backend cannot run is an error");
  command
      .add_option("--external-root", common.external_root,
                  "Folder that external data may also lie in")
      ->type_name("DIR");
  command.add_option("--disable-pass", common.disabled_passes, "Switch an optimisation off")
      ->type_name("NAME")
      ->take_all();
  command.add_option("--threads", common.threads, "Threads of the CPU backend")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  command.add_option("--isa", common.isa, "Instruction set of the CPU backend")
      ->type_name("avx2|avx512|native")
      ->check(CLI::IsMember({"avx2", "avx512", "native"}));
  command.add_flag("--verbose", common.verbose, "Tell more");
  command.add_flag("--quiet", common.quiet, "Tell only results and errors");
}

}  // namespace concord::tools
