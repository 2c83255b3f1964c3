#include <re2/re2.h>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  re2::RE2::Options options;
  options.set_log_errors(false);
  const std::string& text = call.node.attrs.text("pattern");
  const re2::RE2 pattern(text, options);
  if (!pattern.ok()) fail("'" + text + "' is no regular expression of RE2: " + pattern.error());
  Tensor y(DataType::boolean, x.shape());
  const auto to = y.as_mutable<bool>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = re2::RE2::FullMatch(x.strings()[i], pattern);
  return {std::move(y)};
}

}  // namespace

const Kernel host_regex_match{nullptr, run};

}  // namespace concord::host
