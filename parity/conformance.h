#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/tensor.h"
#include "parity/worker.h"

// Folders in ONNX's own test layout (model.onnx, test_data_set_N), compared as ONNX's runner does.
namespace concord::parity {

class WorkerProcess;

struct FolderResult {
  std::string folder;
  bool passed = false;
  bool native = false;       // no step fell back from the backend
  std::string op;            // operator of a one-node model, else the first one at fault
  std::string cause;         // one line; empty if passed
  bool unsupported = false;  // the cause is a missing operator or type
};

// Runs every data set of one folder in this process.
FolderResult check_folder(const std::filesystem::path& folder, const std::string& spec,
                          const WorkerJob& options);

// An empty string if the outputs agree, else what differs. rtol 1e-3, atol 1e-7
// (bfloat16: rtol 2⁻⁶), integers, strings and bool exact, NaN equals NaN, sequences and optionals
// item by item.
std::string difference(const Tensor& actual, const Tensor& expected);

// The model folders below `root`, or itself if it is one; sorted.
std::vector<std::filesystem::path> model_folders(const std::filesystem::path& root);

// A worker that checks folders one after the other. A call throws Error(failed) if the worker died;
// it cannot be used after that.
class FolderWorker {
 public:
  FolderWorker(const std::string& spec, const WorkerJob& options);
  ~FolderWorker();
  FolderWorker(const FolderWorker&) = delete;
  FolderWorker& operator=(const FolderWorker&) = delete;
  FolderResult check(const std::filesystem::path& folder);

 private:
  std::string spec_;
  WorkerJob options_;
  std::unique_ptr<WorkerProcess> process_;
};

// Every folder, in worker processes that are started again when one dies. `done` is called after
// each.
std::vector<FolderResult> check_folders(const std::vector<std::filesystem::path>& folders,
                                        const std::string& spec, const WorkerJob& options,
                                        const std::function<void(const FolderResult&)>& done);

}  // namespace concord::parity
