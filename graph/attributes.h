#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/dim.h"
#include "graph/dtype.h"
#include "graph/tensor.h"

namespace concord::graph {

using AttrValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, SymShape, Tensor, DataType>;

// Attributes of a node by name, sorted. Missing attributes and wrong types throw Error(failed): the
// importer and the passes write what ops.def lists.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttrValue>> list) {
    for (const auto& [name, value] : list) set(name, value);
  }

  void set(const std::string& name, AttrValue value);
  void erase(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const AttrValue* find(std::string_view name) const;

  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  const std::string& text(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;
  const SymShape& dims(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;
  DataType dtype(std::string_view name) const;

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, AttrValue>> items_;
};

// Stable text of a value, as dump prints it; small tensors in full, large ones by shape and hash.
std::string to_string(const AttrValue& value);

}  // namespace concord::graph
