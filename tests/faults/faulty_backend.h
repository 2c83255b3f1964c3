#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/spec.h"
#include "tests/faults/fault.h"

namespace concord::faults {

// A backend that runs everything on another one, but one step with a fault. `faulty:device=FILE`
// once register_faulty() was called; FILE is what write_fault wrote.
std::shared_ptr<Backend> make_faulty(const BackendSpec& spec);
void register_faulty();

// What the fault makes of a step in float64 (rounded to its type only before its results are
// spoilt): for the size of a fault before it is tried.
std::vector<Tensor> faulty_results(const Site& site, const Fault& fault, const Bindings& bindings,
                                   const StepPrecision& precision);

}  // namespace concord::faults
