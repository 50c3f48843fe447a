#include "results/facts.h"

#include <utility>

namespace fathom {

Fact named_fact(FactName name) {
  Fact fact;
  fact.id = std::move(name.id);
  fact.subject = std::move(name.subject);
  fact.quantity = std::move(name.quantity);
  fact.unit = std::move(name.unit);
  fact.better = name.better;
  return fact;
}

Fact fact_of(const Entry& entry, FactName name, std::string method) {
  if (name.unit.empty()) {
    name.unit = entry.metric.unit;
    name.better = entry.metric.better;
  }
  Fact fact = named_fact(std::move(name));
  fact.value = entry.metric.value;
  fact.interval = entry.interval;
  fact.method = std::move(method);
  fact.repeats = static_cast<int>(entry.samples.size());
  fact.evidence = {entry.name};
  fact.bound = entry.bound;
  fact.counters = entry.counters;
  return fact;
}

Fact missing_fact(FactName name, std::string reason) {
  Fact fact = named_fact(std::move(name));
  fact.reason = std::move(reason);
  return fact;
}

std::string why_missing(const Entry* entry, std::string absent) {
  if (entry == nullptr) return absent;
  return entry->verdict.reasons.empty() ? "the case gave no value" : entry->verdict.reasons.front();
}

}  // namespace fathom
