#include <algorithm>
#include <cmath>

#include "probes/claims.h"
#include "results/findings.h"

namespace fathom::copy_bandwidth {
namespace {

using I = std::int64_t;

Quantity width(std::string name, I bytes, I block = 1024) {
  return {std::move(name), {{"sweep", "width"}, {"bytes per thread", bytes}, {"block", block}}};
}

/// "4": with 4 bytes and 1024 threads a block.
Quantities widths(std::initializer_list<I> of) {
  Quantities reading;
  for (const I bytes : of) reading.push_back(width(std::to_string(bytes), bytes));
  return reading;
}

/// All widths, and the fastest of those that claims compare.
Quantities all_widths(const Quantities& more = {}) {
  const auto best = [](const Figures& f) { return f.range({"4", "8", "16", "32"}).second; };
  return widths({2, 4, 8, 16, 32}) + Quantities{formula("best", best, "B/s")} + more;
}

std::vector<ClaimRow> by_width() {
  // Older documents do not say it: one block of 1024 on an SM of 1,536 threads are 66.7 % at most.
  const auto fewer = [](const Figures& f) {
    const double share = f["2 resident_threads_per_sm/2 at 256 resident_threads_per_sm"];
    return std::isnan(share) ? f["2 achieved_occupancy"] / 66.7 : share;
  };
  const auto least = [](const Figures& f) { return f.range({"4", "8", "16", "32"}).first; };
  const auto looped = [](const char* name, const char* sweep) {
    return Quantity{name, {{"sweep", sweep}, {"type", "half"}, {"block", 1024}}, Pick::best};
  };
  ClaimRow v3{
      "V3",
      toyx,
      "2-byte accesses catch up at 256 threads a block, because more resident warps hide the "
      "half-used load/store units",
      "917 GB/s against 921",
      all_widths({width("2 at 256", 2, 256), formula("fewer", fewer)}),
      {{"2 at 256/best", same_speed}},
      "{2 at 256} ({2} at 1024) against {best}[; achieved occupancy {2 at 256 "
      "achieved_occupancy:.1f} % ({2 achieved_occupancy:.1f} % at 1024)]"};
  v3.premise = {{"fewer", 0, below_one}};
  v3.unmet =
      "two blocks of 1024 threads fit on an SM of this GPU, and 256 threads allow no more warps";
  return {
      ClaimRow{"V1",
               toyx,
               "A copy of 1 GiB reaches the same bandwidth with 4, 8, 16 and 32 bytes per thread",
               "923 / 921 / 921 / 921 GB/s of 1008 peak, 1024 threads a block",
               all_widths({formula("least", least)}),
               {{"least/best", same_speed}},
               "{4} / {8} / {16} / {32}, 1024 threads a block; the slowest has {least/best:%} of "
               "the fastest"},
      ClaimRow{"V2",
               toyx,
               "2-byte accesses fall short at 1024 threads a block",
               "806 GB/s against 921",
               all_widths(),
               {{"2/best", 0, same_speed}},
               "{2} against {best}, {2/best:%}; 4 bytes a thread reach {4/best:%} of it, 8 bytes "
               "{8/best:%}"},
      v3,
      ClaimRow{"V4",
               toyx,
               "2-byte accesses also catch up when each thread loops over several elements, "
               "strided by the block size",
               "not given",
               all_widths({looped("looped", "loop"), looped("batched", "unroll")}),
               {{"looped/best", same_speed}},
               "[{looped} with {looped unroll} elements a thread, one load and one store after "
               "the other ({looped/best:%} of {best}); ]{2} with one element; with all loads "
               "before the stores {batched} with {batched unroll} elements, {batched/best:%} of "
               "{best}, 1024 threads a block",
               Rule::all,
               "the source's loop (load, store, load, store) was not in this run"}};
}

std::vector<ClaimRow> by_counters() {
  constexpr double all = 33554432;  // sectors of 1 GiB
  const AxisFilter batch{{"sweep", "unroll"}, {"type", "half"}, {"unroll", 16}, {"block", 1024}};
  // A kernel with more requests that is faster all the same refutes V7's "only".
  const auto counterexample = [](const Figures& f) {
    const double more = f["batch global_load_requests/8 global_load_requests"];
    return more > 1 ? f["batch/8"] : 0 * more * f["batch"];  // NaN stays
  };
  const auto over_wide = [](const Figures& f) {
    return f["2 stall_share_load"] + f["2 stall_share_store"] > 0
               ? f["2 stall_share_store/16 stall_share_store"]
               : std::nan("");
  };
  return {
      ClaimRow{"V5",
               toyx,
               "A global load moves whole 32-byte sectors whatever the width: as many for 2, 4, 8 "
               "and 16 bytes per thread",
               "33,554,432 sectors for 1 GiB",
               widths({2, 4, 8, 16}),
               {{"2 global_load_sectors", all, all},
                {"4 global_load_sectors", all, all},
                {"8 global_load_sectors", all, all},
                {"16 global_load_sectors", all, all}},
               "{2 global_load_sectors} / {4 global_load_sectors} / {8 global_load_sectors} / {16 "
               "global_load_sectors} sectors"},
      ClaimRow{"V6",
               toyx,
               "32 bytes per thread doubles the sector count, since one access becomes two "
               "16-byte instructions each touching every sector",
               "67,108,864 sectors for 1 GiB",
               widths({16, 32}),
               {{"32 global_load_sectors/16 global_load_sectors", 2, 2},
                {"32 global_load_requests/16 global_load_requests", 1, 1}},
               "{32 global_load_sectors} sectors in {32 global_load_requests} requests, against "
               "{16 global_load_sectors} in {16 global_load_requests} with 16 bytes"},
      ClaimRow{"V7",
               toyx,
               "Wider accesses win only by issuing fewer instructions and requests",
               "requests fall 1 : 1/2 : 1/4",
               widths({4, 8, 16}) +
                   Quantities{{"batch", batch}, formula("counterexample", counterexample)},
               {{"4 global_load_requests/8 global_load_requests", 2, 2},
                {"4 global_load_requests/16 global_load_requests", 4, 4},
                {"4 global_load_instructions/4 global_load_requests", 1, 1},
                {"counterexample", 0, 1 / same_speed}},
               "{4 global_load_requests} / {8 global_load_requests} / {16 global_load_requests} "
               "requests and as many instructions for 4 / 8 / 16 bytes, {4 global_load_sectors} "
               "sectors each: {4} / {8} / {16}[; but 2 bytes with 16 loads in flight: {batch "
               "global_load_requests} requests, {batch}]"},
      ClaimRow{"V8",
               toyx,
               "The stall behind V2 sits on the 2-byte store instruction",
               "warp-stall breakdown",
               widths({2, 16}) + Quantities{formula("over wide", over_wide)},
               {{"2 stall_share_store/2 stall_share_load", 1}, {"over wide", 1 / same_speed}},
               "{2 stall_share_store:.1f} % of the waiting at the store, {2 stall_share_load:.1f} "
               "% at the load[; at the store a warp waits for what the load brings in {2 "
               "stall_share_store_long_scoreboard:.1f} % of all samples][; with 16 bytes a thread "
               "{16 stall_share_store:.1f} % at the store]",
               Rule::all,
               "the control, the copy of 16 bytes a thread, was not sampled in this run"}};
}

std::vector<ClaimRow> by_place() {
  const auto at = [](const char* name, I offset, Figure figure = metric_of) {
    return Quantity{name,
                    {{"sweep", "offset"}, {"bytes per thread", 4}, {"base offset (B)", offset}},
                    Pick::first,
                    std::move(figure)};
  };
  const Figure each = [](const Entry& e) {
    return counter_of("global_load_sectors")(e) / counter_of("global_load_requests")(e);
  };
  const AxisFilter apart{
      {"sweep", "stride"}, {"strided", "loads"}, {"bytes per thread", 4}, {"stride (packs)", 8}};
  const auto tail = [](const char* name, I more) {
    return Quantity{name, {{"sweep", "tail"}, {"type", "float"}, {"elements beyond n", more}}};
  };
  const auto least = [](const Figures& f) { return f.range({"less", "more"}).first; };
  const auto lost = [](const Figures& f) { return std::max(1 - f["least/n"], 0.0); };  // NaN stays
  const auto rows = [](const char* name) {
    return Quantity{name, {{"sweep", "rows"}, {"lanes read", name}}};
  };
  // About sevenfold: within a quarter of the author's factor.
  constexpr double factor = 110.0 / 15, quarter = 0.25;
  return {
      ClaimRow{"V9",
               toyx,
               "A 16-byte access needs a 16-byte aligned address; a warp wants a 32-byte aligned "
               "start and a multiple of 128 contiguous bytes",
               "sweep of base offset and stride",
               {at("aligned", 0),
                at("shifted", 4),
                at("by sector", 32),
                {"apart", apart},
                at("sectors", 0, each),
                at("shifted sectors", 4, each),
                at("by sector sectors", 32, each),
                {"apart sectors", apart, Pick::first, each},
                {"faults", {{"sweep", "misaligned"}}, Pick::first, extra_of("faults")}},
               {{"by sector/aligned", same_speed},
                {"apart/aligned", 0, same_speed},
                {"shifted sectors/sectors", 1 / below_one},
                {"by sector sectors/sectors", 1, 1},
                {"faults", 1, 1}},
               "[a 16-byte load 8 bytes off its alignment {faults:is refused|is not refused}][; a "
               "warp's 128 bytes touch {sectors:.3g} sectors from an aligned start ({aligned}), "
               "{shifted sectors:.3g} from 4 bytes behind it ({shifted}), {by sector "
               "sectors:.3g} from 32 ({by sector}), {apart sectors:.3g} with 32 bytes between its "
               "words ({apart})]",
               Rule::all,
               "the misaligned 16-byte access, which ends its process, was not in this run"},
      ClaimRow{"V10",
               toyx,
               "The tail (element count not a multiple of the vector width) can be handled in the "
               "kernel at no visible cost",
               "n, n-1, n+1",
               {tail("n", 0), tail("less", -1), tail("more", 1), formula("least", least),
                formula("lost", lost)},
               {{"least/n", same_speed}},
               "{n} / {less} / {more} for n, n-1, n+1 floats by 16 bytes: at most {lost:%} lost"},
      ClaimRow{"V11",
               {"S. Boehm, How to Optimize a CUDA Matmul Kernel", "RTX A6000"},
               "Rows read along the lanes (coalesced) instead of across them: throughput grows "
               "about sevenfold, with the same instructions in the binary",
               "15 against 110 GB/s",
               {rows("along"), rows("across")},
               {{"along/across", factor * (1 - quarter), factor * (1 + quarter)},
                {"along global_load_instructions/across global_load_instructions", 1, 1}},
               "{along} against {across}, {along/across:.1f} times here and 7.3 there, by one and "
               "the same kernel[ ({along global_load_sectors} against {across "
               "global_load_sectors} load sectors)]"}};
}

std::vector<View> views() {
  const auto swept = [](const char* title, const char* sweep, const char* x, const char* x_label,
                        std::vector<std::string> series, PlotStyle style, const char* note = "") {
    style.x_label = x_label;
    return plot(title, {{"sweep", {sweep}}}, x, "Bandwidth, read + write", std::move(series), style,
                note);
  };
  return {
      table(
          "Head to head with the libraries", {{"sweep", {"best"}}},
          {"size", "block", "load hint", "metric", "interval", "of_bound", "ratio:cudaMemcpyAsync",
           "ratio:cub::DeviceTransform float", "ratio:cub::DeviceTransform double",
           "counter:dram_read_bytes", "counter:dram_write_bytes", "verdict"},
          "A ratio above 1 means faster than the library, launched alternately."),
      swept("Bandwidth by bytes per thread (1 GiB)", "width", "bytes per thread",
            "Bytes per thread", {"block"}, {.x_log2 = true, .bound = true}),
      swept("Bandwidth by size (16 bytes a thread, launched again and again)", "size", "size",
            "Bytes copied", {}, {.x_log2 = true, .y_log = true, .bound = true, .expected = true}),
      swept("Bandwidth by stride", "stride", "stride (B)", "Bytes from one lane to the next",
            {"strided", "bytes per thread"}, {.x_log2 = true},
            "Useful bytes only; the other side of the copy is contiguous."),
      swept("Bandwidth by base offset", "offset", "base offset (B)",
            "Bytes behind an aligned address", {"bytes per thread"}, {.bound = true}),
      table("Width, type, block and unrolling (1 GiB)",
            {{"sweep", {"width", "type", "loop", "unroll"}}},
            {"type", "vector", "bytes per thread", "unroll", "block", "metric", "of_bound",
             "expected", "counter:global_load_sectors", "counter:global_load_requests",
             "counter:achieved_occupancy", "verdict"}),
      table("Cache hints (16 bytes a thread, 256 threads a block, 1 GiB)", {{"sweep", {"hint"}}},
            {"load hint", "store hint", "metric", "interval", "of_bound", "verdict"}),
      table("Asynchronous copies through shared memory (1 GiB)", {{"sweep", {"async"}}},
            {"instruction", "tile (B)", "block", "load hint", "metric", "interval", "of_bound",
             "expected", "verdict"}),
      table("Mixes of reading and writing (arrays of 1 GiB)", {{"sweep", {"mix"}}},
            {"mix", "type", "arrays read", "arrays written", "metric", "interval", "of_bound",
             "expected", "verdict"})};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const std::vector<ClaimRow> claims = by_width() + by_counters() + by_place();
  // The best copy of the largest size that was measured.
  const AxisFilter best{{"sweep", "best"}};
  const double largest = Figures({{"size", best, Pick::most, axis_of("size")}}, entries)["size"];
  const auto only = [=](const Entry& e) { return axis_of("size")(e) == largest; };
  const auto hinted = [](const Entry& e) {
    return matches(e, {{"load hint", "none"}}) ? std::nan("") : 1;
  };
  return evaluate(
      {.claims = claims,
       .reading = {{"top", best, Pick::best, metric_of, "B/s", only},
                   {"hinted", best, Pick::best, hinted, "", only}},
       .answer = "The best copy moves {top} (read + write) at {top size}[, {top/top bound:%} of "
                 "what the memory bus could][ and {top ratio:.3f} x the faster library ({top "
                 "opponent}, {top opponent's})]: {top bytes per thread} bytes a thread, {top "
                 "block} threads a block[{hinted:|}, loads with {top load hint}].",
       .views = views()},
      entries);
}

}  // namespace fathom::copy_bandwidth
