#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/dim.h"
#include "graph/error.h"
#include "graph/tensor.h"
#include "parity/agreement.h"
#include "parity/baseline.h"
#include "parity/metrics.h"
#include "parity/performance.h"
#include "parity/worker.h"

namespace concord::parity {

// Those of this namespace must not hide those of shapes and data types.
using concord::to_string;

// Of an output; the order is that of severity.
enum class Verdict : std::uint8_t {
  agrees,
  branched,  // it differs behind a choice that rounding may make either way
  diverged,
  non_finite,
  shape,
  type,
  unsupported,
  failed
};
std::string_view to_string(Verdict verdict);  // "agrees", "non-finite", …

// Of a step, judged by its own inputs. Branched: it chose, within its budget, what the oracle did
// not choose in its own run.
enum class StepVerdict : std::uint8_t {
  within_budget,
  branched,
  over_budget,
  non_finite,
  shape,
  type
};
std::string_view to_string(StepVerdict verdict);  // "within budget", …

struct OutputReport {
  std::string name;
  DataType dtype = DataType::undefined;
  Shape shape;
  Verdict verdict = Verdict::agrees;
  Metrics metrics;
  // What the verdict rests on: the rms of the noise that honest rounding makes in this output (rule
  // 7 of the budget); nullopt where tolerances or exactness decide.
  std::optional<double> expected_rms;
  std::string note;  // one sentence where the verdict needs it: "has shape [1, 2], expected [1, 3]"
};

// Where a NaN or an infinity arises: the first element of a step that has one though none of the
// step's inputs does.
struct NonFiniteOrigin {
  std::string element;  // "NaN at [0, 3]"
  double oracle = 0;    // what float64 makes of it
  // What made it: per operand the element beside it, or the smallest and largest where more than
  // one counts: "float16[4, 8]: 3.1e4", "float16[8, 8]: -2e2 to 7e4".
  std::vector<std::string> operands;
};

// What one step of a plan did with the inputs that it was given.
struct StepReport {
  BodyPath path;
  int node = -1;
  std::string op;                    // core operator
  std::string name;                  // ONNX name of the (first) imported node
  std::vector<std::string> members;  // imported nodes fused into it, by name or operator
  std::string backend;
  std::string kernel;
  StepPrecision precision;
  std::vector<std::string> inputs;  // "float32[1, 16, 64]"
  std::vector<std::string> outputs;
  bool judged = false;  // false: it was not tapped or the oracle cannot run it alone
  StepVerdict verdict = StepVerdict::within_budget;
  double worst_budget = 0;  // largest |error| / B over the elements
  double max_abs = 0;
  double max_ulp = 0;
  std::int64_t over = 0;                 // elements over budget
  Metrics::Worst worst;                  // the element with the largest |error| / B
  std::string worst_index;               // "[0, 3, 17]"
  std::vector<double> around;            // the backend's values about the worst element
  std::vector<double> around_reference;  // the oracle's
  bool exact = false;       // --exact: its arithmetic had nothing to round, its budget was 0
  bool mistrusted = false;  // most of its exact result is 0, which tells little
  std::optional<NonFiniteOrigin> origin;
  // Largest number of a float16 result, and how many times it fits below the largest float16.
  std::optional<double> largest;
  std::optional<double> headroom;
  double flops = 0;
  double bytes = 0;
  double ms = 0;
  double lower_ms = 0;  // what the device's ceilings allow (parity/roofline.h)
  Bound bound = Bound::none;
};

// A run with one thing switched.
struct ToggleReport {
  std::string name;  // "fusion=off", "fuse_gelu off", "threads=1"
  Verdict verdict = Verdict::agrees;
  std::string error;         // why it did not run, or what it showed
  double squared_error = 0;  // Σ of the outputs' normalised squared errors
  double removed = 0;        // share of the squared error that is gone with it; negative: it grew
  double worst_budget = 0;   // of its steps
  bool cures = false;        // no step over budget and all outputs agree
};

// The smallest part of the model that fails in the same way.
struct MinimalReport {
  std::string folder;        // with model.onnx, test_data_set_0 and command.txt
  std::string signature;     // what it keeps: "step matmul over budget"
  int nodes = 0;             // of the ONNX graph
  int steps = 0;             // of the plan
  int tried = 0;             // candidates
  bool keeps_cures = false;  // the same toggles cure it
  std::string command;
  std::string error;  // why there is none; nothing else then
};

// A decoder's steps, with the tokens that the oracle chose.
struct DecodeReport {
  std::vector<double> drift;            // by step: rms error of the last position's logits
  std::vector<double> largest;          // by step: their largest error
  int other_tokens = 0;                 // chosen otherwise than the oracle, over steps and batch
  std::optional<int> first_difference;  // the first step where one was
  std::int64_t token = -1;              // chosen there
  std::int64_t reference_token = -1;    // by the oracle
  double margin = 0;                    // by which the oracle prefers its own
  double own_margin = 0;                // by which the participant prefers the other
  std::string error;                    // why it went no further
};

// The same inputs again, in another setting.
struct DeterminismCheck {
  std::string name;  // "12 runs", "threads=1", "another place in the batch"
  bool same = true;
  int runs = 1;
  int differ = 0;
  std::string first_step;  // the first step whose result differs; empty if none or not known
  std::string note;        // why it was not tried
};

struct ParticipantReport {
  std::string spec;  // "expected" for a data set's own outputs
  std::string backend;
  DeviceInfo device;
  std::string version;
  std::string precision;
  Verdict verdict = Verdict::agrees;
  std::string error;  // why it failed or is unsupported
  std::string hint;
  ErrorKind error_kind = ErrorKind::failed;
  std::vector<OutputReport> outputs;
  std::vector<StepReport> steps;  // empty without --per-step
  std::vector<WorkerFallback> fallbacks;
  std::optional<bool> taps_changed_outputs;  // the observer effect; asked for with --per-step
  std::optional<int> repeats_that_differ;    // of --repeat N
  int repeats = 0;
  std::vector<DeterminismCheck> determinism;  // of --repeat N
  std::vector<ToggleReport> toggles;          // on divergence, or asked for
  std::optional<MinimalReport> minimal;       // of --minimise
  std::optional<DecodeReport> decode;         // of --decode N
  std::optional<Performance> performance;
};

struct CaseReport {
  std::string label;
  std::string data;  // "generated, seed 0" or the data set's folder
  Bindings dims;
  std::string reference;  // "float64 oracle" or a spec
  std::vector<ParticipantReport> participants;
  std::optional<Agreement> agreement;      // of several participants
  std::optional<Calibration> calibration;  // of the measuring
  std::string measuring_error;             // why there are no times
};

struct ModelReport {
  std::string path;
  std::string sha256;
  std::map<std::string, std::int64_t> opsets;
  std::string producer;
  std::vector<CaseReport> cases;
  std::string error;  // the model could not be read; no cases then
  std::string hint;
  ErrorKind error_kind = ErrorKind::invalid;
  Verdict verdict() const;
};

struct Machine {
  std::string processor;
  int cores = 0;  // that the process may use
  std::int64_t memory_bytes = 0;
  std::string system;
};
Machine this_machine();

struct Report {
  std::string version;  // of Concord
  std::string date;     // ISO 8601, UTC
  Machine machine;
  std::vector<ModelReport> models;
  std::vector<std::string> skipped;  // backends that do not start here, with the reason
  std::optional<BaselineReport> baseline;

  Verdict verdict() const;
  int exit_code() const;
};

Verdict worst(Verdict a, Verdict b);
// Of several exit codes the one to exit with: usage and invalid input before failures, before what
// is unsupported, before divergence, before what is slower.
int worse_exit(int a, int b);
// The first judged step that is worse than branched, or null.
const StepReport* first_fault(const std::vector<StepReport>& steps);
const StepReport* first_fault(const ParticipantReport& participant);
// The first step where a NaN or an infinity arises, or null.
const StepReport* first_non_finite(const std::vector<StepReport>& steps);

// --- writers
// ---------------------------------------------------------------------------------------
struct TextOptions {
  bool per_step = false;
  bool verbose = false;
  bool colour = false;
};
std::string to_text(const Report& report, const TextOptions& options);  // ≤ 100 columns
// As parity/report.schema.json says; `indent` −1 for one line.
std::string to_json_text(const Report& report, int indent = 1);
std::string to_html(const Report& report);      // one file, no network
std::string to_junit(const Report& report);     // one case per output and spec
std::string to_markdown(const Report& report);  // fits a CI step summary

}  // namespace concord::parity
