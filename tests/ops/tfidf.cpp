#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_tfidf() {
  return {};  // the host's on every backend: tests/host
}

}  // namespace concord::ops_test
