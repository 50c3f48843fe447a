#include "gate/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace fathom::gate {
namespace {

std::string shown(const std::string& value) { return value.empty() ? "not known" : value; }

/// FNV-1a, 64 bits (Fowler, Noll, Vo), of texts: names files, protects nothing.
std::string hash_of(const std::vector<std::string>& texts) {
  std::uint64_t value = 0xcbf29ce484222325u;
  const auto step = [&](unsigned char byte) { value = (value ^ byte) * 0x100000001b3u; };
  for (const std::string& text : texts) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0xff);  // no byte of UTF-8: "ab" + "c" differs from "a" + "bc"
  }
  return fmt::format("{:016x}", value);
}

void add_once(std::vector<std::string>& to, const std::string& sentence) {
  if (std::ranges::find(to, sentence) == to.end()) to.push_back(sentence);
}

}  // namespace

std::string fact_of(const RunMetrics& run, const std::string& name) {
  for (const auto& [key, value] : run.identity)
    if (key == name) return value;
  return {};
}

std::vector<Difference> changed_facts(const RunMetrics& base, const RunMetrics& head,
                                      Allowed allowed) {
  std::vector<Difference> differences;
  if (base.suite != head.suite)
    differences.push_back({"suite", shown(base.suite), shown(head.suite)});
  std::set<std::string> names;
  for (const auto* run : {&base, &head})
    for (const auto& [name, value] : run->identity) names.insert(name);
  static const std::set<std::string> software{"toolkit", "cuda_runtime", "cuda_driver"};
  for (const std::string& name : names) {
    if (allowed == Allowed::software && software.contains(name)) continue;
    const std::string before = fact_of(base, name), after = fact_of(head, name);
    if (before != after) differences.push_back({name, shown(before), shown(after)});
  }
  return differences;
}

std::vector<std::string> differences_of(const RunMetrics& base, const RunMetrics& head,
                                        Allowed allowed) {
  if (base.fathom != head.fathom) return {"program: one is a run of Fathom, the other is not"};
  std::vector<std::string> differences;
  for (const auto& [name, before, after] : changed_facts(base, head, allowed))
    differences.push_back(fmt::format("{}: {} and {}", name, before, after));
  return differences;
}

std::vector<std::string> refusals_of(std::span<const RunMetrics> base,
                                     std::span<const RunMetrics> head, Allowed allowed) {
  std::vector<std::string> refusals;
  for (const auto& side : {base, head})
    for (const RunMetrics& run : side)
      if (run.replay)
        add_once(refusals, fmt::format("{} is a replay of a recording: nothing in it was measured "
                                       "there",
                                       run.origin));
  if (!refusals.empty() || base.empty()) return refusals;
  const std::string what =
      head.empty() ? "not all of the results are of one thing: different " : "different ";
  for (const auto& side : {base, head})
    for (const RunMetrics& run : side)
      for (const std::string& difference : differences_of(base.front(), run, allowed))
        add_once(refusals, what + difference);
  return refusals;
}

bool is_ratio(const std::string& unit, const std::string& name) {
  return unit == "x" && name.find(" vs ") != std::string::npos;
}

RunMetrics ratios_of(RunMetrics run) {
  static const std::set<std::string> facts{"gpu_name", "compute_capability", "sms", "toolkit",
                                           "cuda_runtime"};
  std::erase_if(run.identity, [](const auto& fact) { return !facts.contains(fact.first); });
  std::erase_if(run.metrics,
                [](const MetricValue& metric) { return !is_ratio(metric.unit, metric.name); });
  return run;
}

std::string short_hash(const std::string& text) { return hash_of({text}); }

std::string identity_key(const RunMetrics& run) {
  std::vector<std::string> texts{run.fathom ? "fathom" : "google-benchmark", run.suite};
  Identity sorted = run.identity;
  std::ranges::sort(sorted);
  for (const auto& [name, value] : sorted)
    // A fact that a later version adds changes nothing where unknown.
    if (!value.empty()) texts.insert(texts.end(), {name, value});
  return hash_of(texts);
}

}  // namespace fathom::gate
