#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_string_split() {
  return {};  // strings are the host's: tests/host
}

}  // namespace concord::ops_test
