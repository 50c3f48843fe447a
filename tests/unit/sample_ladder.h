#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "gemm/bench/conclude.h"
#include "tests/unit/sample_document.h"

namespace fathom::sample {

// A matrix-product ladder as a run leaves it, for tests of its page. Made up, but of the size and
// the shape of a real one: two types, the longer with two dozen rungs of long names, opponents,
// counters that are there and missing, sizes, tiles with a saw-tooth, lasting load under a power
// cap.

/// A rung by what a reader sees of it.
struct SampleRung {
  const char* name;
  double tflops;
  double sectors, wavefronts, conflicts;  ///< of loads, for the whole product
  double registers, shared_bytes, warps;
  const char *idea, *gain;
};

inline const std::vector<SampleRung>& sample_fp32() {
  static const std::vector<SampleRung> rungs{
      {"row_major/01_naive", 0.45, 7.3e10, 0, 0, 32, 0, 64,
       "One thread an element, rows along lanes.", "Nothing: it is where the climb begins."},
      {"row_major/02_coalesced", 3.1, 1.08e10, 0, 0, 32, 0, 64, "Lanes along a row of C.",
       "A warp's loads of B become four sectors instead of 32."},
      {"column_major/01_naive", 2.2, 1.2e10, 0, 0, 34, 0, 64,
       "A's elements by shuffle from one lane.", "A quarter of the requests."},
      {"row_major/03_shared_memory", 5.9, 5.4e8, 2.7e9, 0, 36, 8192, 64,
       "Tiles of 32 x 32 in shared memory.",
       "Each element is read from memory by 32 threads at once: a 32nd of the sectors."},
      {"column_major/02_shared_memory", 5.1, 5.4e8, 3.4e9, 6.7e8, 38, 8192, 64,
       "The same, column by column.", "Nothing on its own."},
      {"row_major/12_two_outputs", 8.4, 4.0e8, 1.9e9, 0, 40, 12288, 64, "Two outputs a thread.",
       "Two independent chains; a word from shared memory serves twice."},
      {"row_major/04_tile_1d", 15.1, 2.7e8, 1.2e9, 0, 46, 16384, 64,
       "Eight outputs a thread in a column.",
       "Nine words from shared memory for eight multiplications instead of 16."},
      {"column_major/03_tile_2x2", 9.8, 4.0e8, 1.3e9, 0, 44, 16384, 64, "2 x 2 outputs a thread.",
       "Half of the words."},
      {"column_major/04_tile_64", 18.3, 2.7e8, 8.5e8, 0, 56, 16384, 48, "64 x 64 tiles.",
       "Half of the traffic."},
      {"row_major/05_tile_2d", 29.7, 1.35e8, 4.6e8, 1.3e8, 92, 16384, 16,
       "8 x 8 outputs a thread in a tile of 128 x 128.",
       "16 words for 64 multiplications: a quarter of the tile before."},
      {"row_major/06_linearised", 31.0, 1.35e8, 4.1e8, 6.7e7, 94, 16384, 16,
       "Tiles stored so that lanes meet no bank twice.", "No conflicts on loads."},
      {"row_major/07_padded", 32.2, 1.35e8, 3.4e8, 0, 94, 16896, 16, "A word of padding a row.",
       "No conflicts on stores either."},
      {"13_swizzled", 32.6, 1.35e8, 3.4e8, 0, 95, 16384, 16, "XOR in place of padding.",
       "The same without the padding."},
      {"row_major/08_double_buffered", 35.4, 1.35e8, 3.4e8, 0, 110, 33792, 16,
       "Two buffers, one barrier a step.",
       "Loads of the next tile under the products of this one."},
      {"row_major/09_vectorised", 38.9, 1.35e8, 2.1e8, 0, 118, 33792, 16, "16 bytes an access.",
       "A quarter of the requests."},
      {"column_major/05_vectorised_64", 30.2, 2.7e8, 2.7e8, 0, 80, 16384, 32,
       "The same on 64 x 64 tiles.", "Twice the warps."},
      {"column_major/06_tile_128", 37.5, 1.35e8, 2.6e8, 0, 118, 33792, 16,
       "16 x 4 outputs a thread.", "Coalesced stores."},
      {"row_major/14_registers_buffered", 41.2, 1.35e8, 2.1e8, 0, 128, 33792, 16,
       "Fragments one step ahead in registers.", "Products never wait for shared memory."},
      {"row_major/11_warp_tile", 43.0, 1.35e8, 1.7e8, 0, 128, 33792, 16,
       "A warp's lanes in a square.", "Words shared by more lanes."},
      {"20_async_multistage_with_a_long_name", 46.3, 0, 1.7e8, 0, 128, 66560, 16,
       "cp.async into three stages.", "No registers on the way, and two tiles in flight."},
      {"21_wide_thread_tile", 49.8, 0, 1.3e8, 0, 232, 73728, 8, "8 x 16 outputs a thread.",
       "Of the loop's instructions 92 % multiply instead of 87 %."},
      {"22_planned_tiles", 50.6, 0, 1.3e8, 0, 232, 73728, 8, "The tile follows the product.",
       "Whole waves."},
      {"23_copy_engine_producer", 54.9, 0, 1.3e8, 0, 232, 196608, 9,
       "A warp of its own fills the stages.", "No address arithmetic among the products."},
      {"24_persistent", 56.4, 0, 1.3e8, 0, 232, 196608, 9, "Blocks stay and take tile after tile.",
       "No block starts while others wait."}};
  return rungs;
}

inline const std::vector<SampleRung>& sample_bf16() {
  static const std::vector<SampleRung> rungs{
      {"06_wgmma", 402, 0, 0, 0, 168, 65536, 8,
       "One warpgroup and wgmma on tiles that the copy engine brings.",
       "Operands go from shared memory to the tensor cores."},
      {"07_warp_specialised", 561, 0, 0, 0, 168, 131072, 12, "A producer warp.",
       "Loads under products."},
      {"08_wide_tile", 655, 0, 0, 0, 168, 196608, 12, "128 x 256 tiles.",
       "A quarter less traffic."},
      {"13_all_layouts", 791, 0, 0, 0, 168, 212992, 12, "Every layout.", "No copies."}};
  return rungs;
}

inline Opponent sample_opponent(const char* name, const Entry& entry, double share,
                                const char* kernels) {
  Opponent opponent;
  opponent.name = name;
  opponent.samples = samples(*entry.metric.value * share, 0.002, 77, 12);
  opponent.value = median(opponent.samples);
  const PairedRatio ratio =
      paired_ratio(samples(*entry.metric.value, 0.002, 78, 12), opponent.samples, Better::higher);
  opponent.ratio = ratio.median;
  opponent.ratio_interval = ratio.interval;
  opponent.notes = {{"algorithm", "the library's default"}, {"kernels", kernels}};
  return opponent;
}

inline Entry product_entry(const char* part, const char* type, const std::string& rung,
                           std::int64_t m, std::int64_t n, std::int64_t k, double tflops,
                           double peak_tflops, const char* layout = "NN") {
  const std::string size = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  const bool plain = std::string(part) == "ladder" || std::string(part) == "contest" ||
                     std::string(part) == "claim";
  const std::string suffix = plain ? "" : std::string("/") + part;
  Entry e = timed_entry("gemm", std::string(type) + "/" + rung + "/" + layout + "/" + size + suffix,
                        {{"part", part},
                         {"type", type},
                         {"rung", rung},
                         {"layout", layout},
                         {"m", m},
                         {"n", n},
                         {"k", k},
                         {"alpha", 1.0},
                         {"beta", 0.0}},
                        {"throughput", "FLOP/s", Better::higher, std::nullopt},
                        samples(tflops * 1e12, 0.001, 5, 12));
  const double flop = 2.0 * double(m) * double(n) * double(k);
  const double element = std::string(type) == "fp32" ? 4 : 2;
  e.real_time_s = flop / *e.metric.value;
  e.bound = Bound{peak_tflops * 1e12, "132 SMs x FMA x 2 x 1980 MHz", 1980e6};
  e.extras = {{"flop", flop},
              {"compulsory_bytes", element * double(m * k + k * n + m * n)},
              {"own_path", 1}};
  const double rest = plain || std::string(part) == "layouts" ? 2 : 0;
  e.timing = {"hot", "cudaEvent", 1, 3, rest, "converged", 0.1};
  return e;
}

inline double flop_of(const Entry& e) { return e.extras.at("flop"); }

inline void add_resources(Entry& e, const SampleRung& r) {
  e.extras.insert({{"threads_per_block", 256},
                   {"registers", r.registers},
                   {"shared_bytes", r.shared_bytes},
                   {"resident_warps", r.warps},
                   {"theoretical_occupancy", 100 * r.warps / 64},
                   {"waves", 3.88},
                   {"tile_efficiency", 0.97},
                   {"relative_frobenius_error", 3.1e-7},
                   {"worst_error_of_allowed", 0.11}});
}

inline void add_counters(Entry& e, const SampleRung& r, bool tensor) {
  const auto add = [&](const char* role, const char* unit, double value) {
    e.counters.push_back(
        {role, std::string("metric of ") + role, unit, value, "", std::nullopt, 0, ""});
  };
  const double dram = 2.1e8 + 1e10 / r.tflops / 50;
  add("global_load_sectors", "sectors", r.sectors);
  add("global_load_requests", "requests", r.sectors / 4);
  add("shared_load_wavefronts", "wavefronts", r.wavefronts);
  add("shared_load_conflicts", "conflicts", r.conflicts);
  add("shared_store_wavefronts", "wavefronts", r.wavefronts / 8);
  add("shared_store_conflicts", "conflicts", r.conflicts / 2);
  add("l2_read_sectors", "sectors", r.sectors > 0 ? r.sectors * 0.7 : 9.2e7);
  add("l2_write_sectors", "sectors", 2.1e6);
  add("dram_read_bytes", "B", dram);
  add("dram_write_bytes", "B", 6.7e7);
  add("instructions_executed", "instructions", tensor ? 4e7 : 2.3e9 + 4e10 / r.tflops);
  add("tensor_pipe_active", "%", tensor ? r.tflops / 10.7 : 0);
  add("issue_active", "issues per cycle", tensor ? 0.08 : std::min(0.95, 0.1 + r.tflops / 66));
  add("achieved_occupancy", "%", 98 * r.warps / 64);
  add("stall_long_scoreboard", "warps per issue", 20 / (1 + r.tflops));
  add("stall_short_scoreboard", "warps per issue", r.wavefronts / 4e9);
  add("stall_mio_throttle", "warps per issue", r.wavefronts / 1e9);
  add("stall_lg_throttle", "warps per issue", r.sectors / 4e9);
  add("stall_barrier", "warps per issue", tensor ? 0.1 : 0.6);
  add("stall_math_pipe_throttle", "warps per issue", tensor ? 0.4 : r.tflops / 40);
  add("stall_gmma", "warps per issue", tensor ? 6.5 : 0);
  add("stall_not_selected", "warps per issue", 0.3);
}

/// Whole waves of tiles of 128 x 256 on 132 SMs, as the model of tiles counts them.
inline double sample_steps(std::int64_t m) {
  return std::ceil(std::ceil(double(m) / 256) * 32 / 132) * 256;
}

inline void add_store_sectors(Entry& e, double sectors) {
  e.counters.push_back({"global_store_sectors", "metric of global_store_sectors", "sectors",
                        sectors, "", std::nullopt, 0, ""});
}

/// What differs from a rung in one thing, which a claim is about.
inline void add_type(Document& d, const char* type, const std::vector<SampleRung>& rungs,
                     double peak, double library, const char* kernel) {
  const std::string top = rungs.back().name;
  for (const SampleRung& rung : rungs) {
    const std::string name = rung.name, file = name.substr(name.find('/') + 1);
    Entry e = product_entry("ladder", type, rung.name, 4096, 4096, 4096, rung.tflops, peak);
    add_resources(e, rung);
    add_counters(e, rung, peak > 100);
    e.notes = {{"idea", rung.idea},
               {"gain", rung.gain},
               {"kernel", std::string(type) + "::" + file.substr(3) + "_product"}};
    if (name == "column_major/04_tile_64") e.notes["parent"] = "none";
    if (name == "row_major/07_padded") e.notes["parent"] = "row_major/05_tile_2d";
    if (rung.name == std::string("22_planned_tiles")) {
      e.notes["variant"] = "128x256x8 in 1 part, tuned 2026-01-30T10:00:00Z";
      e.extras["tuned"] = 1;
    }
    if (rung.name == top) {
      e.opponents = {
          sample_opponent("cuBLAS", e, library / rung.tflops, kernel),
          sample_opponent("cuBLASLt, best of 32", e, 1.01 * library / rung.tflops, kernel)};
    }
    const bool narrow = rung.name == std::string("column_major/06_tile_128");
    if (narrow) add_store_sectors(e, 2097152);
    judge_entry(e);
    d.entries.push_back(std::move(e));
  }
  const auto add = [&](const char* part, std::int64_t m, std::int64_t n, std::int64_t k,
                       double tflops, double ratio, const char* layout = "NN") {
    Entry e = product_entry(part, type, top, m, n, k, tflops, peak, layout);
    if (std::string(part) == "tiles" || std::string(part) == "sizes") {
      // What power leaves of it falls with the product's size.
      e.timing.sm_clock_hz = 1980e6 / (1 + flop_of(e) / 1e14);
      e.notes["kernel"] = std::string(type) + "::product<256>";
    }
    if (std::string(part) == "tiles") {
      e.extras["waves"] = std::ceil(double(m) / 256) * 32 / 132;
      e.extras["tile_efficiency"] = double(m) / 256 * 32 / 132 / (sample_steps(m) / 256);
    }
    e.opponents = {sample_opponent("cuBLAS", e, 1 / ratio, kernel)};
    if (std::string(part) == "sustained") {
      e.extras["joules"] = 1.31;
      e.extras["joules_half_width"] = 0.004;
      e.extras["joules:cuBLAS"] = 1.36;
      e.telemetry.sm_clock_hz = {1395e6, 1410e6, 1440e6};
      e.telemetry.power_w = {690, 698, 702};
      e.telemetry.throttle_reasons = {"sw_power_cap"};
      e.timing.mode = "sustained";
    }
    judge_entry(e);
    d.entries.push_back(std::move(e));
  };
  const double best = rungs.back().tflops;
  add("contest", 8192, 8192, 8192, best * 1.02, 1.08);
  add("contest", 16, 8192, 8192, best * 0.2, 1.12);
  for (const char* layout : {"NT", "TN", "TT"})
    add("layouts", 4096, 4096, 4096, best * 0.98, 1.03, layout);
  for (const std::int64_t size : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
    const double s = double(size);
    add("sizes", size, size, size, best / (1 + 6e8 / (s * s * s)) * std::min(1.0, 0.4 + s / 5000),
        1.05);
  }
  for (const std::int64_t m : {3072, 3088, 3200, 3328, 3344, 3456, 3584, 3600, 3712, 3840, 3856,
                               3968, 4096, 4112, 4224, 4352}) {
    const double model = double(m) / sample_steps(m) / (4096 / sample_steps(4096));
    add("tiles", m, 4096, 4096, best * (0.15 + 0.85 * model), 1.03);
  }
  add("sustained", 4096, 4096, 4096, best * (peak > 100 ? 0.83 : 0.99), 1.04);
}

inline Document ladder_document() {
  Document d = empty_run();
  d.suite = "gemm";
  d.bounds = {{"dram_bandwidth", "B/s", "6016 bit x 3.201 GHz x 2 / 8", 4.814e12},
              {"shared_bandwidth", "B/s", "132 SMs x 128 B x 1980 MHz", 33.45e12},
              {"fp32_fma", "FLOP/s", "132 SMs x 128 FMA x 2 x 1980 MHz", 66.9e12}};
  d.notes = {
      "Tuned choices of ~/.local/state/fathom/tuning/nvidia-h200.json were used for one product."};
  add_type(d, "fp32", sample_fp32(), 66.9, 51.4,
           "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8");
  add_type(d, "bf16", sample_bf16(), 1070.5, 782, "nvjet_hsh_256x128_64x4_2x1_v_bz_NNT");
  // One of the rungs has no counters: the driver withheld them.
  for (Counter& counter : d.entries[2].counters) {
    counter.value.reset();
    counter.reason = "the driver does not permit counters";
  }
  Findings findings = gemm::conclude(d.entries);
  ProbeSummary probe{
      "gemm",
      "How fast does this GPU multiply matrices?",
      findings.answer,
      "Each rung is held against an fp64 reference and timed alternately with the library.",
      ProbeStatus::complete,
      "",
      95.5,
      findings.views};
  probe.page = findings.page;
  probe.page_title = findings.page_title;
  d.probes = {std::move(probe)};
  d.claims = findings.claims;
  for (Claim& claim : d.claims) claim.probe = "gemm";
  return d;
}

}  // namespace fathom::sample
