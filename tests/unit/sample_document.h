#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/findings.h"
#include "results/statistics.h"
#include "results/verdict.h"

namespace fathom::sample {

// A document as a run leaves it, for tests of whatever reads one. Made up, and the same on every
// machine: several probes, axes of each type, an opponent, counters there and missing with a
// reason, views of each kind, claims of each verdict, facts, an entry of each verdict that a reader
// must show.

/// `count` values within +-`spread` (relative) of `centre`, seeded.
inline std::vector<double> samples(double centre, double spread, std::uint32_t seed,
                                   int count = 30) {
  std::vector<double> values;
  std::uint64_t state = 0x9E3779B97F4A7C15ull * (seed + 1);
  for (int i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double unit = static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
    values.push_back(centre * (1 + spread * (2 * unit - 1)));
  }
  return values;
}

inline Counter counter(std::string role, std::string metric, std::string unit, double value,
                       double expected, double tolerance = 0) {
  return {std::move(role),
          std::move(metric),
          std::move(unit),
          value,
          "",
          expected,
          tolerance,
          "bytes moved / 32 bytes a sector"};
}

inline Counter missing_counter(std::string role, std::string reason) {
  return {std::move(role),   "",           "bytes", std::nullopt,
          std::move(reason), 2147483648.0, 0.01,    "bytes the kernel must move"};
}

inline Telemetry telemetry() {
  Telemetry t;
  t.sm_clock_hz = {1965e6, 1980e6, 1980e6};
  t.memory_clock_hz = {3201e6, 3201e6, 3201e6};
  t.power_w = {412.5, 455.25, 470.0};
  t.temperature_c = {41, 44, 46};
  return t;
}

inline Entry timed_entry(std::string probe, std::string path, Axes axes, Metric metric,
                         std::vector<double> values) {
  Entry e;
  e.name = probe + "/" + path;
  e.probe = std::move(probe);
  e.axes = std::move(axes);
  e.metric = std::move(metric);
  e.samples = std::move(values);
  e.metric.value = median(e.samples);
  e.interval = median_interval(e.samples);
  e.repeatability = 0.0011;
  e.iterations = static_cast<std::int64_t>(e.samples.size());
  e.telemetry = telemetry();
  e.timing = {"cold", "cudaEvent", 1, 3, 2, "converged", 0.125};
  return e;
}

inline Entry copy_entry(const std::string& type, std::int64_t bytes_per_thread, std::int64_t size,
                        double centre, double spread, std::uint32_t seed) {
  const std::string size_name =
      size >= (1ll << 30) ? std::to_string(size >> 30) + "GiB" : std::to_string(size >> 20) + "MiB";
  Entry e = timed_entry("copy_bandwidth", "type:" + type + "/size:" + size_name,
                        {{"type", type}, {"bytes_per_thread", bytes_per_thread}, {"size", size}},
                        {"bandwidth", "B/s", Better::higher, std::nullopt},
                        samples(centre, spread, seed));
  e.real_time_s = 2.0 * static_cast<double>(size) / *e.metric.value;
  e.bound = {4.8e12, "6144 bit x 3.125 GHz x 2 / 8"};
  e.expected = {4.25e12, 0.05, "89 % of the bus, as streaming kernels reach"};
  e.extras = {{"bytes_per_launch", 2.0 * static_cast<double>(size)},
              {"theoretical_occupancy", 100}};
  Opponent opponent;
  opponent.name = "cudaMemcpyAsync";
  opponent.samples = samples(centre * 0.99, spread, seed + 100);
  opponent.value = median(opponent.samples);
  const PairedRatio ratio = paired_ratio(e.samples, opponent.samples, Better::higher);
  opponent.ratio = ratio.median;
  opponent.ratio_interval = ratio.interval;
  e.opponents = {std::move(opponent)};
  const double sectors = static_cast<double>(size) / 32;
  e.counters = {counter("global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                        "sectors", sectors, sectors),
                missing_counter("dram_read_bytes", "the driver does not permit counters")};
  judge_entry(e);
  return e;
}

inline Entry conflict_entry(std::int64_t stride, double wavefronts, double counted) {
  Entry e = timed_entry("bank_conflicts", "access:load/stride:" + std::to_string(stride),
                        {{"access", "load"}, {"stride", stride}, {"active_lanes", 0.5}},
                        {"cycles_per_access", "cycles", Better::lower, std::nullopt},
                        samples(wavefronts * 1.01, 0.0005, static_cast<std::uint32_t>(stride)));
  e.real_time_s = 12e-6;
  e.timing = {"in-kernel clock", "clock64", 1, 3, 0, "sample limit", 0.01};
  e.bound = {wavefronts, "one wavefront a cycle"};
  e.expected = {wavefronts, 0.02, "wavefronts of the busiest bank"};
  e.counters = {counter("shared_load_wavefronts",
                        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts",
                        counted, wavefronts * 1000)};
  judge_entry(e);
  return e;
}

inline std::vector<View> copy_views() {
  View v = plot("Copy bandwidth by size", {{"type", {std::string("half"), std::string("float4")}}},
                "size", "bandwidth", {"type"},
                {.x_log2 = true, .bound = true, .expected = true, .overview = true},
                "Read and written bytes over the time of one launch.");
  v.markers = {{256.0 * (1 << 20), "256 MiB"}};
  v.stretches = {{64.0 * (1 << 20), 4.28e12, 1024.0 * (1 << 20), 4.28e12, "4.28 TB/s"}};
  return {v, table("Copies of 1 GiB", {{"size", {std::int64_t{1} << 30}}},
                   {"type", "bytes_per_thread", "metric", "interval", "of_bound", "expected",
                    "ratio:cudaMemcpyAsync", "counter:global_load_sectors",
                    "counter:dram_read_bytes", "extra:theoretical_occupancy", "verdict"})};
}

inline View conflict_plot() {
  View v = plot("Cycles of a load by stride", {}, "stride", "cycles per access", {"access"});
  v.x_label = "stride in words";
  v.show_expected = true;
  return v;
}

inline Fingerprint fingerprint() {
  Fingerprint f;
  f.gpu_name = "NVIDIA H200";
  f.gpu_uuid_hash = "5f2d7a90c3b1";
  f.compute_capability = "9.0";
  f.vbios = "96.00.A0.00.01";
  f.driver = "580.65.06";
  f.cuda_driver = "13.0";
  f.cuda_runtime = "13.0";
  f.toolkit = "13.0.48";
  f.sms = 132;
  f.memory_bytes = 150754820096;
  f.l2_bytes = 62914560;
  f.memory_bus_bits = 6144;
  f.sm_clock_max_hz = 1980e6;
  f.memory_clock_max_hz = 3201e6;
  f.power_limit_w = 700;
  f.ecc = "on";
  f.mig = "off";
  f.persistence = "on";
  f.pcie_link = "Gen5 x16";
  f.virtualization = "none";
  f.compute_mode = "default";
  return f;  // confidential_computing stays unknown
}

inline Fact fact(std::string id, std::string subject, std::string quantity,
                 std::optional<double> value, std::string unit, std::string probe) {
  Fact f{std::move(id), std::move(subject), std::move(quantity), std::move(unit)};
  f.value = value;
  f.probe = std::move(probe);
  return f;
}

/// Facts as an atlas has them: with and without an interval, a published figure, a bound; missing.
inline std::vector<Fact> facts() {
  Fact latency = fact("l1.latency", "L1", "latency", 32.5, "cycles", "bank_conflicts");
  latency.better = Better::lower;
  latency.interval = Interval{32.25, 33, 0.957, "median, order statistics 10 and 21 of 30"};
  latency.method = "unrolled chase between two readings of the SM's clock";
  latency.repeats = 30;
  latency.evidence = {"bank_conflicts/access:load/stride:1"};
  latency.published = Published{33, "Dissecting Hopper via microbenchmarking, H800"};
  Fact bandwidth = fact("dram.bandwidth", "DRAM", "bandwidth", 4.28e12, "B/s", "copy_bandwidth");
  bandwidth.method = "largest of the copies";
  bandwidth.repeats = 30;
  bandwidth.evidence = {"copy_bandwidth/type:float4/size:1GiB"};
  bandwidth.bound = Bound{4.8e12, "6144 bit x 3.125 GHz x 2 / 8"};
  bandwidth.counters = {missing_counter("dram_read_bytes", "the driver does not permit counters")};
  Fact missing =
      unmeasured({"dsmem.latency", "distributed shared memory", "latency", "cycles", Better::lower},
                 "the chip has no thread-block clusters (compute capability 9.0 and later)");
  missing.method = "chase through another block's shared memory";
  missing.probe = "bank_conflicts";
  return {bandwidth, latency, missing};
}

/// What `document` has, without entries, probes, claims and facts.
inline Document empty_run() {
  Document d;
  d.date = "2026-01-31T12:00:00Z";
  d.executable = "fathom";
  d.fathom_version = "0.1.0";
  d.fathom_commit = "1a2b3c4d5e6f";
  d.suite = "default";
  d.seed = "1";
  d.elapsed_s = 141.5;
  d.num_cpus = 16;
  d.mhz_per_cpu = 2100;
  d.cpu_scaling_enabled = false;
  d.google_benchmark_version = "1.7.1";
  d.fingerprint = fingerprint();
  d.bounds = {{"memory bandwidth", "B/s", "bus width x memory clock x 2", 4.8e12},
              {"fp32", "FLOP/s", "SMs x 128 FMA x 2 x SM clock", 66.9e12}};
  return d;
}

inline ProbeSummary summary(const char* name, const char* question, const char* answer,
                            const char* method, double elapsed_s, std::vector<View> views) {
  return {name, question, answer, method, ProbeStatus::complete, "", elapsed_s, std::move(views)};
}

inline Claim claim(std::string id, std::string statement, std::string claimed, ClaimVerdict verdict,
                   std::string figure, std::vector<std::string> evidence, std::string probe) {
  return {std::move(id),     std::move(statement), std::move(claimed), verdict,
          std::move(figure), std::move(evidence),  std::move(probe)};
}

inline Document document() {
  Document d = empty_run();
  d.warnings = {"Counters of DRAM are missing: the driver does not permit counters."};
  const std::int64_t mib = 1 << 20;
  std::uint32_t seed = 0;
  for (const std::int64_t size : {64 * mib, 256 * mib, 1024 * mib}) {
    d.entries.push_back(copy_entry("half", 2, size, 3.7e12, 0.001, ++seed));
    d.entries.push_back(copy_entry("float4", 16, size, 4.28e12, 0.001, ++seed));
  }
  d.entries.push_back(copy_entry("char", 1, 1024 * mib, 2.1e12, 0.03, ++seed));
  Entry broken = copy_entry("double4", 32, 1024 * mib, 4.2e12, 0.001, ++seed);
  broken.metric.value.reset();
  broken.samples.clear();
  broken.interval.reset();
  broken.opponents.clear();
  broken.verdict = {VerdictStatus::wrong_output,
                    {"element 17 is 0.25, expected 0.5: the kernel copied to the wrong place."},
                    {}};
  d.entries.push_back(std::move(broken));
  d.entries.push_back(conflict_entry(1, 1, 1000));
  d.entries.push_back(conflict_entry(2, 2, 2000));
  d.entries.push_back(conflict_entry(32, 32, 32016));  // 16 more than the model says

  d.probes = {summary("copy_bandwidth", "How wide must an access be to copy at full speed?",
                      "16 bytes a thread copy 1 GiB at 4.28 TB/s, 89 % of the bus.",
                      "Each copy is timed cold with events, alternately with cudaMemcpyAsync.",
                      61.5, copy_views()),
              summary("bank_conflicts", "What does a bank conflict cost?",
                      "A load takes one cycle more for each further wavefront.",
                      "A dependent chain of accesses is timed with the SM's clock.", 12.25,
                      {conflict_plot()}),
              summary("warp_reduce", "Do warp shuffles reduce at copy speed?", "",
                      "Sums of random floats, alternately with cub::DeviceReduce.", 300, {})};
  d.probes[2].status = ProbeStatus::timed_out;
  d.probes[2].status_reason = "it hit its time limit of 300 s (--time-limit)";
  const std::string half = "copy_bandwidth/type:half/size:1GiB",
                    float4 = "copy_bandwidth/type:float4/size:1GiB";
  using enum ClaimVerdict;
  d.claims = {claim("V1", "A copy reaches the same bandwidth with 4 to 32 bytes per thread",
                    "921 of 1008 GB/s", refuted, "4.28 TB/s with 16, wrong output with 32",
                    {float4}, "copy_bandwidth"),
              claim("V5", "1 GiB is 33,554,432 sectors whatever the width", "33,554,432", confirmed,
                    "33,554,432 with 2 and 16 bytes", {half, float4}, "copy_bandwidth"),
              claim("S3", "64-bit accesses go half-warp by half-warp", "two wavefronts",
                    does_not_apply, "not a claim about 32-bit accesses", {}, "bank_conflicts"),
              claim("R1", "A reduction reaches copy bandwidth", "930 against 921 GB/s",
                    not_measured, "", {}, "warp_reduce")};
  d.facts = facts();
  return d;
}

/// A matrix of latencies: SMs are near to one half of the lines each.
inline Document heat_map_document() {
  Document d = empty_run();
  for (const std::int64_t sm : {0, 1, 2}) {
    d.entries.push_back(timed_entry("topology", "sm:" + std::to_string(sm), {{"sm", sm}},
                                    {"latency", "cycles", Better::lower, std::nullopt},
                                    samples(250, 0.01, static_cast<std::uint32_t>(sm))));
    d.entries.back().profile = Profile{"L2 line", "cycles", {210, 260, 211, 261, 212, 262}};
  }
  View v;
  v.kind = View::Kind::heat_map;
  v.title = "Latency of L2 lines from each SM";
  v.x = "profile";
  v.y_axis = "sm";
  v.row_order = {std::int64_t{0}, std::int64_t{2}, std::int64_t{1}};
  d.probes = {summary("topology", "Which SMs are near which lines?", "Two groups.",
                      "Each SM chases each line alone.", 3, {std::move(v)})};
  return d;
}

/// The same as a replay shows it.
inline Document replay() {
  Document d = document();
  d.source = Source::replay;
  return d;
}

}  // namespace fathom::sample
