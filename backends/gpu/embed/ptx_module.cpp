#include "backends/gpu/embed/ptx_module.h"

#include <sstream>
#include <stdexcept>
#include <string_view>

namespace concord::embed {
namespace {

constexpr std::string_view kEntry = ".visible .entry ";
constexpr std::string_view kParam = ".param ";
constexpr std::string_view kShared = ".shared .align ";

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// Bytes of a `.param` declaration: ".param .u64 name" is 8.
std::uint32_t param_bytes(std::string_view declaration, const std::string& entry) {
  const std::string_view type = declaration.substr(kParam.size());
  for (const std::string_view kind : {".u", ".s", ".b", ".f"}) {
    if (!type.starts_with(kind)) continue;
    const std::string_view bits = type.substr(2);
    if (bits.starts_with("64 ")) return 8;
    if (bits.starts_with("32 ")) return 4;
  }
  throw std::runtime_error("kernel " + entry + ": PTX parameter '" + std::string(declaration) +
                           "' is no scalar of 4 or 8 bytes");
}

// The number before `what` in a line such as "Used 58 registers, used 1 barriers".
std::uint32_t number_before(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return begin == at
             ? 0
             : static_cast<std::uint32_t>(std::stoul(std::string(line.substr(begin, at - begin))));
}

}  // namespace

PtxModule read_ptx(const std::string& text) {
  PtxModule module;
  std::istringstream lines(text.substr(0, text.find('\0')));  // slangc leaves a trailing NUL
  std::string line;
  std::string entry;  // whose parameter list is open
  std::uint32_t offset = 0;
  bool versioned = false;
  while (std::getline(lines, line)) {
    std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with("//")) continue;
    if (content.starts_with(".version ")) {
      versioned = true;
      module.text += std::string(".version ") + kPtxVersion + "\n";
      continue;
    }
    if (content.starts_with(kEntry)) {
      entry = content.substr(kEntry.size(), content.find('(') - kEntry.size());
      offset = 0;
      module.param_offsets[entry];
    } else if (!entry.empty() && content.starts_with(kParam)) {
      const std::uint32_t bytes = param_bytes(content, entry);
      offset = (offset + bytes - 1) / bytes * bytes;
      module.param_offsets[entry].push_back(offset);
      offset += bytes;
    }
    if (!entry.empty() && content.ends_with(')')) entry.clear();
    if (content.starts_with(kShared)) {
      // Slang gives arrays their elements' alignment, and loads 16 bytes of matrices at once.
      content.remove_prefix(content.find(' ', kShared.size()));
      module.text += ".shared .align 16";
    }
    module.text.append(content);
    module.text += '\n';
  }
  if (!versioned || module.param_offsets.empty()) {
    throw std::runtime_error("not PTX with entry points");
  }
  return module;
}

std::vector<KernelUse> read_ptxas_log(const std::string& text) {
  std::vector<KernelUse> kernels;
  std::istringstream lines(text);
  std::string line;
  constexpr std::string_view kCompiling = "Compiling entry function '";
  while (std::getline(lines, line)) {
    const std::size_t at = line.find(kCompiling);
    if (at != std::string::npos) {
      const std::size_t begin = at + kCompiling.size();
      kernels.push_back({line.substr(begin, line.find('\'', begin) - begin)});
      continue;
    }
    if (kernels.empty()) continue;
    KernelUse& kernel = kernels.back();
    if (line.find("bytes stack frame") != std::string::npos) {
      kernel.stack_bytes = number_before(line, " bytes stack frame");
      kernel.spill_bytes =
          number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    } else if (line.find(" registers") != std::string::npos) {
      kernel.registers = number_before(line, " registers");
      kernel.shared_bytes = number_before(line, " bytes smem");
    }
  }
  return kernels;
}

}  // namespace concord::embed
