#include "tools/concord/bench_case.h"

#include <iostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "backends/ranks.h"
#include "backends/session.h"
#include "parity/report.h"
#include "parity/report_sections.h"

namespace concord::tools {

BenchCase::BenchCase(const BenchOptions& options, const CommonOptions& common,
                     const std::shared_ptr<const graph::Graph>& imported, const InputCase& one)
    : options_(options),
      common_(common),
      one_(one),
      ranks_(ranks_of(one.inputs)),
      imported_(with_ranks(imported, ranks_)) {}

void BenchCase::start(const std::vector<BackendSpec>& specs) {
  specs_ = specs.size();
  for (std::size_t place = 0; place < specs.size(); ++place) {
    const BackendSpec& spec = specs[place];
    progress("starting " + spec.text, 0);
    Participant participant;
    participant.spec = spec;
    participant.place = place;
    participant.result.spec = spec.text;
    try {
      participant.worker = worker(spec);
      if (!starts(*participant.worker, spec)) continue;
      first_run(participant);
    } catch (const Error& error) {
      participant.failed = error;
    }
    participants_.push_back(std::move(participant));
  }
  if (participants_.empty()) {
    throw Error(ErrorKind::failed, "no backend has one of these precisions", "see concord devices");
  }
  try {
    start_twin();
  } catch (const Error& error) {
    twin_.reset();
    if (!common_.quiet) std::cerr << "concord: noise is not measured: " << error.what() << "\n";
  }
}

void BenchCase::measure() {
  parity::MeasureOptions measuring;
  measuring.seconds = options_.seconds;
  measuring.per_step = options_.per_step;
  measuring.floor = options_.floor;
  measuring.progress = [this](double fraction) { progress("measuring", fraction); };
  while (true) {
    std::vector<parity::Worker*> workers;
    std::vector<parity::Performance> results = alive_results();
    for (Participant* participant : alive()) workers.push_back(participant->worker.get());
    try {
      calibration_ = parity::measure(workers, twin_.get(), measuring, results);
    } catch (const Error&) {
      if (!drop_dead()) throw;
      twin_.reset();  // it may be the second process of one that has gone
      continue;
    }
    std::size_t next = 0;
    for (Participant* participant : alive()) participant->result = std::move(results[next++]);
    break;
  }
  twin_.reset();
}

void BenchCase::explain() {
  if (!options_.per_step && !options_.floor) return;
  const Bindings dims = bindings_of(*imported_, one_.inputs);
  for (Participant* participant : alive()) {
    progress("ceilings of " + participant->spec.text, 0);
    const auto add = options_.per_step ? parity::explain : parity::add_floor;
    add(participant->result, participant->spec, participant->worker->ready().device, imported_,
        {common_.disabled_passes.begin(), common_.disabled_passes.end()}, dims);
  }
}

std::string BenchCase::text() {
  progress("", 1);
  std::string text = parity::performance_text(alive_results(), calibration_, options_.per_step, 0);
  for (const Participant& participant : participants_) {
    if (!participant.failed) continue;
    text += participant.spec.text + ": " + std::string(verdict(*participant.failed)) + "\n";
  }
  return text;
}

nlohmann::json BenchCase::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Participant& participant : participants_) {
    if (!participant.failed) {
      list.push_back(parity::to_json(participant.result));
      continue;
    }
    list.push_back(
        {{"spec", participant.spec.text},
         {"verdict", verdict(*participant.failed)},
         {"error",
          {{"message", participant.failed->what()}, {"hint", participant.failed->hint()}}}});
  }
  return {{"label", one_.label},
          {"dims", one_.dims},
          {"backends", std::move(list)},
          {"noise", parity::to_json(calibration_)}};
}

std::vector<parity::BenchCell> BenchCase::cells() const {
  std::vector<parity::BenchCell> cells(specs_);
  bool first = true;
  bool of_first = false;  // whether ratios are by the first spec's times
  for (const Participant& participant : participants_) {
    parity::BenchCell& cell = cells[participant.place];
    if (participant.failed) {
      cell.verdict = verdict(*participant.failed);
      continue;
    }
    if (std::exchange(first, false)) of_first = participant.place == 0;
    const parity::Performance& result = participant.result;
    cell.median_ms = result.latency.median;
    if (result.floor) cell.floor_ms = result.floor->ms;
    if (of_first && result.against_first) cell.against_first = result.against_first->ratio.median;
  }
  return cells;
}

std::optional<BackendSpec> BenchCase::first() {
  const std::vector<Participant*> measured = alive();
  return measured.empty() ? std::nullopt : std::optional(measured.front()->spec);
}

void BenchCase::collect_errors(std::map<std::string, Error>& errors) const {
  for (const Participant& participant : participants_) {
    if (!participant.failed) continue;
    errors.emplace(participant.spec.text, participant.failed->with_context(participant.spec.text));
  }
}

std::string_view BenchCase::verdict(const Error& error) {
  return to_string(error.kind() == ErrorKind::unsupported ? parity::Verdict::unsupported
                                                          : parity::Verdict::failed);
}

std::vector<BenchCase::Participant*> BenchCase::alive() {
  std::vector<Participant*> list;
  for (Participant& participant : participants_) {
    if (!participant.failed) list.push_back(&participant);
  }
  return list;
}

std::vector<parity::Performance> BenchCase::alive_results() {
  std::vector<parity::Performance> results;
  for (const Participant* participant : alive()) results.push_back(participant->result);
  return results;
}

std::unique_ptr<parity::Worker> BenchCase::worker(const BackendSpec& spec) const {
  parity::WorkerJob job = common_.job(options_.model, spec.text);
  job.ranks = ranks_;
  return std::make_unique<parity::Worker>(job);
}

// Of precisions multiplied, some a backend does not have; what was named outright must start.
bool BenchCase::starts(parity::Worker& fresh, const BackendSpec& spec) const {
  if (!options_.skip_unknown) return true;
  try {
    fresh.ready();
    return true;
  } catch (const Error& error) {
    if (!common_.quiet) std::cerr << "skipped " << spec.text << ": " << error.what() << "\n";
    return false;
  }
}

void BenchCase::first_run(Participant& participant) const {
  const parity::WorkerReady& ready = participant.worker->ready();
  if (!parity::has_speed(ready.device)) {
    throw Error(ErrorKind::failed, ready.device.name + " only imitates a device: it has no speed",
                "use concord parity, or a device");
  }
  const parity::WorkerRun first = participant.worker->run(one_.inputs, false);
  parity::Performance& result = participant.result;
  result.load_ms = ready.load_ms;
  result.compile_ms = ready.compile_ms;
  result.plan_ms = first.plan_ms;
  result.first_run_ms = first.run_ms;
  for (const parity::WorkerFallback& f : ready.fallbacks) {
    if (f.by_nature || common_.quiet) continue;
    std::cerr << "concord: " << result.spec << " runs " << f.name << " (" << f.op
              << ") on the CPU: " << f.reason << "\n";
  }
}

// A second process of the first participant, which shows what the noise is.
void BenchCase::start_twin() {
  if (alive().empty()) return;
  const Participant& first = *alive().front();
  if (first.worker->memory().peak_bytes >= parity::this_machine().memory_bytes / 4) return;
  progress("starting a second " + first.spec.text, 0);
  twin_ = worker(first.spec);
  twin_->run(one_.inputs, false);
}

// Finds those whose workers have gone; false if there are none.
bool BenchCase::drop_dead() {
  bool found = false;
  for (Participant* participant : alive()) {
    try {
      static_cast<void>(participant->worker->memory());
    } catch (const Error& error) {
      participant->failed = error;
      found = true;
    }
  }
  return found;
}

// On a terminal only; an empty text wipes the line.
void BenchCase::progress(const std::string& what, double fraction) const {
  show_progress(common_, what.empty() ? "" : options_.progress_before + one_.label + ": " + what,
                fraction);
}

}  // namespace concord::tools
