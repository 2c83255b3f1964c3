#pragma once

#include <nlohmann/json_fwd.hpp>

#include "graph/error.h"
#include "parity/worker.h"

// The words between a worker and its parent: one JSON object per line, a command or an answer.
namespace concord::parity {

nlohmann::json to_json(const WorkerJob& job);
WorkerJob job_from_json(const nlohmann::json& json);
nlohmann::json to_json(const WorkerReady& ready);
WorkerReady ready_from_json(const nlohmann::json& json);
nlohmann::json to_json(const WorkerStep& step);
WorkerStep step_from_json(const nlohmann::json& json);
nlohmann::json to_json(const WorkerMemory& memory);
WorkerMemory memory_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Error& error);
[[noreturn]] void throw_from_json(const nlohmann::json& json);

// Files in the spool folder.
inline constexpr const char* kInputsFile = "inputs.bin";
inline constexpr const char* kOutputsFile = "outputs.bin";
inline constexpr const char* kTapsFile = "taps.bin";

}  // namespace concord::parity
