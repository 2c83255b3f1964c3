#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// A report against an older one: whether numbers or speed got worse by more than noise.
namespace concord::parity {

struct Report;

enum class Change : std::uint8_t { same, better, worse, inconclusive, not_comparable };
std::string_view to_string(Change change);  // "same", …, "not comparable"

enum class BaselineSubject : std::uint8_t { numbers, speed };
std::string_view to_string(BaselineSubject subject);

// Of one participant in one case.
struct BaselineFinding {
  std::string model;  // path
  std::string label;  // of the case
  std::string spec;
  BaselineSubject subject = BaselineSubject::numbers;
  Change change = Change::same;
  double ratio = 0;  // new by old: of medians, or of the rms error furthest off; 0: none
  std::string text;  // what was found, or what differs so that nothing can be
};

struct BaselineReport {
  std::string path;
  std::string date;  // of the baseline
  std::vector<BaselineFinding> findings;
  bool worse(BaselineSubject subject) const;
};

// `old` is an older report's JSON. Participants are matched by the model's hash, the case's label
// and the spec, and compared where backend, device and driver are the same; for speed the processor
// too. Throws Error(invalid) if `old` is not a report of this schema.
//
// Numbers got worse where a verdict did, or where an output's error power grew by more than that of
// the noise which honest rounding makes in it. Speed got worse where the interval of the ratio of
// medians lies wholly above the noise: what twins showed in either session, times what a fixed
// piece of arithmetic took longer now, on processors.
BaselineReport compare_with_baseline(const Report& report, const nlohmann::json& old,
                                     const std::string& path);

}  // namespace concord::parity
