#include "backends/cpu/host_step.h"

#include <cstring>

#include "backends/cpu/compiler.h"
#include "backends/cpu/planner.h"
#include "backends/host/host.h"

namespace concord::cpu {
namespace {

// Memory of the plan, seen as a tensor's.
class BorrowedStorage : public Storage {
 public:
  BorrowedStorage(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  std::byte* data() override { return data_; }
  std::size_t size() const override { return size_; }
  bool writable() const override { return false; }

 private:
  std::byte* data_;
  std::size_t size_;
};

struct Place {
  Ref at;
  DataType dtype = DataType::undefined;
  Shape shape;
};

Tensor borrow(const Frame& frame, const Place& place) {
  if (!place.at) return {};
  const auto bytes =
      static_cast<std::size_t>(storage_bytes(place.dtype, element_count(place.shape)));
  return {place.dtype, place.shape, std::make_shared<BorrowedStorage>(frame.at(place.at), bytes),
          0};
}

}  // namespace

std::optional<std::string> why_not_host(const graph::Graph& graph, const graph::Node& node) {
  return host::why_unsupported(graph, node);
}

PlanFn prepare_host(Compiler& compiler) {
  return [graph = compiler.shared_graph(), node = &compiler.node()](Planner& p) {
    std::vector<Place> inputs(static_cast<std::size_t>(p.input_count()));
    for (int i = 0; i < p.input_count(); ++i) {
      if (p.has(i)) inputs[static_cast<std::size_t>(i)] = {p.in(i), p.dtype(i), p.shape(i).shape()};
    }
    std::vector<Place> outputs(static_cast<std::size_t>(p.output_count()));
    for (int i = 0; i < p.output_count(); ++i) {
      if (!p.has_output(i)) continue;
      outputs[static_cast<std::size_t>(i)] = {p.out(i), p.out_dtype(i), p.out_shape(i).shape()};
    }
    p.emit("host", 0, [graph, node, inputs, outputs](const Frame& f) {
      std::vector<Tensor> arguments;
      for (const Place& input : inputs) arguments.push_back(borrow(f, input));
      const std::vector<Tensor> results = host::run(*graph, *node, arguments, *f.bindings);
      for (std::size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
        const Place& out = outputs[i];
        if (!out.at) continue;
        if (results[i].shape() != out.shape) {
          throw Error(ErrorKind::invalid, "an output of shape " + to_string(results[i].shape()) +
                                              " where " + to_string(out.shape) + " was planned");
        }
        if (results[i].bytes() == 0) continue;
        std::memcpy(f.at(out.at), results[i].data(), static_cast<std::size_t>(results[i].bytes()));
      }
    });
  };
}

}  // namespace concord::cpu
