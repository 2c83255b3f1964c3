#pragma once

#include <string>
#include <vector>

#include "parity/ceilings.h"
#include "parity/report.h"

namespace concord::parity {

// A device's ceilings in a few lines.
std::string to_text(const Ceilings& ceilings, std::size_t indent);
// One offline page with a chart of matmul throughput over size, and of copies, per device.
std::string ceilings_html(const std::vector<Ceilings>& all, const Machine& machine,
                          const std::string& version, const std::string& date);

}  // namespace concord::parity
