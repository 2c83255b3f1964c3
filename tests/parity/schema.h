#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace concord::tests {

// What breaks the schema, one line each with the path to it; empty if nothing does. Knows the part
// of JSON Schema that the project's schemas use: type, const, enum, required, properties,
// additionalProperties (as a schema), items, anyOf, $ref into definitions. A member that an
// object's schema does not list is an error too.
std::vector<std::string> violations(const nlohmann::json& schema, const nlohmann::json& document);

}  // namespace concord::tests
