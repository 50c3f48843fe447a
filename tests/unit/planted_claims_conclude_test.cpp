// Verdicts and words for states that no recording has, and that none is near to: how far recorded
// figures may move is in claims_conclude_test.cpp.

#include "probes/claims.h"
#include "results/document_io.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using enum ClaimVerdict;

namespace {

using I = std::int64_t;
using Numbers = std::vector<std::pair<const char*, double>>;

Entry measured(Axes axes, double value, const Numbers& counters = {}, const Numbers& extras = {}) {
  static int number = 0;
  Entry e = planted::entry("entry" + std::to_string(++number), std::move(axes), value);
  for (const auto& [role, count] : counters) planted::add_counter(e, role, count);
  e.extras.insert(extras.begin(), extras.end());
  return e;
}

std::vector<Entry> operator+(std::vector<Entry> entries, Entry more) {
  entries.push_back(std::move(more));
  return entries;
}

void check(const char* probe, const char* id, const std::vector<planted::VerdictOf>& rows) {
  planted::check_verdicts(conclusion_of(probe), id, rows);
}

std::string figure_of(const char* probe, const char* id, const std::vector<Entry>& entries) {
  return planted::claim(conclusion_of(probe)(entries).claims, id).figure;
}

/// A copy's entry with so many bytes a thread.
Entry width(I bytes, double bandwidth, const Numbers& counters = {}, I block = 1024,
            const Numbers& extras = {}) {
  return measured({{"sweep", "width"}, {"bytes per thread", bytes}, {"block", block}}, bandwidth,
                  counters, extras);
}

/// "loop": each element stored before the next is loaded; "unroll": all loaded before.
Entry looped(const char* sweep, double bandwidth, const Numbers& counters = {}) {
  return measured({{"sweep", sweep}, {"type", "half"}, {"unroll", I{16}}, {"block", I{1024}}},
                  bandwidth, counters);
}

Entry product(const char* rung, double throughput, const char* type = "fp32", I size = 4096,
              const char* part = "ladder") {
  return measured({{"part", part}, {"type", type}, {"rung", rung}, {"m", size}}, throughput);
}

}  // namespace

TEST_CASE("V1, V3 and V4 hold where widths are alike", "[probes]") {
  const auto copy = "copy_bandwidth", resident = "resident_threads_per_sm";
  const auto even = [](double four) {
    return std::vector{width(4, four), width(8, 1000), width(16, 990), width(32, 980)};
  };
  check(copy, "V1",
        {{confirmed, even(960)}, {refuted, even(940)}, {not_measured, {width(4, 1000)}}});
  const auto narrow = [&](double occupancy, double at_256, double threads = NAN,
                          double threads_at_256 = NAN) {
    const Numbers counted{{"achieved_occupancy", occupancy}};
    return even(1000) + width(2, 800, counted, 1024, {{resident, threads}}) +
           width(2, at_256, counted, 256, {{resident, threads_at_256}});
  };
  // What may be resident says whether 256 threads allow more warps, else what was achieved.
  check(copy, "V3",
        {{confirmed, narrow(66, 960)},
         {refuted, narrow(66, 940)},
         {does_not_apply, narrow(67, 960)},
         {confirmed, narrow(69, 960, 1024, 1536)},
         {does_not_apply, narrow(60, 960, 2048, 2048)},
         {not_measured, even(1000) + width(2, 800) + width(2, 960, {}, 256)}});
  // Loads before the stores are another kernel: shown, and decide nothing.
  const auto batched = even(1000) + width(2, 800) + looped("unroll", 980);
  check(copy, "V4",
        {{confirmed, batched + looped("loop", 960)},
         {refuted, batched + looped("loop", 940)},
         {not_measured, batched}});
  CHECK_THAT(figure_of(copy, "V4", batched), contains("with 16 elements"));
}

TEST_CASE("V7 and V8 are answered by counters alone", "[probes]") {
  const auto run = [](double eight, double sixteen, double instructions) {
    return std::vector{
        width(4, 1, {{"global_load_requests", 400}, {"global_load_instructions", instructions}}),
        width(8, 1, {{"global_load_requests", eight}}),
        width(16, 1, {{"global_load_requests", sixteen}})};
  };
  const auto batch = [](double bandwidth, double requests) {
    return looped("unroll", bandwidth, {{"global_load_requests", requests}});
  };
  // Faster with more requests than 8 bytes a thread: not "only" by fewer. A batch whose requests
  // nobody counted is no evidence for "only".
  check("copy_bandwidth", "V7",
        {{confirmed, run(200, 100, 400) + batch(1, 800)},
         {confirmed, run(200, 100, 400) + batch(2, 200)},
         {refuted, run(200, 100, 400) + batch(1.06, 800)},
         {refuted, run(201, 100, 400) + batch(1, 800)},
         {refuted, run(200, 101, 400) + batch(1, 800)},
         {refuted, run(200, 100, 401) + batch(1, 800)},
         {not_measured, run(200, 100, 400)},
         {not_measured, run(200, 100, 400) + looped("unroll", 2)}});
  const auto sampled = [](double load, double store, double wide) {
    return std::vector{width(2, 1, {{"stall_share_load", load}, {"stall_share_store", store}}),
                       width(16, 1, {{"stall_share_store", wide}})};
  };
  check("copy_bandwidth", "V8",
        {{confirmed, sampled(10, 80, 20)},
         {refuted, sampled(10, 80, 80)},  // as with 16 bytes: no matter of the width
         {refuted, sampled(81, 80, 20)},
         {not_measured, sampled(0, 0, 20)}});  // no sample at all
}

TEST_CASE("V9 needs the fault of a misaligned load", "[probes]") {
  std::vector places = read_document(FATHOM_SOURCE_DIR "/recordings/h200/result.json").entries;
  std::erase_if(places, [](const Entry& e) { return e.probe != "copy_bandwidth"; });
  const auto with = [&](const Numbers& faults) {
    return places + measured({{"sweep", "misaligned"}}, 0, {}, faults);
  };
  // The process could not run: its entry says why, and the claim with it.
  auto failed = with({});
  failed.back().metric.value.reset();
  failed.back().counters.emplace_back().role = "faults";
  failed.back().counters[0].reason = "exit code 17";
  const auto refused = with({{"faults", 1}}), allowed = with({{"faults", 0}});
  check("copy_bandwidth", "V9",
        {{confirmed, refused}, {refuted, allowed}, {not_measured, places}, {not_measured, failed}});
  const std::string load = "a 16-byte load 8 bytes off its alignment is ";
  for (const auto& [entries, words] : {std::pair{refused, load + "refused; a warp's"},
                                       {allowed, load + "not refused; a warp's"},
                                       {failed, "exit code 17; a warp's"}})
    CHECK_THAT(figure_of("copy_bandwidth", "V9", entries),
               StartsWith(words) && !contains("not measured"));
}

TEST_CASE("V10 is not decided by what is no figure, V11 has two ends", "[probes]") {
  const auto tail = [](I more, double bandwidth) {
    return measured({{"sweep", "tail"}, {"type", "float"}, {"elements beyond n", more}}, bandwidth);
  };
  const std::vector of_nan{tail(0, NAN), tail(-1, 94), tail(1, 100)};
  check("copy_bandwidth", "V10", {{not_measured, of_nan}});
  CHECK_THAT(figure_of("copy_bandwidth", "V10", of_nan), !contains("0 % lost"));
  const auto rows = [](const char* lanes, double bandwidth, double instructions) {
    return measured({{"sweep", "rows"}, {"lanes read", lanes}}, bandwidth,
                    {{"global_load_instructions", instructions}});
  };
  const Entry across = rows("across", 15, 8);
  check("copy_bandwidth", "V11",
        {{confirmed, {across, rows("along", 137, 8)}},
         {refuted, {across, rows("along", 138, 8)}},
         {refuted, {across, rows("along", 110, 9)}}});
}

TEST_CASE("O2 has a control for launches and one for imbalance, O3 a case for each number of loads",
          "[probes]") {
  const auto at = [](const char* turned, const char* grid, I in_flight, double share,
                     double occupancy = 100, double bandwidth = 1) {
    return measured({{"turned", turned},
                     {"grid", grid},
                     {"16-byte loads in flight", in_flight},
                     {"block", I{1024}},
                     {"theoretical occupancy (%)", occupancy}},
                    bandwidth, {{"achieved_occupancy", occupancy * share}},
                    {{"model_blocks_per_sm", 2}, {"driver_blocks_per_sm", 2}});
  };
  const std::string ended =
      "lower, at most 60 %; with long-lived blocks no longer at 1 load, no longer at 4; in whole "
      "waves ";
  // What the page shows, the first 110 characters, says which control leaves it.
  for (const auto& [usual, whole, lasting, verdict, words] :
       {std::tuple{0.6, 0.97, 0.97, confirmed, ended + "no longer; "},
        {0.6, 0.6, 0.97, conditional, ended + "still; "},
        {0.6, 0.97, 0.6, conditional, "lower, at most 60 %; with long-lived blocks still at 1 "},
        {0.97, 0.97, 0.97, refuted, "not lower, at most 97 %; one wave"},
        {0.97, 0.6, 0.6, refuted, "not lower, at most 97 %; one wave"}}) {
    const std::vector entries{at("block size", "one-shot", 1, usual),
                              at("block size", "whole waves", 1, whole),
                              at("shared memory", "persistent", 1, lasting),
                              at("shared memory", "persistent", 4, lasting)};
    check("occupancy", "O2", {{verdict, entries}});
    CHECK_THAT(figure_of("occupancy", "O2", entries), StartsWith(words));
  }
  check("occupancy", "O2", {{not_measured, {at("block size", "one-shot", 1, 0.6)}}});
  const auto low = [&](I in_flight, double bandwidth, double occupancy = 37.5) {
    return at("shared memory", "one-shot", in_flight, 1, occupancy, bandwidth);
  };
  const Entry top = low(1, 100, 37.7);
  check("occupancy", "O3",
        {{confirmed, {top, low(1, 96), low(4, 96)}},
         {conditional, {top, low(1, 94), low(4, 96)}},
         {conditional, {top, low(1, 96), low(4, 94)}},
         {refuted, {top, low(1, 94), low(4, 94)}}});
}

TEST_CASE("T1 covers every kind of block", "[probes]") {
  const auto run = [](const std::map<const char*, double>& halves) {
    std::vector<Entry> entries;
    for (const auto& [kind, half] : halves)
      entries = entries + measured({{"block kind", kind}, {"waves", 1.5}}, half) +
                measured({{"block kind", kind}, {"waves", 2.0}}, 1);
    return entries;
  };
  const auto latency = "latency-bound", fma = "throughput-bound", memory = "memory-bound";
  check("tail_effect", "T1",
        {{confirmed, run({{latency, 1}, {fma, 0.96}, {memory, 1.04}})},
         {refuted, run({{latency, 0.75}, {fma, 0.94}, {memory, 1.06}})},
         {conditional, run({{latency, 1}, {fma, 1}, {memory, 0.75}})},
         {conditional, run({{latency, 1}, {fma, 0.75}, {memory, 1}})},
         {not_measured, run({{latency, 1}})}});
}

TEST_CASE("R1 is about one recipe, whatever its block size", "[probes]") {
  static constexpr I GiB = I{1} << 30;
  const auto sum = [](const char* recipe, double bandwidth, I further = 0) {
    return measured({{"part", "sum"},
                     {"recipe", recipe},
                     {"type", "float"},
                     {"size (B)", GiB},
                     {"further elements", further},
                     {"offset (elements)", I{0}}},
                    bandwidth);
  };
  const Entry copy = measured({{"part", "copy"}, {"size (B)", GiB}}, 100);
  check("warp_reduce", "R1",
        {{confirmed, {sum("tile", 90), sum("tile", 96), copy}},
         {refuted, {sum("tile", 94), sum("dynamic", 100), sum("tile", 100, 1), copy}},
         {not_measured, {sum("dynamic", 100), copy}}});
}

TEST_CASE("S6 counts conflicts of consecutive words alone", "[probes]") {
  const auto access = [](const char* operation, const char* pattern, double conflicts,
                         I bits = 64) {
    const std::string role = fmt::format("shared_{}_conflicts", operation);
    return measured({{"operation", operation}, {"bits", bits}, {"pattern", pattern}}, 2,
                    {{role.c_str(), conflicts}}, {{"claimed_wavefronts", 2}});
  };
  const Entry load = access("load", "stride:2", 0), store = access("store", "stride:2", 0);
  check("bank_conflicts", "S6",
        {{confirmed, {load, store}},
         {confirmed, {load}},
         {confirmed, {load, access("load", "stride:4", 32), access("load", "stride:2", 32, 32)}},
         {refuted, {access("load", "stride:2", 32), store}},
         {refuted, {load, access("load", "inactive:lower-half-active", 32)}},
         {refuted, {load, access("store", "stride:2", 32)}}});
}

TEST_CASE("another size, type or part of the products is no answer", "[gemm]") {
  const auto rung = "row_major/05_tile_2d";
  const Entry parent = product("row_major/04_tile_1d", 17e12);
  check("gemm", "GR5",
        {{confirmed, {parent, product(rung, 30e12)}},
         {not_measured, {parent, product(rung, 30e12, "fp32", 1024)}},
         {not_measured, {parent, product(rung, 30e12, "fp64")}},
         {not_measured, {parent, product(rung, 30e12, "fp32", 4096, "contest")}}});
  Entry library = product("26_sliced_depth", 50e12);
  library.opponents = {planted::opponent("cuBLAS", 50e12, 1)};
  check("gemm", "G5", {{not_measured, {product("01_wmma_global", 10e12, "fp16"), library}}});
  const auto wmma = [](double peak, const char* part = "claim") {
    Entry e = product("02_wmma_shared", 385, "fp16", 8192, part);
    e.extras["published_peak_FLOP_per_s"] = peak;
    return e;
  };
  const Entry mma = product("04_multistage", 390, "fp16");
  check("gemm", "G6",
        {{confirmed, {wmma(400), mma}},
         {conditional, {wmma(410), mma}},
         {not_measured, {wmma(NAN), mma}},
         {not_measured, {wmma(400)}},
         {not_measured, {wmma(400, "ladder"), mma}}});
}

TEST_CASE("GC10 and GC12 have a case for each memory", "[gemm]") {
  const auto counted = [](const char* rung, const char* part, double bytes, double wavefronts) {
    Entry e = product(rung, 1e12, "fp32", 4096, part);
    planted::add_counter(e, "dram_read_bytes", bytes);
    planted::add_counter(e, "shared_load_wavefronts", wavefronts);
    return e;
  };
  for (const auto& [id, rung, times] : {std::tuple{"GC10", "column_major/01_naive", 20.0},
                                        {"GC12", "column_major/04_tile_64", 1.6}}) {
    const Entry lesson = counted(rung, "ladder", times, times);
    const auto with = [&](double bytes, double wavefronts) {
      return std::vector{lesson, counted("cuBLAS", "claim", bytes, wavefronts)};
    };
    check("gemm", id,
          {{confirmed, with(0.81, 1.32)},
           {conditional, with(1, 0.79)},
           {conditional, with(1, 1.34)},
           {conditional, with(0.79, 1)},
           {conditional, with(1.34, 1)},
           {refuted, with(0.79, 1.34)},
           {not_measured, with(0, 1)},
           {not_measured, {lesson}}});
  }
}
