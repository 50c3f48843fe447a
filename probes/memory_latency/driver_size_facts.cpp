#include "probes/memory_latency/facts.h"

#include "results/facts.h"
#include "results/query.h"

namespace fathom::memory_latency {
namespace {

Fact size_fact(std::span<const Entry> entries, const char* level, const char* extra, FactName name,
               const char* method) {
  for (const Entry* entry : select(entries, {{"sweep", "latency"}, {"level", level}})) {
    const auto bytes = entry->extras.find(extra);
    if (bytes == entry->extras.end()) continue;
    Fact fact = named_fact(std::move(name));
    fact.value = bytes->second;
    fact.method = method;
    fact.repeats = 1;
    fact.evidence = {entry->name};
    return fact;
  }
  return missing_fact(std::move(name),
                      "the cases that carry what the driver says were left out of this run");
}

}  // namespace

std::vector<Fact> driver_size_facts(std::span<const Entry> entries) {
  return {size_fact(entries, "shared", register_bytes, {"registers.size", "registers", "size", "B"},
                    "not measured: the driver's number of 4-byte registers of an SM"),
          size_fact(entries, "shared", shared_bytes, {"shared.size", "shared memory", "size", "B"},
                    "not measured: the driver's most shared memory of an SM, with what it keeps "
                    "for itself of each block"),
          size_fact(entries, "DRAM", memory_bytes, {"dram.size", "DRAM", "size", "B"},
                    "not measured: the memory that the driver lets programs have")};
}

}  // namespace fathom::memory_latency
