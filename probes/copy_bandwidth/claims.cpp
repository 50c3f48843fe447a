#include <algorithm>
#include <cmath>

#include "probes/claims.h"
#include "results/rows.h"

namespace fathom::copy_bandwidth {

namespace {

using I = std::int64_t;

const char* const sectors_role = "global_load_sectors";
const char* const requests_role = "global_load_requests";

/// "4": a copy of 1 GiB with 4 bytes a thread and 1024 threads a block.
Quantity width(std::string name, I bytes, I block = 1024, Figure figure = metric_of) {
  return {std::move(name),
          {{"sweep", "width"}, {"bytes per thread", bytes}, {"block", block}},
          Pick::first,
          std::move(figure)};
}

/// The widths at 1024 threads a block, and their fastest.
Reading by_width() {
  return {{width("2", 2), width("4", 4), width("8", 8), width("16", 16), width("32", 32)},
          {most_of("best", {"4", "8", "16", "32"}, "B/s")}};
}

Reading with(Reading reading, std::vector<Quantity> more, std::vector<Formula> formulas) {
  reading.quantities.insert(reading.quantities.end(), more.begin(), more.end());
  reading.formulas.insert(reading.formulas.end(), formulas.begin(), formulas.end());
  return reading;
}

/// What the counters of some widths read, as "sectors 4".
Reading counted(std::initializer_list<I> widths) {
  Reading reading;
  for (const I bytes : widths) {
    const std::string name = std::to_string(bytes);
    reading.quantities.push_back(width("sectors " + name, bytes, 1024, counter_of(sectors_role)));
    reading.quantities.push_back(width("requests " + name, bytes, 1024, counter_of(requests_role)));
    reading.quantities.push_back(
        width("instructions " + name, bytes, 1024, counter_of("global_load_instructions")));
  }
  return reading;
}

std::vector<ClaimRow> widths() {
  const Quantity narrow256 = width("2 at 256", 2, 256), wide = width("wide", 16);
  const auto occupancy = [](const char* name, I block) {
    return width(name, 2, block, counter_of("achieved_occupancy"));
  };
  const auto resident = [](const char* name, I block) {
    return width(name, 2, block, extra_of("resident_threads_per_sm"));
  };
  // Older documents do not say it: one block of 1024 on an SM of 1,536 threads are 66.7 % at most.
  const Formula fewer{"fewer", [](const Figures& f) {
                        const double share = f["resident before"] / f["resident"];
                        return std::isnan(share) ? f["occupancy before"] / 66.7 : share;
                      }};
  const auto looped = [](const char* name, const char* sweep) {
    return Quantity{name, {{"sweep", sweep}, {"type", "half"}, {"block", I{1024}}}, Pick::best};
  };
  return {
      {"V1",
       "A copy of 1 GiB reaches the same bandwidth with 4, 8, 16 and 32 bytes per thread",
       "923 / 921 / 921 / 921 GB/s of 1008 peak, 1024 threads a block",
       toyx,
       with(by_width(), {},
            {least_of("least", {"4", "8", "16", "32"}), ratio("share", "least", "best")}),
       {{"share", same_speed}},
       "{4} / {8} / {16} / {32}, 1024 threads a block; the slowest has {share:%} of the fastest"},
      {"V2",
       "2-byte accesses fall short at 1024 threads a block",
       "806 GB/s against 921",
       toyx,
       with(by_width(), {},
            {ratio("share", "2", "best"), ratio("4 share", "4", "best"),
             ratio("8 share", "8", "best")}),
       {{"share", 0, same_speed}},
       "{2} against {best}, {share:%}; 4 bytes a thread reach {4 share:%} of it, 8 bytes {8 "
       "share:%}"},
      {"V3",
       "2-byte accesses catch up at 256 threads a block, because more resident warps hide the "
       "half-used load/store units",
       "917 GB/s against 921",
       toyx,
       with(by_width(),
            {narrow256, occupancy("occupancy", 256), occupancy("occupancy before", 1024),
             resident("resident", 256), resident("resident before", 1024)},
            {ratio("share", "2 at 256", "best"), fewer}),
       {{"share", same_speed}},
       "{2 at 256} ({2} at 1024) against {best}[; achieved occupancy {occupancy:.1f} % ({occupancy "
       "before:.1f} % at 1024)]",
       Rule::all,
       {{"fewer", 0, below_one}},
       "two blocks of 1024 threads fit on an SM of this GPU, and 256 threads allow no more warps"},
      {"V4",
       "2-byte accesses also catch up when each thread loops over several elements, strided by the "
       "block size",
       "not given",
       toyx,
       with(by_width(), {looped("looped", "loop"), looped("batched", "unroll")},
            {ratio("share", "looped", "best"), ratio("batched share", "batched", "best")}),
       {{"share", same_speed}},
       "[{looped} with {looped unroll} elements a thread, one load and one store after the other "
       "({share:%} of {best}); ]{2} with one element; with all loads before the stores {batched} "
       "with {batched unroll} elements, {batched share:%} of {best}, 1024 threads a block",
       Rule::all,
       {},
       {},
       "the source's loop (load, store, load, store) was not in this run"}};
}

std::vector<ClaimRow> counters() {
  constexpr double all = 33554432;  // sectors of 1 GiB
  const AxisFilter batch{
      {"sweep", "unroll"}, {"type", "half"}, {"unroll", I{16}}, {"block", I{1024}}};
  return {
      {"V5",
       "A global load moves whole 32-byte sectors whatever the width: as many for 2, 4, 8 and 16 "
       "bytes per thread",
       "33,554,432 sectors for 1 GiB",
       toyx,
       counted({2, 4, 8, 16}),
       {{"sectors 2", all, all},
        {"sectors 4", all, all},
        {"sectors 8", all, all},
        {"sectors 16", all, all}},
       "{sectors 2} / {sectors 4} / {sectors 8} / {sectors 16} sectors"},
      {"V6",
       "32 bytes per thread doubles the sector count, since one access becomes two 16-byte "
       "instructions each touching every sector",
       "67,108,864 sectors for 1 GiB",
       toyx,
       with(counted({16, 32}), {},
            {ratio("sectors", "sectors 32", "sectors 16"),
             ratio("requests", "requests 32", "requests 16")}),
       {{"sectors", 2, 2}, {"requests", 1, 1}},
       "{sectors 32} sectors in {requests 32} requests, against {sectors 16} in {requests 16} with "
       "16 bytes"},
      // A kernel with more requests that is faster all the same refutes the "only".
      {"V7",
       "Wider accesses win only by issuing fewer instructions and requests",
       "requests fall 1 : 1/2 : 1/4",
       toyx,
       with(counted({4, 8, 16}),
            {width("4", 4),
             width("8", 8),
             width("16", 16),
             {"batch", batch},
             {"batch requests", batch, Pick::first, counter_of(requests_role)}},
            {ratio("half", "requests 4", "requests 8"),
             ratio("quarter", "requests 4", "requests 16"),
             ratio("each", "instructions 4", "requests 4"),
             {"counterexample",
              [](const Figures& f) {
                const double more = f["batch requests"] / f["requests 8"];
                return more > 1 ? f["batch"] / f["8"] : 0 * more * f["batch"];  // NaN stays
              }}}),
       {{"half", 2, 2}, {"quarter", 4, 4}, {"each", 1, 1}, {"counterexample", 0, 1 / same_speed}},
       "{requests 4} / {requests 8} / {requests 16} requests and as many instructions for 4 / 8 / "
       "16 bytes, {sectors 4} sectors each: {4} / {8} / {16}[; but 2 bytes with 16 loads in "
       "flight: {batch requests} requests, {batch}]"},
      {"V8",
       "The stall behind V2 sits on the 2-byte store instruction",
       "warp-stall breakdown",
       toyx,
       {{width("load", 2, 1024, counter_of("stall_share_load")),
         width("store", 2, 1024, counter_of("stall_share_store")),
         width("for the value", 2, 1024, counter_of("stall_share_store_long_scoreboard")),
         width("wide store", 16, 1024, counter_of("stall_share_store"))},
        {ratio("over load", "store", "load"),
         {"over wide",
          [](const Figures& f) {
            return f["load"] + f["store"] > 0 ? f["store"] / f["wide store"] : std::nan("");
          }}}},
       {{"over load", 1}, {"over wide", 1 / same_speed}},
       "{store:.1f} % of the waiting at the store, {load:.1f} % at the load[; at the store a warp "
       "waits for what the load brings in {for the value:.1f} % of all samples][; with 16 bytes a "
       "thread {wide store:.1f} % at the store]",
       Rule::all,
       {},
       {},
       "the control, the copy of 16 bytes a thread, was not sampled in this run"}};
}

std::vector<ClaimRow> places() {
  const auto at = [](std::string name, I offset, Figure figure = metric_of) {
    return Quantity{std::move(name),
                    {{"sweep", "offset"}, {"bytes per thread", I{4}}, {"base offset (B)", offset}},
                    Pick::first,
                    std::move(figure)};
  };
  const Figure per_request = [](const Entry& e) {
    return counter_of(sectors_role)(e) / counter_of(requests_role)(e);
  };
  const AxisFilter apart{{"sweep", "stride"},
                         {"strided", "loads"},
                         {"bytes per thread", I{4}},
                         {"stride (packs)", I{8}}};
  const auto tail = [](const char* name, I more) {
    return Quantity{name, {{"sweep", "tail"}, {"type", "float"}, {"elements beyond n", more}}};
  };
  const auto rows = [](std::string name, const char* read, Figure figure = metric_of) {
    return Quantity{
        std::move(name), {{"sweep", "rows"}, {"lanes read", read}}, Pick::first, std::move(figure)};
  };
  const Figure instructions = counter_of("global_load_instructions");
  // About sevenfold: within a quarter of the author's factor.
  constexpr double factor = 110.0 / 15, quarter = 0.25;
  return {
      {"V9",
       "A 16-byte access needs a 16-byte aligned address; a warp wants a 32-byte aligned start and "
       "a multiple of 128 contiguous bytes",
       "sweep of base offset and stride",
       toyx,
       {{at("aligned", 0),
         at("shifted", 4),
         at("by sector", 32),
         {"apart", apart},
         at("sectors", 0, per_request),
         at("shifted sectors", 4, per_request),
         at("by sector sectors", 32, per_request),
         {"apart sectors", apart, Pick::first, per_request},
         {"faults", {{"sweep", "misaligned"}}, Pick::first, extra_of("faults")}},
        {ratio("start", "by sector", "aligned"), ratio("contiguous", "apart", "aligned"),
         ratio("more", "shifted sectors", "sectors"),
         ratio("as many", "by sector sectors", "sectors")}},
       {{"start", same_speed},
        {"contiguous", 0, same_speed},
        {"more", 1 / below_one},
        {"as many", 1, 1},
        {"faults", 1, 1}},
       "[a 16-byte load 8 bytes off its alignment {faults:is refused|is not refused}][; a warp's "
       "128 bytes touch {sectors:.3g} sectors from an aligned start ({aligned}), {shifted "
       "sectors:.3g} from 4 bytes behind it ({shifted}), {by sector sectors:.3g} from 32 ({by "
       "sector}), {apart sectors:.3g} with 32 bytes between its words ({apart})]",
       Rule::all,
       {},
       {},
       "the misaligned 16-byte access, which ends its process, was not in this run"},
      {"V10",
       "The tail (element count not a multiple of the vector width) can be handled in the kernel "
       "at no visible cost",
       "n, n-1, n+1",
       toyx,
       {{tail("n", 0), tail("less", -1), tail("more", 1)},
        {least_of("least", {"less", "more"}),
         ratio("share", "least", "n"),
         {"lost", [](const Figures& f) { return std::max(1 - f["share"], 0.0); }}}},  // NaN stays
       {{"share", same_speed}},
       "{n} / {less} / {more} for n, n-1, n+1 floats by 16 bytes: at most {lost:%} lost"},
      {"V11",
       "Rows read along the lanes (coalesced) instead of across them: throughput grows about "
       "sevenfold, with the same instructions in the binary",
       "15 against 110 GB/s",
       {"S. Boehm, How to Optimize a CUDA Matmul Kernel", "RTX A6000"},
       {{rows("along", "along"), rows("across", "across"),
         rows("along sectors", "along", counter_of(sectors_role)),
         rows("across sectors", "across", counter_of(sectors_role)),
         rows("along instructions", "along", instructions),
         rows("across instructions", "across", instructions)},
        {ratio("factor", "along", "across"),
         ratio("same", "along instructions", "across instructions")}},
       {{"factor", factor * (1 - quarter), factor * (1 + quarter)}, {"same", 1, 1}},
       "{along} against {across}, {factor:.1f} times here and 7.3 there, by one and the same "
       "kernel[ ({along sectors} against {across sectors} load sectors)]"}};
}

constexpr const char* bandwidth = "Bandwidth, read + write";

View sweep_plot(const char* title, const char* sweep, const char* x, const char* x_label,
                std::vector<std::string> series = {}) {
  return {.kind = View::Kind::plot,
          .title = title,
          .where = {{"sweep", {sweep}}},
          .x = x,
          .x_label = x_label,
          .y_label = bandwidth,
          .x_log2 = true,
          .series = std::move(series)};
}

std::vector<View> views() {
  View widths = sweep_plot("Bandwidth by bytes per thread (1 GiB)", "width", "bytes per thread",
                           "Bytes per thread", {"block"});
  widths.show_expected = false;
  View sizes = sweep_plot("Bandwidth by size (16 bytes a thread, launched again and again)", "size",
                          "size", "Bytes copied");
  sizes.y_log = true;
  sizes.y_from_zero = false;
  View strides = sweep_plot("Bandwidth by stride", "stride", "stride (B)",
                            "Bytes from one lane to the next", {"strided", "bytes per thread"});
  strides.note = "Useful bytes only; the other side of the copy is contiguous.";
  strides.show_bound = strides.show_expected = false;
  View offsets = sweep_plot("Bandwidth by base offset", "offset", "base offset (B)",
                            "Bytes behind an aligned address", {"bytes per thread"});
  offsets.x_log2 = offsets.show_expected = false;
  return {
      table(
          "Head to head with the libraries", {{"sweep", {"best"}}},
          {"size", "block", "load hint", "metric", "interval", "of_bound", "ratio:cudaMemcpyAsync",
           "ratio:cub::DeviceTransform float", "ratio:cub::DeviceTransform double",
           "counter:dram_read_bytes", "counter:dram_write_bytes", "verdict"},
          "A ratio above 1 means faster than the library, launched alternately."),
      widths,
      sizes,
      strides,
      offsets,
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

/// The best copy of the largest size that was measured, against the bound and the faster library.
std::string answer(std::span<const Entry> entries) {
  const AxisFilter best{{"sweep", "best"}};
  const double largest = Figures({{{"size", best, Pick::most, axis_of("size")}}}, entries)["size"];
  const auto only = [=](const Entry& e) { return axis_of("size")(e) == largest; };
  const Figures figures({{{"top", best, Pick::best, metric_of, "B/s", only},
                          {"bound", best, Pick::best, bound_of, "", only},
                          {"ratio", best, Pick::best, ratio_to_opponents, "", only},
                          {"library", best, Pick::best, fastest_opponent_of, "B/s", only}},
                         {ratio("share", "top", "bound")}},
                        entries);
  const Entry* top = figures.entry("top");
  if (top == nullptr) return "";
  return figures.tell(
      std::string("The best copy moves {top} (read + write) at {top size}[, {share:%} of what the "
                  "memory bus could][ and {ratio:.3f} x the faster library ({library opponent}, "
                  "{library})]: {top bytes per thread} bytes a thread, {top block} threads a "
                  "block") +
      (matches(*top, {{"load hint", "none"}}) ? "." : ", loads with {top load hint}."));
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows = [] {
    Conclusions all{.views = views()};
    for (const auto& part : {widths(), counters(), places()})
      all.claims.insert(all.claims.end(), part.begin(), part.end());
    return all;
  }();
  Findings findings = evaluate(rows, entries);
  findings.answer = answer(entries);
  return findings;
}

}  // namespace fathom::copy_bandwidth
