#include "gate/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace fathom::gate {

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::string hash_of(const std::vector<std::string>& texts) {
  std::uint64_t value = 0xcbf29ce484222325u;
  const auto step = [&](unsigned char byte) { value = (value ^ byte) * 0x100000001b3u; };
  for (const std::string& text : texts) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0xff);  // no byte of UTF-8: "ab" + "c" differs from "a" + "bc"
  }
  return fmt::format("{:016x}", value);
}

std::string fact_of(const RunMetrics& run, const std::string& name) {
  for (const auto& [key, value] : run.identity)
    if (key == name) return value;
  return {};
}

std::vector<Difference> differences_of(const RunMetrics& base, const RunMetrics& head) {
  const auto tool = [](const RunMetrics& run) { return run.fathom ? "Fathom" : "another tool"; };
  if (base.fathom != head.fathom) return {{"program", tool(base), tool(head)}};
  std::set<std::string> names;
  for (const auto* run : {&base, &head})
    for (const auto& [name, value] : run->identity) names.insert(name);
  std::vector<Difference> differences;
  const auto compare = [&](const std::string& fact, const std::string& a, const std::string& b) {
    const auto shown = [](const std::string& value) { return value.empty() ? "not known" : value; };
    if (a != b) differences.push_back({fact, shown(a), shown(b)});
  };
  compare("suite", base.suite, head.suite);
  for (const std::string& name : names) compare(name, fact_of(base, name), fact_of(head, name));
  return differences;
}

std::vector<std::string> refusals_of(std::span<const RunMetrics> base,
                                     std::span<const RunMetrics> head) {
  std::vector<std::string> refusals;
  const auto refuse = [&](const std::string& why) {
    if (std::ranges::find(refusals, why) == refusals.end()) refusals.push_back(why);
  };
  for (const auto& side : {base, head})
    for (const RunMetrics& run : side)
      if (run.replay)
        refuse(run.origin + " is a replay of a recording: nothing in it was measured there");
  if (!refusals.empty() || base.empty()) return refusals;
  const std::string what =
      head.empty() ? "not all of the results are of one thing: different " : "different ";
  for (const auto& side : {base, head})
    for (const RunMetrics& run : side)
      for (const Difference& difference : differences_of(base.front(), run))
        refuse(what + difference.words());
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
