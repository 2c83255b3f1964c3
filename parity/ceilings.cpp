#include "parity/ceilings.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace concord::parity {

using nlohmann::json;

namespace {

double rate_at(const std::vector<MemoryRate>& rates, double bytes) {
  if (rates.empty()) return 0;
  // Small ones are bound by their overhead, which is another ceiling: what is smaller than the
  // fastest size is as fast.
  const auto fastest =
      std::max_element(rates.begin(), rates.end(),
                       [](const MemoryRate& a, const MemoryRate& b) { return a.rate < b.rate; });
  if (bytes <= fastest->bytes) return fastest->rate;
  for (auto next = fastest + 1; next != rates.end(); ++next) {
    if (bytes > next->bytes) continue;
    const MemoryRate& before = *(next - 1);
    const double share = std::log(bytes / before.bytes) / std::log(next->bytes / before.bytes);
    return before.rate + share * (next->rate - before.rate);
  }
  return rates.back().rate;
}

json rates_json(const std::vector<MemoryRate>& rates) {
  json list = json::array();
  for (const MemoryRate& rate : rates) {
    list.push_back({{"bytes", rate.bytes}, {"bytes_per_s", rate.rate}});
  }
  return list;
}

std::vector<MemoryRate> rates_from_json(const json& list) {
  std::vector<MemoryRate> rates;
  for (const json& rate : list) {
    rates.push_back({rate.at("bytes").get<double>(), rate.at("bytes_per_s").get<double>()});
  }
  return rates;
}

}  // namespace

double Ceilings::copy_rate(double bytes) const {
  return rate_at(copies, bytes);
}

double Ceilings::read_rate(double bytes) const {
  return rate_at(reads, bytes);
}

double Ceilings::peak(const StepPrecision& precision) const {
  std::string wanted(to_string(precision.operand));
  if (precision.tf32) wanted = "tf32";
  if (precision.operand == DataType::u8) wanted = "int8";
  double fallback = 0;
  for (const MatmulCeiling& ceiling : matmuls) {
    if (ceiling.precision == wanted) return ceiling.peak;
    if (ceiling.precision == "float32") fallback = ceiling.peak;
  }
  return fallback;
}

json to_json(const Ceilings& c) {
  json matmuls = json::array();
  for (const MatmulCeiling& ceiling : c.matmuls) {
    json sizes = json::array();
    for (const MatmulRate& size : ceiling.sizes) {
      sizes.push_back({{"size", size.size}, {"flop_per_s", size.rate}, {"kernel", size.kernel}});
    }
    matmuls.push_back({{"precision", ceiling.precision},
                       {"flop_per_s", ceiling.peak},
                       {"sizes", std::move(sizes)}});
  }
  return {{"backend", c.backend},
          {"device",
           {{"index", c.device.index},
            {"name", c.device.name},
            {"driver", c.device.driver},
            {"type", c.device.type},
            {"memory_bytes", c.device.memory_bytes},
            {"units", c.device.units}}},
          {"step_ms", c.step_ms},
          {"run_ms", c.run_ms},
          {"copies", rates_json(c.copies)},
          {"reads", rates_json(c.reads)},
          {"matmuls", std::move(matmuls)}};
}

Ceilings ceilings_from_json(const json& j) {
  Ceilings c;
  c.backend = j.at("backend").get<std::string>();
  const json& d = j.at("device");
  c.device = {d.at("index").get<int>(),
              d.at("name").get<std::string>(),
              d.at("driver").get<std::string>(),
              d.at("type").get<std::string>(),
              d.at("memory_bytes").get<std::uint64_t>(),
              d.at("units").get<int>()};
  c.step_ms = j.at("step_ms").get<double>();
  c.run_ms = j.at("run_ms").get<double>();
  c.copies = rates_from_json(j.at("copies"));
  c.reads = rates_from_json(j.at("reads"));
  for (const json& matmul : j.at("matmuls")) {
    MatmulCeiling ceiling{
        matmul.at("precision").get<std::string>(), matmul.at("flop_per_s").get<double>(), {}};
    for (const json& size : matmul.at("sizes")) {
      ceiling.sizes.push_back({size.at("size").get<std::int64_t>(),
                               size.at("flop_per_s").get<double>(),
                               size.at("kernel").get<std::string>()});
    }
    c.matmuls.push_back(std::move(ceiling));
  }
  return c;
}

}  // namespace concord::parity
