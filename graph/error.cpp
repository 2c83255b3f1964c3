#include "graph/error.h"

namespace concord {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::diverged:
      return 1;
    case ErrorKind::usage:
    case ErrorKind::invalid:
      return 2;
    case ErrorKind::unsupported:
      return 3;
    case ErrorKind::slower:
      return 4;
    case ErrorKind::failed:
      return 5;
  }
  return 5;
}

}  // namespace concord
