#include <fmt/format.h>

#include <limits>
#include <utility>

#include "gemm/bench/conclude.h"
#include "results/text.h"

// What is claimed of the fp32 ladders' traffic, and of what it makes warps wait for.

namespace fathom::gemm {
namespace {

/// Elements that the first kernel asks for, 32 lanes of 4 bytes a request, against both operands
/// anew for each multiplication, the most that any kernel should; and the least that a rung moves.
ClaimRow worst_traffic() {
  constexpr double size = ladder_size, element = 4, lanes = 32;
  constexpr double worst = 2 * size * size * size * element, exact = 0.01;
  const auto loads = [](const Entry& e) {
    return lanes * element * counter_of("global_load_requests")(e);
  };
  const auto moved = [](const Entry& e) {
    return counter_of("dram_read_bytes")(e) + counter_of("dram_write_bytes")(e);
  };
  Quantity most = rung_at_size("most", "row_major/01_naive", "fp32", loads);
  most.unit = "B";
  return {
      "GT2",
      {},
      "A product's traffic is between A, B and C once (read and written) and 2 m n k elements",
      "4092³: 268 MB to 548 GB",
      {most, {"least", at_size("fp32", ladder_size), Pick::least, moved, "B", is_measured}},
      {{"most", (1 - exact) * worst, (1 + exact) * worst},
       {"least", 3 * size * size * element, worst}},
      fmt::format("[at {}³ row_major/01_naive asks for {{most}}, and 2 m n k elements are {}][; "
                  "least moves at DRAM by {{least rung}}, {{least}}, and A, B and C once (this C "
                  "is not read) are {}]",
                  ladder_size, format_quantity(worst, "B"),
                  format_quantity(3 * size * size * element, "B"))};
}

/// What a lesson reads over what the library does: of device memory and of shared memory.
ClaimRow against_library(const char* id, const char* statement, const char* claimed, double factor,
                         const char* rung) {
  const auto counted = [](const char* role) {
    return Quantity{role,
                    {{"part", claimed_part}, {"type", "fp32"}, {"rung", library_alone}},
                    Pick::first,
                    [role](const Entry& e) {  // nought: nothing was counted
                      const double count = counter_of(role)(e);
                      return count > 0 ? count : std::numeric_limits<double>::quiet_NaN();
                    }};
  };
  const char* const of_dram = "rung dram_read_bytes/dram_read_bytes";
  const char* const of_shared = "rung shared_load_wavefronts/shared_load_wavefronts";
  return {
      id,
      {},
      statement,
      claimed,
      {rung_at_size("rung", rung), counted("dram_read_bytes"), counted("shared_load_wavefronts")},
      {about(of_dram, factor), about(of_shared, factor)},
      fmt::format("[{{{}:.1f}} x of device memory][, {{{}:.1f}} x the wavefronts of shared memory]",
                  of_dram, of_shared),
      Rule::cases};
}

/// Stalls for room in the queues of memory instructions.
ClaimRow throttle_falls() {
  const auto stalls = [](const Entry& e) {
    return counter_of("stall_lg_throttle")(e) + counter_of("stall_mio_throttle")(e);
  };
  return {"GC11",
          {},
          "Memory-pipe throttle stalls fall from the naive kernel to shared memory",
          "they fall",
          {rung_at_size("naive", "column_major/01_naive", "fp32", stalls),
           rung_at_size("shared", "column_major/02_shared_memory", "fp32", stalls)},
          {{"shared/naive", 0, below_one}},
          "[warps per issue that wait there: column_major/01_naive {naive:.2f}, "
          "column_major/02_shared_memory {shared:.2f}]"};
}

/// What the blocks of tiled rungs read, against 2 m n k / tile elements (with equal sides).
ClaimRow blocks_read_again() {
  const auto share = [](const Entry& e) {
    return counter_of("global_load_sectors")(e) / extra_of("tile_read_sectors")(e);
  };
  return {"GT1",
          {},
          "Every block re-reads its operands: global traffic is m n k (1 / tile rows + 1 "
          "/ tile columns) elements",
          "2 m n k / tile elements",
          {{"products", {}, Pick::count, share},
           {"least", {}, Pick::least, share},
           {"most", {}, Pick::most, share}},
          {{"least", 0.99}, {"most", 0, 1.01}},
          "[{products:.0f} products by tiled rungs read {least:.3f} to {most:.3f} x that "
          "traffic, in sectors]"};
}

}  // namespace

std::vector<ClaimRow> traffic_claims() {
  return {blocks_read_again(), worst_traffic(),
          against_library("GC10",
                          "The shuffle-broadcast naive kernel reads 20 times what the library "
                          "does, of device memory and of shared memory",
                          "20 x", 20, "column_major/01_naive"),
          throttle_falls(),
          against_library("GC12", "The 64 tile reads 1.6 times what the library does", "1.6 x", 1.6,
                          "column_major/04_tile_64")};
}

}  // namespace fathom::gemm
