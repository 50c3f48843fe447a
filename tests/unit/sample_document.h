#pragma once

#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/findings.h"
#include "results/statistics.h"

namespace fathom {

/// Equal in every field, which are all their members (results_schema_test.cpp).
template <Listed Value>
requires(!requires { typename Value::first_type; }) bool operator==(const Value& a,
                                                                    const Value& b) {
  return write_fields(a).dump() == write_fields(b).dump();  // 1 is not 1.0
}

}  // namespace fathom

namespace fathom::sample {

// A document as a run leaves it, for tests of whatever reads one. Made up, and the same on every
// machine: several probes, axes of each type, an opponent, counters there and missing with a
// reason, views of each kind, claims of each verdict, facts, an entry of each verdict that a reader
// must show.

/// All of it but its entries, of which there is one that is small enough to read.
inline Document small_document() {
  static const Document document = read_document(FATHOM_SOURCE_DIR "/tests/unit/data/sample.json");
  return document;
}

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
  e.telemetry = small_document().entries[0].telemetry;
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
  Entry e = small_document().entries[0];
  e.name = "bank_conflicts/access:load/stride:" + std::to_string(stride);
  e.axes[1].second = stride;
  e.samples = samples(wavefronts * 1.01, 0.0005, static_cast<std::uint32_t>(stride));
  e.metric.value = median(e.samples);
  e.interval = median_interval(e.samples);
  e.bound->value = e.expected->value = wavefronts;
  e.counters[0].value = counted;
  e.counters[0].expected = wavefronts * 1000;
  judge_entry(e);
  return e;
}

/// What `document` has, without entries, probes, claims and facts.
inline Document empty_run() {
  Document d = small_document();
  d.warnings.clear();
  d.entries.clear();
  d.probes.clear();
  d.claims.clear();
  d.facts.clear();
  return d;
}

inline Document document() {
  Document d = small_document();
  d.entries.clear();
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
  d.probes.emplace_back().name = "topology";
  d.probes[0].views = {std::move(v)};
  return d;
}

/// The same as a replay shows it.
inline Document replay() {
  Document d = document();
  d.source = Source::replay;
  return d;
}

}  // namespace fathom::sample
