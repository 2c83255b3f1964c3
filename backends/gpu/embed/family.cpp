#include "backends/gpu/embed/family.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace concord::embed {
namespace {

constexpr std::uint32_t kMaxParamBytes = 128;  // maxPushConstantsSize of every Vulkan device

Param read_param(const nlohmann::json& json, const std::string& kernel) {
  Param param;
  param.name = json.at("name").get<std::string>();
  const nlohmann::json& type = json.at("type");
  const std::string kind = type.at("kind").get<std::string>();
  if (kind == "pointer") {
    param.kind = "kPointer";
    param.pointee = type.value("valueType", std::string());
  } else if (kind == "scalar") {
    static const std::map<std::string, std::string> scalars{{"int32", "kI32"},
                                                            {"uint32", "kU32"},
                                                            {"float32", "kF32"},
                                                            {"int64", "kI64"},
                                                            {"uint64", "kU64"}};
    const auto at = scalars.find(type.at("scalarType").get<std::string>());
    if (at != scalars.end()) param.kind = at->second;
  }
  if (param.kind.empty()) {
    throw std::runtime_error("kernel " + kernel + ": parameter " + param.name +
                             " is neither a pointer nor int, uint, float, int64_t, uint64_t; only "
                             "these have one layout on all targets");
  }
  const nlohmann::json& binding = json.at("binding");
  param.offset = binding.at("offset").get<std::uint32_t>();
  param.bytes = binding.at("size").get<std::uint32_t>();
  return param;
}

bool same_layout(const std::vector<Param>& a, const std::vector<Param>& b) {
  return std::ranges::equal(a, b, [](const Param& x, const Param& y) {
    return x.name == y.name && x.kind == y.kind && x.offset == y.offset;
  });
}

}  // namespace

std::uint32_t KernelInfo::param_bytes() const {
  std::uint32_t end = 0;
  for (const Param& param : params) end = std::max(end, param.offset + param.bytes);
  return end;
}

std::vector<KernelInfo> read_reflection(const std::string& json_text) {
  const nlohmann::json json = nlohmann::json::parse(json_text);
  if (!json.at("parameters").empty()) {
    throw std::runtime_error("global parameter " +
                             json["parameters"][0].at("name").get<std::string>() +
                             ": kernels take all parameters at the entry point");
  }
  std::vector<KernelInfo> kernels;
  for (const nlohmann::json& entry : json.at("entryPoints")) {
    KernelInfo kernel;
    kernel.name = entry.at("name").get<std::string>();
    const nlohmann::json& workgroup = entry.at("threadGroupSize");
    for (std::size_t i = 0; i < 3; ++i) kernel.workgroup[i] = workgroup[i].get<std::uint32_t>();
    if (kernel.workgroup[0] * kernel.workgroup[1] * kernel.workgroup[2] > 256 ||
        kernel.workgroup[2] > 64) {
      throw std::runtime_error("kernel " + kernel.name +
                               ": workgroup above 256 invocations or z above 64");
    }
    for (const nlohmann::json& param : entry.at("parameters")) {
      if (param.contains("semanticName")) continue;
      kernel.params.push_back(read_param(param, kernel.name));
    }
    if (kernel.params.empty()) {
      throw std::runtime_error("kernel " + kernel.name + " has no parameters");
    }
    if (kernel.param_bytes() > kMaxParamBytes) {
      throw std::runtime_error("kernel " + kernel.name + ": " +
                               std::to_string(kernel.param_bytes()) +
                               " bytes of parameters, 128 is the limit; put the larger ones into a "
                               "struct in memory and take a pointer to it");
    }
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty()) {
    throw std::runtime_error(
        "no entry point (code that is only imported belongs into kernels/lib)");
  }
  return kernels;
}

void check_offsets(const ModuleInfo& module) {
  for (const KernelInfo& kernel : module.kernels) {
    const auto at = module.spirv.push_offsets.find(kernel.name);
    if (at == module.spirv.push_offsets.end()) {
      throw std::runtime_error("kernel " + kernel.name + " isn't in the SPIR-V module");
    }
    std::vector<std::uint32_t> expected;
    for (const Param& param : kernel.params) expected.push_back(param.offset);
    std::vector<std::uint32_t> found = at->second;
    std::ranges::sort(found);
    if (found != expected) {
      throw std::runtime_error("kernel " + kernel.name +
                               ": SPIR-V and reflection place the parameters differently");
    }
    if (module.ptx.text.empty()) continue;
    const auto ptx = module.ptx.param_offsets.find(kernel.name);
    if (ptx == module.ptx.param_offsets.end()) {
      throw std::runtime_error("kernel " + kernel.name + " isn't in the PTX module");
    }
    if (ptx->second != expected) {
      throw std::runtime_error("kernel " + kernel.name +
                               ": PTX and SPIR-V place the parameters differently");
    }
  }
}

std::string camel_case(const std::string& name, bool drop_types) {
  static const std::set<std::string> types{"f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16",
                                           "i32", "u32",  "i64", "u64", "b8", "8",  "16",  "32"};
  std::vector<std::string> words;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('_', start), name.size());
    if (end > start) words.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  const auto is_variant = [&](const std::string& word) {
    const bool numbered = !word.empty() && std::isdigit(static_cast<unsigned char>(word.back()));
    return types.contains(word) || (numbered && word.starts_with("wave"));
  };
  while (drop_types && words.size() > 1 && is_variant(words.back())) words.pop_back();
  std::string result;
  for (std::string& word : words) {
    word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
    result += word;
  }
  return result;
}

void name_structs(Family& family) {
  std::vector<std::pair<std::string, const KernelInfo*>> structs;
  for (ModuleInfo& module : family.modules) {
    for (KernelInfo& kernel : module.kernels) {
      const auto same = std::ranges::find_if(structs, [&](const auto& known) {
        return same_layout(known.second->params, kernel.params);
      });
      if (same != structs.end()) {
        kernel.params_struct = same->first;
        continue;
      }
      kernel.params_struct =
          structs.empty() ? camel_case(family.name, true) : camel_case(kernel.name, true);
      kernel.params_struct += "Params";
      for (const auto& [name, other] : structs) {
        if (name != kernel.params_struct) continue;
        throw std::runtime_error("kernels " + other->name + " and " + kernel.name +
                                 " take different parameters, so that their names must differ in "
                                 "more than data types");
      }
      structs.emplace_back(kernel.params_struct, &kernel);
    }
  }
}

}  // namespace concord::embed
