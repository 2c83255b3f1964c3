#include "graph/attributes.h"

#include <algorithm>
#include <cstdio>

#include "graph/complex.h"
#include "graph/error.h"

namespace concord::graph {
namespace {

template <typename T>
const T& get(const AttrValue* value, std::string_view name) {
  if (value == nullptr) {
    throw Error(ErrorKind::failed, "internal: attribute '" + std::string(name) + "' is missing");
  }
  const T* result = std::get_if<T>(value);
  if (result == nullptr) {
    throw Error(ErrorKind::failed,
                "internal: attribute '" + std::string(name) + "' has another type");
  }
  return *result;
}

std::string number_text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

std::string tensor_text(const Tensor& t) {
  std::string text = std::string(concord::to_string(t.dtype())) + concord::to_string(t.shape());
  if (t.dtype() == DataType::string) return text;
  if (t.count() <= 16) {
    text += "{";
    const Tensor parts = parts_of(t);
    for (std::int64_t i = 0; i < parts.count(); ++i) {
      if (i != 0) text += ", ";
      text += is_float(parts.dtype()) ? number_text(parts.at_double(i))
                                      : std::to_string(parts.at_int(i));
    }
    return text + "}";
  }
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a
  const auto* p = reinterpret_cast<const unsigned char*>(t.in_place());
  for (std::int64_t i = 0; i < t.bytes(); ++i) hash = (hash ^ p[i]) * 1099511628211u;
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "#%016llx", static_cast<unsigned long long>(hash));
  return text + buffer;
}

}  // namespace

void Attributes::set(const std::string& name, AttrValue value) {
  const auto at = std::lower_bound(items_.begin(), items_.end(), name,
                                   [](const auto& item, const auto& n) { return item.first < n; });
  if (at != items_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    items_.emplace(at, name, std::move(value));
  }
}

void Attributes::erase(std::string_view name) {
  std::erase_if(items_, [&](const auto& item) { return item.first == name; });
}

const AttrValue* Attributes::find(std::string_view name) const {
  for (const auto& item : items_) {
    if (item.first == name) return &item.second;
  }
  return nullptr;
}

std::int64_t Attributes::integer(std::string_view name) const {
  return get<std::int64_t>(find(name), name);
}
std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const {
  const AttrValue* value = find(name);
  return value ? get<std::int64_t>(value, name) : otherwise;
}
double Attributes::number(std::string_view name) const {
  return get<double>(find(name), name);
}
double Attributes::number(std::string_view name, double otherwise) const {
  const AttrValue* value = find(name);
  return value ? get<double>(value, name) : otherwise;
}
const std::string& Attributes::text(std::string_view name) const {
  return get<std::string>(find(name), name);
}
std::string Attributes::text(std::string_view name, std::string_view otherwise) const {
  const AttrValue* value = find(name);
  return value ? get<std::string>(value, name) : std::string(otherwise);
}
const std::vector<std::int64_t>& Attributes::integers(std::string_view name) const {
  return get<std::vector<std::int64_t>>(find(name), name);
}
const std::vector<double>& Attributes::numbers(std::string_view name) const {
  return get<std::vector<double>>(find(name), name);
}
const SymShape& Attributes::dims(std::string_view name) const {
  return get<SymShape>(find(name), name);
}
const Tensor& Attributes::tensor(std::string_view name) const {
  return get<Tensor>(find(name), name);
}
DataType Attributes::dtype(std::string_view name) const {
  return get<DataType>(find(name), name);
}

std::string to_string(const AttrValue& value) {
  struct Printer {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number_text(v); }
    std::string operator()(const std::string& v) const { return "\"" + v + "\""; }
    std::string operator()(const std::vector<std::int64_t>& v) const {
      return concord::to_string(std::span<const std::int64_t>(v));
    }
    std::string operator()(const std::vector<double>& v) const {
      std::string text = "[";
      for (std::size_t i = 0; i < v.size(); ++i) text += (i ? ", " : "") + number_text(v[i]);
      return text + "]";
    }
    std::string operator()(const SymShape& v) const {
      return concord::to_string(std::span<const Dim>(v));
    }
    std::string operator()(const Tensor& v) const { return tensor_text(v); }
    std::string operator()(DataType v) const { return std::string(concord::to_string(v)); }
  };
  return std::visit(Printer{}, value);
}

}  // namespace concord::graph
