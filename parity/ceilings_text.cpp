#include "parity/ceilings_text.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "parity/html_page.h"
#include "parity/text.h"

namespace concord::parity {

std::string to_text(const Ceilings& c, std::size_t indent) {
  const std::string margin(indent, ' ');
  double fastest = 0;
  for (const MemoryRate& rate : c.copies) fastest = std::max(fastest, rate.rate);
  std::string text;
  if (!c.copies.empty()) {
    text += margin + "copy: " + with_unit(c.copies.back().rate, "B/s") + " of " +
            with_unit(c.copies.back().bytes, "B") + ", at most " + with_unit(fastest, "B/s") +
            " of less\n";
  }
  if (!c.reads.empty()) {
    text += margin + "read: " + with_unit(c.reads.back().rate, "B/s") + " of " +
            with_unit(c.reads.back().bytes, "B") + " of weights\n";
  }
  for (const MatmulCeiling& m : c.matmuls) {
    const auto best =
        std::max_element(m.sizes.begin(), m.sizes.end(),
                         [](const MatmulRate& a, const MatmulRate& b) { return a.rate < b.rate; });
    text += margin + "matmul in " + m.precision + ": " + with_unit(m.peak, "FLOP/s");
    if (best != m.sizes.end()) {
      text += " at " + std::to_string(best->size) + " cubed (" + best->kernel + ")";
    }
    text += "\n";
  }
  return text + margin + "an empty step: " + format("%.1f us", c.step_ms * 1e3) +
         "; an empty run: " + format("%.1f us", c.run_ms * 1e3) + "\n";
}

std::string ceilings_html(const std::vector<Ceilings>& all, const Machine& machine,
                          const std::string& version, const std::string& date) {
  nlohmann::json data = {{"ceilings", nlohmann::json::array()}};
  for (const Ceilings& ceilings : all) data["ceilings"].push_back(to_json(ceilings));
  HtmlPage page;
  page.title = "Device ceilings";
  page.subtitle = {"Concord " + version + ", " + date, machine_text(machine)};
  page.headline = "What " + std::to_string(all.size()) +
                  (all.size() == 1 ? " device" : " devices") + " can reach";
  page.notes = {
      "Measured with Concord's own kernels: the best of several runs. Dashed lines are where a "
      "matrix begins another tile of the kernel (fine) or another wave of tiles over the device's "
      "units (bold): just beyond one, throughput drops."};
  page.data = data.dump();
  page.script = PageScript::devices;
  return html(page);
}

}  // namespace concord::parity
