// concord worker | concord MODEL… [--seed N] [--places N] [--repeat N] [--honest N] [--minimise]
//                  [--output FILE]: runs the fault campaign on models (folders) and writes the
//                  page.
#include <cstring>
#include <iostream>

#include "graph/error.h"
#include "importer/tensor_io.h"
#include "parity/worker.h"
#include "tests/faults/campaign.h"
#include "tests/faults/faulty_backend.h"

namespace {

int campaign(int argc, char** argv) {
  concord::faults::CampaignOptions options;
  std::string output;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : "0"); };
    if (word == "--seed") {
      options.seed = std::stoull(value());
    } else if (word == "--places") {
      options.places = std::stoi(value());
    } else if (word == "--repeat") {
      options.repeat = std::stoi(value());
    } else if (word == "--honest") {
      options.honest = std::stoi(value());
    } else if (word == "--minimise") {
      options.minimise = true;
    } else if (word == "--check") {
      check = true;
    } else if (word == "--output") {
      output = value();
    } else {
      options.models.emplace_back(word);
    }
  }
  options.log = [](const std::string& line) { std::cerr << line << "\n"; };
  const concord::faults::CampaignResult result = run_campaign(options);
  const std::string text = campaign_text(options, result);
  if (output.empty()) {
    std::cout << text;
  } else {
    concord::importer::write_file(output, text);
  }
  return check && !is_good(result) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  concord::faults::register_faulty();
  if (argc == 2 && std::strcmp(argv[1], "worker") == 0) return concord::parity::worker_main();
  try {
    return campaign(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "concord faults: " << error.what() << "\n";
    return 2;
  }
}
