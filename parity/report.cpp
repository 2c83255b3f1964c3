#include "parity/report.h"

#include <algorithm>
#include <fstream>

#include <sched.h>
#include <sys/utsname.h>

namespace concord::parity {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::agrees:
      return "agrees";
    case Verdict::branched:
      return "branched";
    case Verdict::diverged:
      return "diverged";
    case Verdict::non_finite:
      return "non-finite";
    case Verdict::shape:
      return "shape";
    case Verdict::type:
      return "type";
    case Verdict::unsupported:
      return "unsupported";
    case Verdict::failed:
      return "failed";
  }
  return "failed";
}

std::string_view to_string(StepVerdict verdict) {
  switch (verdict) {
    case StepVerdict::within_budget:
      return "within budget";
    case StepVerdict::branched:
      return "branched";
    case StepVerdict::over_budget:
      return "over budget";
    case StepVerdict::non_finite:
      return "non-finite";
    case StepVerdict::shape:
      return "shape";
    case StepVerdict::type:
      return "type";
  }
  return "over budget";
}

Verdict worst(Verdict a, Verdict b) {
  return std::max(a, b);
}

Verdict ModelReport::verdict() const {
  Verdict result = error.empty() ? Verdict::agrees : Verdict::failed;
  for (const CaseReport& one : cases) {
    for (const ParticipantReport& p : one.participants) result = worst(result, p.verdict);
  }
  return result;
}

Verdict Report::verdict() const {
  Verdict result = Verdict::agrees;
  for (const ModelReport& model : models) result = worst(result, model.verdict());
  return result;
}

int worse_exit(int a, int b) {
  constexpr int order[] = {0, 4, 1, 3, 5, 2};  // rising
  const auto severity = [&order](int code) {
    return std::find(std::begin(order), std::end(order), code) - std::begin(order);
  };
  return severity(b) > severity(a) ? b : a;
}

namespace {

int code_of(const ParticipantReport& p) {
  switch (p.verdict) {
    case Verdict::agrees:
    case Verdict::branched:
      return 0;
    case Verdict::diverged:
    case Verdict::non_finite:
    case Verdict::shape:
    case Verdict::type:
      return concord::exit_code(ErrorKind::diverged);
    case Verdict::unsupported:
      return concord::exit_code(ErrorKind::unsupported);
    case Verdict::failed:
      return concord::exit_code(p.error_kind);
  }
  return concord::exit_code(ErrorKind::failed);
}

}  // namespace

int Report::exit_code() const {
  int result = 0;
  const auto take = [&result](int code) { result = worse_exit(result, code); };
  for (const ModelReport& model : models) {
    if (!model.error.empty()) take(concord::exit_code(model.error_kind));
    for (const CaseReport& one : model.cases) {
      for (const ParticipantReport& p : one.participants) take(code_of(p));
    }
  }
  if (baseline) {
    if (baseline->worse(BaselineSubject::numbers)) take(concord::exit_code(ErrorKind::diverged));
    if (baseline->worse(BaselineSubject::speed)) take(4);
  }
  return result;
}

const StepReport* first_fault(const std::vector<StepReport>& steps) {
  for (const StepReport& step : steps) {
    if (step.judged && step.verdict > StepVerdict::branched) return &step;
  }
  return nullptr;
}

const StepReport* first_fault(const ParticipantReport& participant) {
  return first_fault(participant.steps);
}

const StepReport* first_non_finite(const std::vector<StepReport>& steps) {
  for (const StepReport& step : steps) {
    if (step.origin) return &step;
  }
  return nullptr;
}

Machine this_machine() {
  Machine machine;
  std::ifstream cpu("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpu, line)) {
    if (!line.starts_with("model name")) continue;
    machine.processor = line.substr(line.find(':') + 2);
    break;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) machine.cores = CPU_COUNT(&set);
  std::ifstream memory("/proc/meminfo");
  std::string word;
  std::int64_t kilobytes = 0;
  if (memory >> word >> kilobytes) machine.memory_bytes = kilobytes * 1024;
  utsname system{};
  if (uname(&system) == 0) {
    machine.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  return machine;
}

}  // namespace concord::parity
