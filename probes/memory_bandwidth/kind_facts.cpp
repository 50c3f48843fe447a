#include "probes/memory_bandwidth/facts.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "probes/memory_bandwidth/entry_facts.h"
#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"

namespace fathom::memory_bandwidth {
namespace {

void add_clusters(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const std::int64_t size : {2, 4, 8, 16}) {
    const FactName name{fmt::format("dsmem.bandwidth_cluster_{}", size),
                        fmt::format("distributed shared memory, cluster of {}", size), "bandwidth"};
    facts.push_back(bandwidth_fact(select(entries, {{"sweep", "level"},
                                                    {"level", "distributed shared"},
                                                    {"operation", "load"},
                                                    {"width (B)", std::int64_t{16}},
                                                    {"cluster size", size}}),
                                   name, no_clusters));
  }
}

/// What the L2 gives by instruction, working set and sharing, which is what published figures
/// differ in: the best case of each kind.
struct L2Kind {
  const char* id;
  const char* subject;
  const char* instruction;
  bool both_partitions;
  const char* sharing;
};
constexpr L2Kind l2_kinds[] = {
    {"l2.bandwidth_cg", "L2, ld.global.cg", "ld.global.cg", false, "each warp its part"},
    {"l2.bandwidth_no_allocate", "L2, L1::no_allocate", "ld.global.L1::no_allocate", false,
     "each warp its part"},
    {"l2.bandwidth_cg_large_set", "L2, ld.global.cg, 70 % of it in use", "ld.global.cg", true,
     "each warp its part"},
    {"l2.bandwidth_no_allocate_large_set", "L2, L1::no_allocate, 70 % of it in use",
     "ld.global.L1::no_allocate", true, "each warp its part"},
    {"l2.bandwidth_cg_shared_set", "L2, ld.global.cg, every SM reads everything", "ld.global.cg",
     false, "every SM everything"},
    {"l2.bandwidth_no_allocate_shared_set", "L2, L1::no_allocate, every SM reads everything",
     "ld.global.L1::no_allocate", false, "every SM everything"},
    {"l2.bandwidth_many_blocks", "L2, ld.global.cg, a tile a warp, many more blocks than fit",
     "ld.global.cg", false, "each warp one tile"},
};

/// "; the L2 read 81.4 % of the sectors loaded, ...", where that is fewer.
std::string merged_note(const Entry& entry) {
  constexpr double as_many = 0.99;
  const auto share = read_by_l2(entry);
  if (!share || *share >= as_many) return "";
  return fmt::format(
      "; the L2 read {} of the sectors loaded: what several SMs asked for at once it read once",
      format_percent(*share));
}

void add_l2_kinds(std::vector<Fact>& facts, std::span<const Entry> entries) {
  for (const L2Kind& kind : l2_kinds) {
    std::vector<const Entry*> cases = select(entries, {{"sweep", "level"},
                                                       {"level", "L2"},
                                                       {"operation", "load"},
                                                       {"instruction", kind.instruction},
                                                       {"width (B)", std::int64_t{16}},
                                                       {"sharing", kind.sharing}});
    std::erase_if(cases, [&](const Entry* e) {
      return (extra(*e, "share_of_l2").value_or(0) > 0.5) != kind.both_partitions;
    });
    facts.push_back(
        bandwidth_fact(cases, {kind.id, kind.subject, "bandwidth"}, left_out, merged_note));
  }
}

/// The bytes that DRAM itself counted over the time without a counter.
void add_by_counter(std::vector<Fact>& facts, std::span<const Entry> entries) {
  const FactName name{"dram.bandwidth_by_counter", "DRAM", "bandwidth by counter", "B/s"};
  const Entry* entry = best(select(entries, {{"sweep", "level"},
                                             {"level", "DRAM"},
                                             {"operation", "load"},
                                             {"width (B)", std::int64_t{16}}}));
  const auto missing = [&](std::string reason) {
    facts.push_back(missing_fact(name, std::move(reason)));
  };
  if (entry == nullptr) return missing(left_out);
  const Counter* counter = find_counter(*entry, "dram_read_bytes");
  if (counter == nullptr || !counter->value) {
    return missing(counter == nullptr || counter->reason.empty()
                       ? "DRAM's bytes were not counted in this run"
                       : counter->reason);
  }
  const auto moved = extra(*entry, "bytes_moved");
  if (!moved || !(*moved > 0)) return missing("the case does not say how much it loads");
  const double ratio = *counter->value / *moved;
  Fact fact =
      fact_of(*entry, name,
              fmt::format("bytes that DRAM counted over separately measured time; {:.4f} of "
                          "the bytes loaded",
                          ratio));
  scale(fact, ratio);
  facts.push_back(std::move(fact));
}

}  // namespace

std::vector<Fact> kind_facts(std::span<const Entry> entries) {
  std::vector<Fact> facts;
  add_clusters(facts, entries);
  add_l2_kinds(facts, entries);
  add_by_counter(facts, entries);
  return facts;
}

}  // namespace fathom::memory_bandwidth
