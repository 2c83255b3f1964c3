#pragma once

#include <filesystem>
#include <list>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>
#include <sys/types.h>

#include "importer/descriptor.h"
#include "importer/interrupt.h"

namespace concord::parity {

// A child process that answers JSON lines, and the spool folder that it shares with its parent.
class WorkerProcess {
 public:
  // `label` names the participant in messages; a command that takes longer than `timeout_s` ends
  // it.
  WorkerProcess(std::string label, double timeout_s);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(const nlohmann::json& command);
  // Throws the worker's own error, or Error(failed) if it died or took too long.
  nlohmann::json receive();
  nlohmann::json ask(const nlohmann::json& command);
  const std::filesystem::path& spool() const { return spool_; }

 private:
  void spawn();
  [[noreturn]] void died();
  void stop();

  std::string label_;
  double timeout_s_;
  pid_t pid_ = -1;
  std::optional<importer::KilledOnSignal> killed_on_signal_;
  importer::Descriptor socket_;  // to its standard input, from its standard output
  std::string buffer_;
  std::filesystem::path spool_;
  std::list<importer::RemovedOnSignal> removed_on_signal_;  // the spool and all that may lie in it
};

}  // namespace concord::parity
