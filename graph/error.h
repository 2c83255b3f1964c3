#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace concord {

// What ends a call. The kind decides the program's exit code (see exit_code).
enum class ErrorKind {
  usage,        // the caller's words are off: unknown option, backend name, input name
  invalid,      // unreadable or invalid model or data, run-time index out of range
  unsupported,  // operator, type or refused fallback
  diverged,     // outputs disagree
  slower,       // slower than the baseline
  failed        // a backend, device or the machine failed
};

// One plain line that names file, node and cause, and a hint that says what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::string hint = {})
      : std::runtime_error(message), kind_(kind), hint_(std::move(hint)) {}

  ErrorKind kind() const { return kind_; }
  const std::string& hint() const { return hint_; }

  // The same error with `context + ": "` before its message; context is added once, where known.
  Error with_context(const std::string& context) const {
    return Error(kind_, context + ": " + what(), hint_);
  }

 private:
  ErrorKind kind_;
  std::string hint_;
};

// Exit codes of the command line: 1 diverged, 2 usage or invalid, 3 unsupported, 4 slower, 5
// failed.
int exit_code(ErrorKind kind);

}  // namespace concord
