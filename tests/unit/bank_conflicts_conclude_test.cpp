#include "probes/bank_conflicts/patterns.h"
#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

namespace {

/// What a GPU that does exactly what the model says would give.
std::vector<Entry> ideal_entries() {
  std::vector<Entry> entries;
  for (const auto op : {models::Access::load, models::Access::store}) {
    const std::string name = op == models::Access::load ? "load" : "store";
    for (const int bytes : {4, 8, 16}) {
      for (const auto& pattern : bank_conflicts::patterns(op, bytes)) {
        // Literally what is claimed, for loads and stores alike.
        const int wavefronts = bank_conflicts::claimed_wavefronts(pattern.access);
        Entry e = planted::entry(name + "/" + std::to_string(bytes * 8) + "/" + pattern.name,
                                 {{"operation", name},
                                  {"bits", std::int64_t{bytes} * 8},
                                  {"family", pattern.family},
                                  {"pattern", pattern.name}},
                                 wavefronts * 1.004, Better::lower);
        e.expected = Expectation{static_cast<double>(wavefronts), 0.02, "test"};
        e.extras["claimed_wavefronts"] = wavefronts;
        e.extras["accesses"] = 1000;
        e.extras["filling_stores"] = 8;
        e.extras["useful_bytes_per_access"] =
            bytes * static_cast<double>(__builtin_popcount(pattern.access.active_mask));
        planted::add_counter(e, "shared_" + name + "_wavefronts", 1000 * wavefronts + 8,
                             1000 * wavefronts + 8);
        planted::add_counter(e, "shared_" + name + "_conflicts", 0, 0);
        entries.push_back(std::move(e));
      }
    }
  }
  return entries;
}

Entry& entry_named(std::vector<Entry>& entries, const std::string& name) {
  for (Entry& e : entries) {
    if (e.name == name) return e;
  }
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("one wavefront more refutes the claim it belongs to, and only that", "[probes]") {
  auto entries = ideal_entries();
  entry_named(entries, "store/64/pairs:i^1").counters[0].value = 2 * 1000 + 8;
  entry_named(entries, "load/32/column:padded").counters[0].value = 2 * 1000 + 8;
  entry_named(entries, "load/64/stride:2").counters[1].value = 32;
  const auto findings = bank_conflicts::conclude(entries);
  CHECK(planted::claim(findings.claims, "S4 (stores)").verdict == ClaimVerdict::refuted);
  CHECK(planted::claim(findings.claims, "S4").verdict == ClaimVerdict::confirmed);
  CHECK(planted::claim(findings.claims, "S8").verdict == ClaimVerdict::refuted);
  CHECK(planted::claim(findings.claims, "S2").verdict == ClaimVerdict::refuted);
  CHECK(planted::claim(findings.claims, "S6").verdict == ClaimVerdict::refuted);
  CHECK(planted::claim(findings.claims, "S5").verdict == ClaimVerdict::confirmed);
}

TEST_CASE("without counters the clocks decide", "[probes]") {
  auto entries = ideal_entries();
  for (Entry& e : entries) e.counters.clear();
  CHECK(planted::claim(bank_conflicts::conclude(entries).claims, "S4").verdict ==
        ClaimVerdict::confirmed);
  entry_named(entries, "load/64/pairs:i^2").metric.value = 2.01;
  CHECK(planted::claim(bank_conflicts::conclude(entries).claims, "S4").verdict ==
        ClaimVerdict::refuted);
}
