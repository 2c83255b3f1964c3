#include "tools/concord/validators.h"

#include <cstdio>

namespace concord::tools {

CLI::Validator number_within(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most) {
          return std::string();
        }
        char bounds[64];
        std::snprintf(bounds, sizeof bounds, "%g to %g", least, most);
        return "'" + text + "' is no number from " + bounds;
      },
      "");
}

void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check(CLI::Validator(
        [](std::string& text) {
          return std::string(text.empty() ? "is empty: give a value, or leave it out" : "");
        },
        ""));
  }
}

}  // namespace concord::tools
