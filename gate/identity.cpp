#include "gate/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace fathom::gate {
namespace {

const std::set<std::string>& software_facts() {
  static const std::set<std::string> names{"toolkit", "cuda_runtime", "cuda_driver"};
  return names;
}

std::string shown(const std::string& value) { return value.empty() ? "not known" : value; }

/// FNV-1a, 64 bits (Fowler, Noll, Vo): names files, protects nothing.
class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0xff);  // no byte of UTF-8: "ab" + "c" differs from "a" + "bc"
  }
  std::string digits() const { return fmt::format("{:016x}", value_); }

 private:
  void step(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void add_once(std::vector<std::string>& to, const std::string& sentence) {
  if (std::find(to.begin(), to.end(), sentence) == to.end()) to.push_back(sentence);
}

}  // namespace

std::string fact_of(const RunMetrics& run, const std::string& name) {
  for (const auto& [key, value] : run.identity) {
    if (key == name) return value;
  }
  return {};
}

std::vector<Difference> changed_facts(const RunMetrics& base, const RunMetrics& head,
                                      Allowed allowed) {
  std::vector<Difference> differences;
  if (base.suite != head.suite)
    differences.push_back({"suite", shown(base.suite), shown(head.suite)});
  std::set<std::string> names;
  for (const auto* run : {&base, &head}) {
    for (const auto& [name, value] : run->identity) names.insert(name);
  }
  for (const std::string& name : names) {
    if (allowed == Allowed::software && software_facts().contains(name)) continue;
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
  for (const auto& side : {base, head}) {
    for (const RunMetrics& run : side) {
      if (run.replay)
        add_once(refusals, fmt::format("{} is a replay of a recording: nothing in it was measured "
                                       "there",
                                       run.origin));
    }
  }
  if (!refusals.empty() || base.empty()) return refusals;
  for (const auto& side : {base, head}) {
    for (const RunMetrics& run : side) {
      for (const std::string& difference : differences_of(base.front(), run, allowed))
        add_once(refusals, (head.empty() ? "not all of the results are of one thing: different "
                                         : "different ") +
                               difference);
    }
  }
  return refusals;
}

bool is_ratio(const std::string& unit, const std::string& name) {
  return unit == "x" && name.find(" vs ") != std::string::npos;
}

RunMetrics ratios_of(RunMetrics run) {
  static const std::set<std::string> facts{"gpu_name", "compute_capability", "sms", "toolkit",
                                           "cuda_runtime"};
  std::erase_if(run.identity, [](const auto& fact) { return !facts.contains(fact.first); });
  std::erase_if(run.metrics, [](const MetricValue& metric) {
    return !is_ratio(metric.unit, metric.name);
  });
  return run;
}

std::string short_hash(const std::string& text) {
  Hash hash;
  hash.add(text);
  return hash.digits();
}

std::string identity_key(const RunMetrics& run) {
  Hash hash;
  hash.add(run.fathom ? "fathom" : "google-benchmark");
  hash.add(run.suite);
  Identity sorted = run.identity;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [name, value] : sorted) {
    if (value.empty()) continue;  // a fact that a later version adds changes nothing where unknown
    hash.add(name);
    hash.add(value);
  }
  return hash.digits();
}

}  // namespace fathom::gate
