#include <vector>

#include "models/published_rows.h"

namespace fathom::models {
namespace {

constexpr std::string_view volta =
    "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, arXiv "
    "1804.06826 (April 2018), table 4.1";

struct Latency {
  std::string_view fact;
  double cycles;
};

// Instructions of Volta as that table names them, of those that Fathom measures by themselves. Its
// MUFU stands for all special functions.
constexpr Latency latencies[] = {
    {"fadd.latency", 4},      {"fmul.latency", 4},       {"ffma.latency", 4},
    {"iadd3.latency", 4},     {"lop3.latency", 4},       {"shf.latency", 4},
    {"sel.latency", 4},       {"imad.latency", 5},       {"fmnmx.latency", 5},
    {"hadd2.latency", 6},     {"hmul2.latency", 6},      {"hfma2.latency", 6},
    {"dadd.latency", 8},      {"dmul.latency", 8},       {"dfma.latency", 8},
    {"popc.latency", 10},     {"flo.latency", 14},       {"brev.latency", 14},
    {"mufu_rsq.latency", 14}, {"mufu_sqrt.latency", 14}, {"mufu_ex2.latency", 14},
    {"mufu_lg2.latency", 14},
};

}  // namespace

std::span<const PublishedFigure> published_of_instructions() {
  static const std::vector<PublishedFigure> figures = [] {
    std::vector<PublishedFigure> rows;
    for (const Latency& latency : latencies)
      rows.push_back({latency.fact, latency.cycles, "cycles", "V100", 7, 0, 201804, volta, true});
    return rows;
  }();
  return figures;
}

}  // namespace fathom::models
