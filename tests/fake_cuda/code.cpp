#include "tests/fake_cuda/code.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>

namespace fake_cuda {
namespace {

// "8.0" → 80.
int tenths(const std::string& text) {
  const std::size_t dot = text.find('.');
  const int whole = std::atoi(text.c_str());
  return 10 * whole + (dot == std::string::npos ? 0 : std::atoi(text.c_str() + dot + 1));
}

std::string spirv_folder() {
  const char* named = std::getenv("CONCORD_FAKE_CUDA_KERNELS");
  return named != nullptr ? named : FAKE_CUDA_SPIRV_DIR;
}

// The words of SPIR-V that say what a kernel takes.
struct Module {
  std::map<std::string, std::pair<std::uint32_t, std::vector<std::uint32_t>>> entries;
  std::map<std::uint32_t, std::array<std::uint32_t, 3>> workgroups;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> offsets;
  std::map<std::uint32_t, std::vector<std::uint32_t>> structs;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> pointers;  // class, pointee
  std::map<std::uint32_t, std::uint32_t> push;  // variable → pointer type
};

void read_one(Module& module, std::uint32_t op, std::span<const std::uint32_t> a) {
  switch (op) {
    case 15: {  // OpEntryPoint
      const auto* name = reinterpret_cast<const char*>(&a[2]);
      const std::string text(name);
      const auto interface = a.subspan(2 + text.size() / 4 + 1);
      module.entries[text] = {a[1], {interface.begin(), interface.end()}};
      break;
    }
    case 16:  // OpExecutionMode LocalSize
      if (a[1] == 17) module.workgroups[a[0]] = {a[2], a[3], a[4]};
      break;
    case 30:  // OpTypeStruct
      module.structs[a[0]].assign(a.begin() + 1, a.end());
      break;
    case 32:  // OpTypePointer
      module.pointers[a[0]] = {a[1], a[2]};
      break;
    case 59:  // OpVariable in PushConstant
      if (a[2] == 9) module.push[a[1]] = a[0];
      break;
    case 72:  // OpMemberDecorate Offset
      if (a[2] == 35) module.offsets[a[0]][a[1]] = a[3];
      break;
    default:
      break;
  }
}

void add_twins(const std::string& file, std::map<std::string, Twin>& twins) {
  const std::vector<std::uint32_t> words = read_words(file);
  Module module;
  for (std::size_t i = 5; i < words.size();) {
    const std::uint32_t count = words[i] >> 16;
    if (count == 0 || i + count > words.size()) throw std::runtime_error(file + " is cut");
    read_one(module, words[i] & 0xffff, std::span(words).subspan(i + 1, count - 1));
    i += count;
  }
  for (const auto& [name, entry] : module.entries) {
    Twin twin;
    twin.file = file;
    twin.workgroup = module.workgroups[entry.first];
    for (const std::uint32_t variable : entry.second) {
      const auto push = module.push.find(variable);
      if (push == module.push.end()) continue;
      const std::uint32_t block = module.pointers.at(push->second).second;
      const std::vector<std::uint32_t>& members = module.structs.at(block);
      for (std::uint32_t i = 0; i < members.size(); ++i) {
        twin.offsets.push_back(module.offsets[block][i]);
        twin.is_pointer.push_back(module.pointers.contains(members[i]));
      }
    }
    twins[name] = twin;
  }
}

}  // namespace

PtxText read_ptx(const std::string& text) {
  PtxText ptx;
  std::istringstream lines(text);
  PtxEntry* open = nullptr;
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == ".version" && words >> word) ptx.version = tenths(word);
    if (word == ".target" && words >> word) ptx.target = std::atoi(word.c_str() + 3);
    if (word == ".visible" && words >> word && word == ".entry") {
      words >> name;
      name = name.substr(0, name.find('('));
      open = &ptx.entries[name];
    } else if (word == ".param" && open != nullptr) {
      std::string type;
      words >> type;
      PtxParam param;
      param.bytes = type.ends_with("64") ? 8 : type.ends_with("32") ? 4 : 0;
      if (param.bytes == 0) throw std::runtime_error(name + ": parameter of type " + type);
      param.offset = (open->bytes() + param.bytes - 1) / param.bytes * param.bytes;
      open->params.push_back(param);
    }
    if (open != nullptr && line.find(')') != std::string::npos) open = nullptr;
  }
  if (ptx.version == 0 || ptx.target == 0) throw std::runtime_error("no .version or no .target");
  return ptx;
}

std::vector<std::uint32_t> read_words(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (bytes.size() < 20) throw std::runtime_error("cannot read " + file);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

const Twin& find_twin(const std::string& kernel) {
  static const std::map<std::string, Twin> twins = [] {
    std::map<std::string, Twin> all;
    for (const auto& entry : std::filesystem::directory_iterator(spirv_folder())) {
      const std::string file = entry.path().string();
      if (file.ends_with(".stripped.spv")) add_twins(file, all);
    }
    return all;
  }();
  const auto at = twins.find(kernel);
  if (at == twins.end()) {
    throw std::runtime_error("kernel " + kernel + " has no SPIR-V twin in " + spirv_folder());
  }
  return at->second;
}

}  // namespace fake_cuda
