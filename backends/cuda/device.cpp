#include "backends/cuda/device.h"

#include <map>
#include <mutex>
#include <utility>

#include "backends/cuda/blas.h"
#include "backends/cuda/command_list.h"
#include "backends/cuda/context.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/launcher.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/physical_device.h"
#include "backends/gpu/gpu_backend.h"
#include "backends/gpu/staged_device.h"

namespace concord::cuda {
namespace {

class CudaDevice : public gpu::StagedDevice {
 public:
  CudaDevice(std::shared_ptr<Context> context, std::shared_ptr<Kernels> kernels,
             std::shared_ptr<Blas> blas, bool replay)
      : context_(std::move(context)),
        launcher_(std::make_shared<Launcher>(context_, std::move(kernels), std::move(blas))),
        replay_(replay) {}

  const gpu::DeviceProperties& properties() const override {
    return context_->physical().properties;
  }

  std::unique_ptr<gpu::Memory> allocate(std::size_t bytes, gpu::MemoryKind kind) override {
    return std::make_unique<CudaMemory>(context_, bytes, kind);
  }

  void prepare(const gpu::Kernel& kernel) override { launcher_->prepare(kernel); }

  std::unique_ptr<gpu::CommandList> record(std::span<const gpu::Command> commands,
                                           bool timestamps) override {
    const Replay replay = timestamps ? Replay::kTimed : replay_ ? Replay::kGraph : Replay::kDirect;
    return std::make_unique<CudaCommandList>(launcher_, commands, replay);
  }

  std::unique_ptr<gpu::CommandList> record_again(std::unique_ptr<gpu::CommandList> old,
                                                 std::span<const gpu::Command> commands,
                                                 bool timestamps) override {
    auto* list = dynamic_cast<CudaCommandList*>(old.get());
    if (list != nullptr && !timestamps && list->update(commands)) return old;
    old.reset();
    return record(commands, timestamps);
  }

  std::uint64_t driver_calls() const override { return Driver::calls(); }

 protected:
  void copy(const gpu::MemoryRange& from, const gpu::MemoryRange& to) override {
    context_->enter();
    launcher_->enqueue(gpu::CopyCommand{from, to}, context_->stream());
    try {
      context_->synchronise();
    } catch (...) {
      // The caller frees its staging memory, which the copy may still use.
      Driver::call(context_->driver().cuStreamSynchronize, context_->stream());
      throw;
    }
  }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Launcher> launcher_;
  bool replay_;
};

// Kernels are loaded once into a device's primary context, which all that open the device share.
std::shared_ptr<Kernels> kernels_of(int index, const std::shared_ptr<Context>& context) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Kernels>> loaded;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Kernels> kernels = loaded[index].lock();
  if (kernels == nullptr) {
    kernels = std::make_shared<Kernels>(context);
    loaded[index] = kernels;
  }
  return kernels;
}

// cuBLASLt, if it is wanted and there is one; the device then says who makes matrix products.
std::shared_ptr<const BlasLibrary> find_blas(gpu::DeviceProperties& properties, bool wanted) {
  std::string& info = properties.driver_info;
  if (!wanted) {
    info += ", portable matrix products";
    return nullptr;
  }
  const BlasLibrary::Opened& opened = BlasLibrary::get();
  if (opened.library == nullptr) {
    info += ", portable matrix products for want of cuBLASLt (" + opened.reason + ")";
    return nullptr;
  }
  info += ", " + opened.library->version_text();
  properties.library_matmul = true;
  return opened.library;
}

}  // namespace

OpenedDevice open_device(const std::string& wanted, const CompileOptions& options) {
  const std::shared_ptr<const Driver> driver = Driver::get();
  std::vector<PhysicalDevice> devices = physical_devices(*driver);
  const std::size_t chosen = gpu::select_candidate(gpu::candidates_of(devices), wanted, "CUDA");
  const auto index = static_cast<int>(devices[chosen].index);
  const auto library =
      find_blas(devices[chosen].properties, options.matmul != MatmulSource::portable);
  auto context = std::make_shared<Context>(driver, devices[chosen]);
  auto blas = library == nullptr ? nullptr : std::make_shared<Blas>(context, library);
  auto kernels = kernels_of(index, context);
  return {index, std::make_unique<CudaDevice>(std::move(context), std::move(kernels),
                                              std::move(blas), options.replay)};
}

std::vector<DeviceInfo> device_list() {
  const std::vector<PhysicalDevice> devices = physical_devices(*Driver::get());
  std::vector<DeviceInfo> infos;
  for (const gpu::Candidate* device :
       gpu::fit_candidates(gpu::candidates_of(devices), "CUDA",
                           "use another backend; Concord's kernels need a device of compute "
                           "capability 7.5 (Turing) or newer")) {
    infos.push_back(gpu::device_info(static_cast<int>(device->index), device->properties));
  }
  return infos;
}

}  // namespace concord::cuda
