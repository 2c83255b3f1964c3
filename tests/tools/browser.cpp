#include "tests/tools/browser.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/tools/program.h"

namespace concord::tests {
namespace {

std::string run(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char chunk[65536];
  for (std::size_t n = 0; (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;) text.append(chunk, n);
  pclose(pipe);
  return text;
}

std::string browser() {
  std::string path =
      run("command -v chromium || command -v chromium-browser || command -v google-chrome || true");
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return path;
}

// Lines of the browser's log that a script caused.
std::string script_errors(const std::string& log) {
  std::string errors;
  std::size_t start = 0;
  while (start < log.size()) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    const std::string line = log.substr(start, end - start);
    if (line.find(":CONSOLE") != std::string::npos || line.find("Uncaught") != std::string::npos) {
      errors += line + "\n";
    }
    start = end + 1;
  }
  return errors;
}

}  // namespace

std::string Rendered::attribute(const std::string& name) const {
  const std::size_t root = dom.find("<html");
  const std::size_t close = dom.find('>', root);
  const std::string tag = dom.substr(root, close - root);
  const std::string key = " " + name + "=\"";
  const std::size_t at = tag.find(key);
  if (root == std::string::npos || at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return tag.substr(begin, tag.find('"', begin) - begin);
}

std::optional<Rendered> render(const std::filesystem::path& page, bool dark) {
  const std::string program = browser();
  if (program.empty()) return std::nullopt;
  const TemporaryFolder profile;
  const std::string log = (profile.path() / "log").string();
  // A container has no user namespaces to make the browser's sandbox of.
  Rendered rendered;
  rendered.dom =
      run("timeout 120 " + program + " --headless --no-sandbox --disable-gpu" +
          " --disable-dev-shm-usage --user-data-dir=" + profile.path().string() +
          " --enable-logging=stderr --virtual-time-budget=20000 --window-size=1200,900" +
          " --dump-dom 'file://" + page.string() + (dark ? "#dark" : "#light") + "' 2>" + log);
  rendered.console = script_errors(read_file(log));
  return rendered;
}

}  // namespace concord::tests
