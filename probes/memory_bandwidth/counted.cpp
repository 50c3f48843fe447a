#include "probes/memory_bandwidth/cases.h"

// What the hardware counters must say of a launch through global memory.

namespace fathom::memory_bandwidth {

void count(Case& c, Operation operation, double bytes_moved, From from, bool once) {
  constexpr double sector = 32;
  const double one_way = operation == Operation::copy ? bytes_moved / 2 : bytes_moved;
  if (operation != Operation::store) {
    c.counters.push_back({"global_load_sectors", one_way / sector, 0, "bytes loaded / 32"});
    // Exact on an H200 wherever a sector is asked for once at a time; where several warps or SMs
    // ask for it at once, less is read than loaded.
    if (from != From::l1 && once)
      c.counters.push_back({"l2_read_sectors", one_way / sector, 0.001, "bytes loaded / 32"});
    else
      c.counters.push_back({"l2_read_sectors", std::nullopt, 0, ""});
  }
  if (operation != Operation::load) {
    for (const char* role : {"global_store_sectors", "l2_write_sectors"}) {
      c.counters.push_back(
          {role, one_way / sector, 0.005, "bytes stored / 32, the reports left out"});
    }
  }
  c.counters.push_back({"l1_hit_rate", std::nullopt, 0, ""});
  c.counters.push_back({"l2_hit_rate", std::nullopt, 0, ""});
  if (from != From::dram) {
    c.counters.push_back({"dram_read_bytes", std::nullopt, 0, ""});
    return;
  }
  if (operation != Operation::store)
    c.counters.push_back({"dram_read_bytes", one_way, 0.02, "every byte loaded once"});
  if (operation != Operation::load) {
    c.counters.push_back({"dram_write_bytes", one_way, 0.05,
                          "every byte stored once; the L2 may keep the last of them back"});
  }
}

}  // namespace fathom::memory_bandwidth
