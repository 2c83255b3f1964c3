#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "importer/proto_fwd.h"

namespace concord::importer {

// The names that a body reads from outside of it, its own bodies included, in the order of first
// use. Remembers what it has found.
class FreeNames {
 public:
  const std::vector<std::string>& of(const onnx::GraphProto& body);
  // Everything that a node reads: its inputs (omitted ones apart) and its bodies' free names.
  std::vector<std::string> read_by(const onnx::NodeProto& node);

 private:
  std::map<const onnx::GraphProto*, std::vector<std::string>> found_;
};

struct NodeOrder {
  std::vector<const onnx::NodeProto*> nodes;
  bool was_sorted = true;
};

// The nodes so that each comes after what it reads; those that are in order stay so. `is_known`
// tells names that are there from the start. Throws Error(invalid) for a name that is defined twice
// or never, and for a cycle.
NodeOrder order_nodes(const std::vector<const onnx::NodeProto*>& nodes,
                      const std::function<bool(const std::string&)>& is_known, FreeNames& free);

// "node 'encoder/MatMul' (MatMul)", by its first output where it has no name.
std::string describe(const onnx::NodeProto& node);

}  // namespace concord::importer
