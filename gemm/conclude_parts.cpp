#include "gemm/conclude_parts.h"

#include "results/query.h"

namespace fathom::gemm {
namespace {

AxisFilter at_compared_size(const std::string& type) {
  return {{"part", "ladder"},    {"type", type},       {"layout", "NN"},  {"m", compared_size},
          {"n", compared_size},  {"k", compared_size}, {"alpha", 1.0},    {"beta", 0.0}};
}

}  // namespace

const Entry* ladder_entry(std::span<const Entry> entries, const std::string& type, const std::string& rung) {
  AxisFilter filter = at_compared_size(type);
  filter.emplace_back("rung", rung);
  return find_measured(entries, filter);
}

const Entry* best_of_ladder(std::span<const Entry> entries, const std::string& type) {
  return best(select(entries, at_compared_size(type)));
}

std::optional<Library> faster_library(const Entry& entry) {
  std::optional<Library> faster;
  for (const Opponent& opponent : entry.opponents) {
    if (!opponent.value || (faster && *opponent.value <= faster->throughput)) continue;
    faster = Library{*opponent.value, opponent.name, entry.name};
  }
  return faster;
}

std::optional<Library> library_of(std::span<const Entry> entries, const std::string& type) {
  std::optional<Library> faster;
  for (const Entry* entry : select(entries, at_compared_size(type))) {
    const std::optional<Library> here = faster_library(*entry);
    if (here && (!faster || here->throughput > faster->throughput)) faster = here;
  }
  return faster;
}

std::optional<double> ratio_to_faster(const Entry& entry) {
  std::optional<double> worst;
  for (const Opponent& opponent : entry.opponents) {
    if (opponent.ratio && (!worst || *opponent.ratio < *worst)) worst = opponent.ratio;
  }
  return worst;
}

}  // namespace fathom::gemm
