#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/faults/fault.h"

namespace concord::faults {

struct CampaignOptions {
  std::vector<std::filesystem::path> models;  // folders
  std::uint64_t seed = 1;
  int places = 2;   // per kind and model
  int repeat = 44;  // runs in which a race is looked for
  int honest = 8;   // inputs per model of the runs without a fault
  bool minimise = false;
  std::function<void(const std::string&)> log;
};

// One draw: a kind of fault at a place in a model.
struct Draw {
  std::string model;
  Fault fault;
  std::string step;    // the step's name
  double budgets = 0;  // by how many budgets it moves its step's float64 result, at most
  bool counts = false;
  bool detected = false;
  bool located = false;  // the first step that is reported is the faulty one
  std::string reported;  // what was reported first
  bool minimised = false;
  int minimal_steps = 0;     // of the minimised model
  bool keeps_cause = false;  // the minimised model fails at the same step, and not without it
};

struct Honest {
  std::string model;
  std::int64_t runs = 0;
  std::int64_t steps = 0;   // judged
  std::int64_t alarms = 0;  // steps over budget
  std::int64_t outputs = 0;
  std::int64_t output_alarms = 0;
};

struct CampaignResult {
  std::vector<Draw> draws;
  std::vector<Honest> honest;
};

CampaignResult run_campaign(const CampaignOptions& options);
// Whether detection, location, false alarms and minimised models are as they must be.
bool is_good(const CampaignResult& result);
// docs/fault_campaign.md
std::string campaign_text(const CampaignOptions& options, const CampaignResult& result);

}  // namespace concord::faults
