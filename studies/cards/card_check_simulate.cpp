// card_check_simulate: how often the card check calls a normal card low, and which slow cards it
// finds, with 3, 10 and 30 cards recorded. docs/card-check.md's table comes from it.

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "reports/card_check.h"
#include "results/document_io.h"
#include "studies/cards/simulation.h"

namespace {

using namespace fathom;

constexpr std::size_t sizes[] = {3, 10, 30};
constexpr std::size_t trials = 10'000;

std::string share(std::size_t hits) {
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(hits) / trials);
}

void print_table(const Document& recording, double spread) {
  fmt::print("\n**Cards that differ by {:.1f} % (standard deviation)**\n\n", 100 * spread);
  fmt::print("| | 3 cards recorded | 10 | 30 | 30, three of them slow |\n");
  fmt::print("| --- | ---: | ---: | ---: | ---: |\n");
  for (const double gap : {0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2}) {
    std::string row =
        gap == 0 ? "| no fault: called low" : fmt::format("| {:.0f} % slow: found", 100 * gap);
    const auto add = [&](std::size_t recorded, std::size_t slow) {
      cards::SimulatedCards options;
      options.recorded = recorded;
      options.slow_recorded = slow;
      options.spread = spread;
      options.gap = gap;
      options.trials = trials;
      const cards::CardTrials made = cards::simulate_cards(recording, options);
      row += " | " + share(gap == 0 ? made.low : made.found);
    };
    for (const std::size_t recorded : sizes) add(recorded, 0);
    add(30, 3);
    fmt::print("{} |\n", row);
    std::fflush(stdout);
  }
}

void print_limits() {
  for (std::size_t n = reports::fewest_cards; n <= 30; ++n)
    fmt::print("{:>3} cards: {:5.2f} spreads, a false alarm in {:.5f}\n", n, reports::card_limit(n),
               cards::false_alarm(n, reports::card_limit(n), 1'000'000, n));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "card_check_simulate RESULT | --limits\n");
    return 2;
  }
  try {
    if (std::strcmp(argv[1], "--limits") == 0) {
      print_limits();
    } else {
      const Document recording = read_document(argv[1]);
      for (const double spread : {0.002, 0.005, 0.01}) print_table(recording, spread);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "card_check_simulate: {}\n", error.what());
    return 1;
  }
  return 0;
}
