#pragma once

#include <filesystem>

#include <sys/types.h>

// What a signal that ends the process must not leave behind.
namespace concord::importer {

// While it lives, such a signal removes the path: a file, or a folder that is empty once the files
// named so are gone. The signal's handler does nothing that is not async-signal-safe: paths are
// kept in a table of fixed size, and what finds no place there is left behind.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(const std::filesystem::path& path);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;

 private:
  int slot_;
};

// While it lives, such a signal kills the child before any path is removed.
class KilledOnSignal {
 public:
  explicit KilledOnSignal(pid_t child);
  ~KilledOnSignal();
  KilledOnSignal(const KilledOnSignal&) = delete;
  KilledOnSignal& operator=(const KilledOnSignal&) = delete;

 private:
  int slot_;
};

// For main(): SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM and SIGXCPU clean up and then end the
// process as they would have; those that the process was started to ignore stay ignored.
void clean_up_on_signals();

}  // namespace concord::importer
