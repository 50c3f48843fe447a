#include "results/facts.h"

#include <utility>

namespace fathom {

Fact named_fact(FactName name, std::string unit, Better better) {
  Fact fact;
  fact.id = std::move(name.id);
  fact.subject = std::move(name.subject);
  fact.quantity = std::move(name.quantity);
  fact.unit = std::move(unit);
  fact.better = better;
  return fact;
}

Fact fact_of(const Entry& entry, FactName name, std::string method) {
  Fact fact = named_fact(std::move(name), entry.metric.unit, entry.metric.better);
  fact.value = entry.metric.value;
  fact.interval = entry.interval;
  fact.method = std::move(method);
  fact.repeats = static_cast<int>(entry.samples.size());
  fact.evidence = {entry.name};
  fact.bound = entry.bound;
  fact.counters = entry.counters;
  return fact;
}

Fact missing_fact(FactName name, std::string unit, Better better, std::string reason) {
  Fact fact = named_fact(std::move(name), std::move(unit), better);
  fact.reason = std::move(reason);
  return fact;
}

std::string why_missing(const Entry* entry, std::string absent) {
  if (entry == nullptr) return absent;
  return entry->verdict.reasons.empty() ? "the case gave no value" : entry->verdict.reasons.front();
}

}  // namespace fathom
