#pragma once

#include "graph/dtype.h"

namespace concord::reference {

// How many σ an honest error may reach.
constexpr double kLambda = 6;

// B = λσ + u_store·|y| + the smallest normal number: what may separate a stored value from the
// oracle's y. An element is over budget when !(|error| <= B). Where σ is 0 (moves, choices) and the
// store has y, there is nothing to round: only numbers below the smallest normal may be lost.
double budget(double y, double sigma, DataType store);

// Rule 5: whether an integer may be what quantising gave, `unrounded` being x/scale + zero point:
// within rounding of [unrounded − λσ, unrounded + λσ], clamped to the type.
bool quantised_within(double observed, double unrounded, double sigma, DataType to);

}  // namespace concord::reference
