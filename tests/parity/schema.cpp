#include "tests/parity/schema.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace concord::tests {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return false;
}

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  void check(const json& schema, const json& value, const std::string& path) {
    if (schema.contains("$ref")) {
      const std::string ref = schema["$ref"];
      check(root_.at(json::json_pointer(ref.substr(1))), value, path);
      return;
    }
    if (schema.contains("anyOf")) {
      for (const json& option : schema["anyOf"]) {
        Validator inner(root_);
        inner.check(option, value, path);
        if (inner.problems.empty()) return;
      }
      problems.push_back(path + ": fits none of the forms: " + value.dump());
      return;
    }
    if (schema.contains("const") && value != schema["const"]) {
      problems.push_back(path + ": is " + value.dump());
    }
    if (schema.contains("enum")) {
      const auto& options = schema["enum"];
      if (std::find(options.begin(), options.end(), value) == options.end()) {
        problems.push_back(path + ": " + value.dump() + " is not listed");
      }
    }
    if (schema.contains("type") && !has_type(value, schema["type"])) {
      problems.push_back(path + ": is no " + schema["type"].get<std::string>() + ": " +
                         value.dump().substr(0, 60));
      return;
    }
    if (value.is_object()) check_object(schema, value, path);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(schema["items"], value[i], path + "/" + std::to_string(i));
      }
    }
  }

  std::vector<std::string> problems;

 private:
  void check_object(const json& schema, const json& value, const std::string& path) {
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name)) problems.push_back(path + ": lacks " + name.dump());
    }
    const json known = schema.value("properties", json::object());
    for (const auto& [name, member] : value.items()) {
      if (known.contains(name)) {
        check(known[name], member, path + "/" + name);
      } else if (schema.contains("additionalProperties")) {
        check(schema["additionalProperties"], member, path + "/" + name);
      } else if (!known.empty()) {
        problems.push_back(path + ": has " + name + ", which the schema does not know");
      }
    }
  }

  const json& root_;
};

}  // namespace

std::vector<std::string> violations(const json& schema, const json& document) {
  Validator validator(schema);
  validator.check(schema, document, "");
  return validator.problems;
}

}  // namespace concord::tests
