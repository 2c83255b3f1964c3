#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_regex_match() {
  return {};  // strings are the host's: tests/host
}

}  // namespace concord::ops_test
