#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/tensor.h"

// Who agrees with whom: backends that give the same bits most likely run the same arithmetic, and
// two that each agree with the oracle may still be told apart.
namespace concord::parity {

struct AgreementPair {
  int a = 0, b = 0;  // indices of the participants
  bool identical = false;
  // The largest, over the outputs, of rms(difference) by what the noise of both makes (4·hypot of
  // their expected rms); at most 1 is within budget. Nullopt where no noise is known for them.
  std::optional<double> ratio;
  bool within() const { return identical || (ratio && *ratio <= 1); }
};

struct Agreement {
  std::vector<std::string> participants;  // those with outputs
  std::vector<int> classes;               // of each: equal numbers give the same bits; from 0
  std::vector<AgreementPair> pairs;       // a < b
};

// Outputs of one participant, in the model's order, with the rms of the noise expected in each.
struct Answers {
  std::string spec;
  std::vector<Tensor> outputs;
  std::vector<std::optional<double>> expected_rms;
};

Agreement agreement_of(std::span<const Answers> answers);

}  // namespace concord::parity
