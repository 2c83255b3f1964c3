#include "backends/gpu/embed/spirv_module.h"

#include <cstring>
#include <set>
#include <span>
#include <stdexcept>

namespace concord::embed {
namespace {

enum Op : std::uint32_t {
  kSourceContinued = 2,
  kSource = 3,
  kSourceExtension = 4,
  kName = 5,
  kMemberName = 6,
  kString = 7,
  kLine = 8,
  kEntryPoint = 15,
  kCapability = 17,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeArray = 28,
  kTypeStruct = 30,
  kTypePointer = 32,
  kConstant = 43,
  kVariable = 59,
  kMemberDecorate = 72,
  kNoLine = 317,
  kModuleProcessed = 330,
  kCopyLogical = 400,
};
constexpr std::uint32_t kMagic = 0x07230203;
constexpr std::uint32_t kDecorationOffset = 35;
constexpr std::uint32_t kStoragePushConstant = 9;

struct Type {
  std::uint32_t op = 0;
  std::vector<std::uint32_t> operands;
};

struct Reader {
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint32_t, std::map<std::uint32_t, std::string>> member_names;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> offsets;
  std::map<std::uint32_t, Type> types;
  std::map<std::uint32_t, std::uint32_t> constants;
  std::map<std::uint32_t, std::uint32_t> push_variables;      // variable → pointer type
  std::map<std::string, std::vector<std::uint32_t>> entries;  // name → interface ids

  void read(std::uint32_t op, std::span<const std::uint32_t> a);
  std::string scalar_name(std::uint32_t type) const;
  Member member_of(std::uint32_t type) const;
};

std::string text_of(std::span<const std::uint32_t> words, std::size_t* used = nullptr) {
  std::string text(words.size() * 4, '\0');
  std::memcpy(text.data(), words.data(), text.size());
  const std::size_t length = text.find('\0');
  if (length == std::string::npos) throw std::runtime_error("unterminated string in SPIR-V");
  text.resize(length);
  if (used != nullptr) *used = length / 4 + 1;
  return text;
}

void Reader::read(std::uint32_t op, std::span<const std::uint32_t> a) {
  switch (op) {
    case kName:
      names[a[0]] = text_of(a.subspan(1));
      break;
    case kMemberName:
      member_names[a[0]][a[1]] = text_of(a.subspan(2));
      break;
    case kMemberDecorate:
      if (a[2] == kDecorationOffset) offsets[a[0]][a[1]] = a[3];
      break;
    case kTypeInt:
    case kTypeFloat:
    case kTypeArray:
    case kTypeStruct:
    case kTypePointer:
      types[a[0]] = Type{op, {a.begin() + 1, a.end()}};
      break;
    case kConstant:
      constants[a[1]] = a[2];
      break;
    case kVariable:
      if (a[2] == kStoragePushConstant) push_variables[a[1]] = a[0];
      break;
    case kEntryPoint: {
      std::size_t used = 0;
      const std::string name = text_of(a.subspan(2), &used);
      const auto interface = a.subspan(2 + used);
      entries[name] = {interface.begin(), interface.end()};
      break;
    }
    default:
      break;
  }
}

std::string Reader::scalar_name(std::uint32_t type) const {
  const auto at = types.find(type);
  if (at == types.end()) return {};
  const Type& t = at->second;
  if (t.op == kTypePointer) return "DevicePtr";
  if (t.op == kTypeFloat) {
    return t.operands[0] == 32 ? "float" : t.operands[0] == 64 ? "double" : "std::uint16_t";
  }
  if (t.op == kTypeInt) {
    return std::string(t.operands[1] != 0 ? "std::int" : "std::uint") +
           std::to_string(t.operands[0]) + "_t";
  }
  return {};
}

// Slang wraps an array in a struct with one member "data"; an empty c_type says "not supported".
Member Reader::member_of(std::uint32_t type) const {
  Member member;
  member.c_type = scalar_name(type);
  if (!member.c_type.empty()) return member;
  const auto outer = types.find(type);
  if (outer == types.end() || outer->second.op != kTypeStruct) return member;
  if (outer->second.operands.size() != 1) return member;
  const auto array = types.find(outer->second.operands[0]);
  if (array == types.end() || array->second.op != kTypeArray) return member;
  const auto count = constants.find(array->second.operands[1]);
  if (count == constants.end()) return member;
  member.c_type = scalar_name(array->second.operands[0]);
  member.count = count->second;
  member.is_array = true;
  return member;
}

}  // namespace

SpirvModule read_spirv(const std::vector<std::uint32_t>& words) {
  if (words.size() < 5 || words[0] != kMagic) throw std::runtime_error("not a SPIR-V module");
  SpirvModule module;
  module.words.assign(words.begin(), words.begin() + 5);
  Reader reader;
  static const std::set<std::uint32_t> dropped{
      kSourceContinued, kSource, kSourceExtension, kName,           kMemberName,
      kString,          kLine,   kNoLine,          kModuleProcessed};
  for (std::size_t i = 5; i < words.size();) {
    const std::uint32_t op = words[i] & 0xffff;
    const std::uint32_t count = words[i] >> 16;
    if (count == 0 || i + count > words.size()) throw std::runtime_error("cut SPIR-V module");
    const std::span<const std::uint32_t> all(&words[i], count);
    reader.read(op, all.subspan(1));
    if (op == kCapability) module.capabilities.push_back(words[i + 1]);
    if (op == kCopyLogical) {
      throw std::runtime_error(
          "holds OpCopyLogical, on which Mesa 22 refuses the pipeline: a struct is loaded by "
          "value somewhere; read its fields one by one");
    }
    if (!dropped.contains(op)) module.words.insert(module.words.end(), all.begin(), all.end());
    i += count;
  }
  for (const auto& [name, interface] : reader.entries) {
    std::vector<std::uint32_t>& offsets = module.push_offsets[name];
    for (const std::uint32_t id : interface) {
      const auto variable = reader.push_variables.find(id);
      if (variable == reader.push_variables.end()) continue;
      const std::uint32_t block = reader.types.at(variable->second).operands[1];
      for (const auto& [index, offset] : reader.offsets[block]) offsets.push_back(offset);
    }
  }
  for (const auto& [id, type] : reader.types) {
    const std::string suffix = "_natural";
    const std::string& name = reader.names[id];
    if (type.op != kTypeStruct || !name.ends_with(suffix) || name.starts_with("_Array")) continue;
    std::vector<Member> members;
    for (std::uint32_t i = 0; i < type.operands.size(); ++i) {
      Member member = reader.member_of(type.operands[i]);
      member.name = reader.member_names[id][i];
      member.offset = reader.offsets[id][i];
      members.push_back(member);
    }
    module.structs[name.substr(0, name.size() - suffix.size())] = members;
  }
  return module;
}

}  // namespace concord::embed
