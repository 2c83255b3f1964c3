#pragma once

#include <nlohmann/json_fwd.hpp>

#include "parity/report.h"

namespace concord::parity {

nlohmann::json to_json(const ToggleReport& toggle);
nlohmann::json to_json(const MinimalReport& minimal);
nlohmann::json to_json(const DeterminismCheck& check);
nlohmann::json to_json(const DecodeReport& decode);

}  // namespace concord::parity
