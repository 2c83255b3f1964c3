#include "parity/baseline.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "graph/error.h"
#include "parity/report.h"
#include "parity/text.h"

namespace concord::parity {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRounds = 100;  // of a file; a report writes 20

std::string text_of(const json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_string() ? it->get<std::string>() : std::string();
}

double number_of(const json& j, const char* key, double otherwise) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number() ? it->get<double>() : otherwise;
}

std::vector<double> times_of(const json& j, const char* key) {
  std::vector<double> times;
  const auto it = j.find(key);
  if (it == j.end() || !it->is_array()) return times;
  for (const json& item : *it) {
    if (item.is_number() && item.get<double>() > 0 && times.size() < kMostRounds) {
      times.push_back(item.get<double>());
    }
  }
  return times;
}

const json* find_in(const json& list, const char* key, const std::string& wanted) {
  if (!list.is_array()) return nullptr;
  for (const json& item : list) {
    if (item.is_object() && text_of(item, key) == wanted) return &item;
  }
  return nullptr;
}

const json* member(const json* j, const char* key) {
  if (j == nullptr || !j->is_object()) return nullptr;
  const auto it = j->find(key);
  return it != j->end() ? &*it : nullptr;
}

int severity(const std::string& verdict) {
  for (const Verdict v : {Verdict::agrees, Verdict::diverged, Verdict::non_finite, Verdict::shape,
                          Verdict::type, Verdict::unsupported, Verdict::failed}) {
    if (to_string(v) == verdict) return static_cast<int>(v);
  }
  return 0;
}

std::string changed(const std::string& what, const std::string& was, const std::string& is) {
  if (was == is) return {};
  return what + " was '" + was + "', is '" + is + "'";
}

void join(std::string& list, const std::string& item) {
  if (!item.empty()) list += (list.empty() ? "" : "; ") + item;
}

class Comparison {
 public:
  Comparison(const Report& report, const json& old) : report_(report), old_(old) {}

  std::vector<BaselineFinding> run() {
    for (const ModelReport& model : report_.models) {
      const json* before = model_of(model);
      for (const CaseReport& one : model.cases) compare(model, one, before);
    }
    return std::move(findings_);
  }

 private:
  // By hash, else by path, for the explanation.
  const json* model_of(const ModelReport& model) const {
    std::vector<const json*> all;
    if (const json* models = member(&old_, "models"); models != nullptr && models->is_array()) {
      for (const json& item : *models) all.push_back(&item);
    } else {
      all.push_back(&old_);
    }
    const json* by_path = nullptr;
    for (const json* item : all) {
      const json* about = member(item, "model");
      if (about == nullptr || !about->is_object()) continue;
      if (!model.sha256.empty() && text_of(*about, "sha256") == model.sha256) return item;
      if (text_of(*about, "path") == model.path) by_path = item;
    }
    return by_path;
  }

  // What keeps two runs of one model from being compared at all.
  static std::string model_changes(const ModelReport& model, const json* before) {
    if (before == nullptr) return "the baseline does not have this model";
    const json& about = *member(before, "model");
    const std::string was = text_of(about, "sha256");
    if (was == model.sha256) return {};
    std::string text = "the model changed (sha256 " + was.substr(0, 12) + " to " +
                       model.sha256.substr(0, 12) + ")";
    join(text, changed("its producer", text_of(about, "producer"), model.producer));
    const json opsets = about.value("opsets", json::object());
    for (const auto& [domain, version] : model.opsets) {
      const double old_version = opsets.is_object() ? number_of(opsets, domain.c_str(), 0) : 0;
      if (old_version != static_cast<double>(version)) {
        join(text, "opset of " + domain + " was " + format("%.0f", old_version) + ", is " +
                       std::to_string(version));
      }
    }
    return text;
  }

  void add(BaselineSubject subject, Change change, double ratio, const std::string& text) {
    BaselineFinding finding = at_;
    finding.subject = subject;
    finding.change = change;
    finding.ratio = ratio;
    finding.text = text;
    findings_.push_back(std::move(finding));
  }

  void compare(const ModelReport& model, const CaseReport& one, const json* before) {
    std::string obstacle = model_changes(model, before);
    const json* cases = member(before, "cases");
    const json* old_case = cases != nullptr ? find_in(*cases, "label", one.label) : nullptr;
    if (obstacle.empty() && old_case == nullptr) obstacle = "the baseline does not have this case";
    const json* list = member(old_case, "participants");
    for (const ParticipantReport& p : one.participants) {
      at_ = {};
      at_.model = model.path;
      at_.label = one.label;
      at_.spec = p.spec;
      const json* old = list != nullptr ? find_in(*list, "spec", p.spec) : nullptr;
      std::string why = obstacle;
      if (why.empty() && old == nullptr) why = "the baseline does not have this participant";
      if (why.empty() && text_of(*old_case, "data") != one.data) {
        why = changed("the inputs'", text_of(*old_case, "data"), one.data);
      }
      if (why.empty()) {
        join(why, changed("device", text_of(*old, "device"), p.device.name));
        join(why, changed("driver", text_of(*old, "driver"), p.device.driver));
        join(why, changed("backend version", text_of(*old, "version"), p.version));
      }
      if (!why.empty()) {
        add(BaselineSubject::numbers, Change::not_comparable, 0, why);
        continue;
      }
      numbers(p, *old);
      speed(one, p, *old_case, *old);
    }
  }

  void numbers(const ParticipantReport& p, const json& old) {
    const std::string was = text_of(old, "verdict");
    const std::string is(to_string(p.verdict));
    if (was != is) {
      const bool worse = static_cast<int>(p.verdict) > severity(was);
      add(BaselineSubject::numbers, worse ? Change::worse : Change::better, 0,
          "verdict was '" + was + "', is '" + is + "'");
      return;
    }
    const json outputs = old.value("outputs", json::array());
    Change change = Change::same;
    double most = 0;
    double ratio = 0;
    std::string text = "errors as before, to within what rounding makes";
    for (const OutputReport& o : p.outputs) {
      const json* before = find_in(outputs, "name", o.name);
      if (before == nullptr || !o.expected_rms) continue;
      const double noise = *o.expected_rms;
      const double then = number_of(*before, "rms_error", NAN);
      const double now = o.metrics.rms_error;
      if (!std::isfinite(then) || !std::isfinite(now)) continue;
      const double excess = std::sqrt(std::abs(now * now - then * then));
      if (excess <= noise || excess / std::max(noise, 1e-300) <= most) continue;
      most = excess / std::max(noise, 1e-300);
      change = now > then ? Change::worse : Change::better;
      ratio = then > 0 ? now / then : 0;
      text = "output '" + o.name + "': rms error was " + number(then) + ", is " + number(now) +
             "; rounding explains changes of " + number(noise);
    }
    add(BaselineSubject::numbers, change, ratio, text);
  }

  void speed(const CaseReport& one, const ParticipantReport& p, const json& old_case,
             const json& old) {
    const json* before = member(&old, "performance");
    const std::vector<double> was =
        before != nullptr ? times_of(*before, "rounds_ms") : std::vector<double>();
    if (!p.performance || p.performance->rounds.empty() || was.empty()) return;
    if (const json* machine = member(&old_, "machine")) {
      const std::string other =
          changed("the processor", text_of(*machine, "processor"), report_.machine.processor);
      if (!other.empty()) {
        add(BaselineSubject::speed, Change::not_comparable, 0, other);
        return;
      }
    }
    const Interval interval = ratio_interval(was, p.performance->rounds);
    double slack = one.calibration ? one.calibration->floor : 1;
    const json* noise = member(&old_case, "noise");
    if (noise != nullptr) slack = std::max(slack, number_of(*noise, "floor", 1));
    double slower = slack;
    double faster = 1 / slack;
    std::string machine;
    if (p.device.type == "cpu" && noise != nullptr && one.calibration) {
      const std::vector<double> yard = times_of(*noise, "yardstick_ms");
      if (!yard.empty() && !one.calibration->yardstick.empty()) {
        const Interval change = ratio_interval(yard, one.calibration->yardstick);
        slower *= std::max(1.0, change.high);
        faster *= std::min(1.0, change.low);
        if (change.low > 1 || change.high < 1) {
          machine = "; the machine itself takes " + ratio(change.median) +
                    " times as long over a fixed piece of work";
        }
      }
    }
    Change change = Change::inconclusive;
    if (interval.low > slower) change = Change::worse;
    if (interval.high < faster) change = Change::better;
    if (change == Change::inconclusive && interval.low <= 1 && interval.high >= 1) {
      change = Change::same;
    }
    add(BaselineSubject::speed, change, interval.median,
        "takes " + ratio(interval.median) + " times as long (95 %: " + ratio(interval.low) +
            " to " + ratio(interval.high) + "), noise reaches " + ratio(slower) + ": " +
            milliseconds(quantile(was, 0.5)) + " to " +
            milliseconds(p.performance->latency.median) + " ms" + machine);
  }

  const Report& report_;
  const json& old_;
  BaselineFinding at_;
  std::vector<BaselineFinding> findings_;
};

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::same:
      return "same";
    case Change::better:
      return "better";
    case Change::worse:
      return "worse";
    case Change::inconclusive:
      return "inconclusive";
    case Change::not_comparable:
      return "not comparable";
  }
  return "same";
}

std::string_view to_string(BaselineSubject subject) {
  return subject == BaselineSubject::numbers ? "numbers" : "speed";
}

bool BaselineReport::worse(BaselineSubject subject) const {
  return std::any_of(findings.begin(), findings.end(), [&](const BaselineFinding& finding) {
    return finding.subject == subject && finding.change == Change::worse;
  });
}

BaselineReport compare_with_baseline(const Report& report, const json& old,
                                     const std::string& path) {
  if (!old.is_object() || number_of(old, "schema", 0) != 1 || !old.contains("verdict")) {
    throw Error(ErrorKind::invalid, path + ": not a parity report of schema 1",
                "give the file that concord parity --json wrote");
  }
  BaselineReport result;
  result.path = path;
  result.date = text_of(old, "date");
  result.findings = Comparison(report, old).run();
  return result;
}

}  // namespace concord::parity
