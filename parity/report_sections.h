#pragma once

#include <string>
#include <vector>

#include "parity/report.h"

// Parts of the terminal's text, each whole lines; empty where there is nothing to tell.
namespace concord::parity {

// Times of participants that were measured, ratios, noise; with per_step where the time goes.
std::string performance_text(const CaseReport& one, const TextOptions& options);
// The same for a bench, which has no verdicts.
std::string performance_text(const std::vector<Performance>& results,
                             const Calibration& calibration, bool per_step, std::size_t indent);
std::string agreement_text(const CaseReport& one);
// Participants by cases.
std::string matrix_text(const ModelReport& model);
std::string baseline_text(const BaselineReport& baseline);

}  // namespace concord::parity
