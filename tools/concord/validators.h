#pragma once

#include <CLI/CLI.hpp>

namespace concord::tools {

// A number from `least` to `most`; NaN is none.
CLI::Validator number_within(double least, double most);

// Refuses empty words for every option of the command that takes a value: an empty file name is a
// variable of a script that was not set.
void refuse_empty_values(CLI::App& command);

}  // namespace concord::tools
