#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::check_values;
using planted::fact;
using planted::steps;

namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
constexpr double l1_hit = 33, l2_hit = 210, dram = 600;

Entry noisy(Axes axes, double value) {
  return planted::noisy(std::move(axes), value, "cycles", Better::lower);
}

Entry level(const char* name, const char* instruction, double value,
            const char* method = "unrolled chase") {
  return noisy(
      {{"sweep", "latency"}, {"level", name}, {"instruction", instruction}, {"method", method}},
      value);
}

void add_curve(std::vector<Entry>& entries, Axes axes, const std::vector<std::int64_t>& sizes,
               const std::function<double(std::int64_t)>& latency) {
  for (const std::int64_t size : sizes) {
    Axes with_size = axes;
    with_size.emplace_back("working set (B)", size);
    entries.push_back(noisy(with_size, latency(size)));
  }
}

/// Entries of a cache whose lines are `line` bytes long.
std::vector<Entry> line_entries(int line, const char* name = "L1", double fits = l1_hit,
                                double overflows = 150) {
  std::vector<Entry> entries;
  for (const std::int64_t candidate : {64, 128, 256})
    for (const std::int64_t stride : {candidate / 2, candidate})
      entries.push_back(
          noisy({{"sweep", "line"},
                 {"level", name},
                 {"candidate (B)", candidate},
                 {"stride (B)", stride}},
                std::min<std::int64_t>(stride, line) > 0.75 * candidate ? overflows : fits));
  return entries;
}

std::vector<Entry> fetch_entries(const char* name, std::int64_t granularity, double hit,
                                 double miss) {
  std::vector<Entry> entries;
  for (const std::int64_t distance : {4, 16, 28, 32, 60, 64, 96, 124, 128, 192, 252, 256, 512})
    entries.push_back(noisy({{"sweep", "fetch"}, {"level", name}, {"distance (B)", distance}},
                            distance < granularity ? hit : miss));
  return entries;
}

void add_beside_code(std::vector<Entry>& entries, std::int64_t constants, std::int64_t capacity) {
  add_curve(entries, {{"sweep", "beside code"}, {"constants (B)", constants}},
            steps(64 * kib, 240 * kib, 4 * kib), [=](std::int64_t both) {
              return 98 + 53 * std::clamp(double(both - capacity) / double(48 * kib), 0.0, 1.0);
            });
}

std::vector<Entry> code_of(const std::function<double(std::int64_t)>& interval) {
  std::vector<Entry> entries;
  const Axes axes{{"sweep", "code"}, {"level", "instruction caches"}};
  add_curve(entries, axes, steps(4 * kib, 46 * kib, 2 * kib), interval);
  add_curve(entries, axes, steps(48 * kib, 256 * kib, 8 * kib), interval);
  return entries;
}

Findings concluded(const std::vector<Entry>& entries) {
  Findings findings = memory_latency::conclude(entries);
  for (Fact& fact : findings.facts) {
    if (!fact.bound || fact.quantity != "issue interval") continue;
    CHECK(*fact.value >= fact.bound->value);  // the least that it can be, not the most
    fact.bound.reset();
  }
  return planted::checked(std::move(findings));
}

/// The same of one fact.
Fact fact(const std::vector<Entry>& entries, const std::string& id) {
  return planted::fact(concluded(entries), id);
}

}  // namespace

// Sentences, views, and what today's GPUs have, such as an L2 whose far lines make a slope that
// turns into one of misses: recording_conclude_test.cpp.
TEST_CASE(
    "without a global timer a latency has cycles alone, the L2 near lines only where single "
    "loads form two groups",
    "[probes][memory_latency]") {
  check_values(concluded({level("L1", "ld.global", l1_hit), level("shared", "ld.shared", 23)}),
               {{"l1.latency", l1_hit}, {"l1.latency_time", {}}, {"shared.size", {}}});
  Entry each = level("L2", "ld.global.cg", 240, "single loads");
  each.extras = {{"p5", 200}, {"p95", 285}, {"group_separation", 0.7}};
  const Findings findings = concluded({each});
  CHECK_FALSE(fact(findings, "l2.near_latency").value);
  CHECK_THAT(fact(findings, "l2.far_latency").reason, contains("0.70"));
}

TEST_CASE("a step among hits is not where the L1 ends", "[probes][memory_latency]") {
  std::vector<Entry> entries;
  add_curve(entries, {{"sweep", "size"}, {"level", "L1"}, {"carve-out (KiB)", std::int64_t{8}}},
            steps(4 * kib, 262 * kib, 4 * kib), [](std::int64_t s) {
              return s <= 120 * kib ? l1_hit : s <= 240 * kib ? 1.012 * l1_hit : l2_hit;
            });
  CHECK(fact(entries, "l1.size").value == 240 * kib);
}

TEST_CASE("the L2 ends where misses begin, its partition where latency first changes",
          "[probes][memory_latency]") {
  // An L2 whose near partition has `near` MiB; the largest working set has `most` MiB.
  const auto of = [](std::int64_t near, std::int64_t most, bool with_dram = true) {
    std::vector<Entry> entries;
    if (with_dram) entries.push_back(level("DRAM", "ld.global.cg", dram));
    add_curve(entries, {{"sweep", "size"}, {"level", "L2"}}, steps(mib, most * mib, mib),
              [=](std::int64_t s) {
                return s <= near * mib ? l2_hit : s <= 58 * mib ? l2_hit + 60 : dram;
              });
    return concluded(entries);
  };
  check_values(of(30, 120), {{"l2.size", 58 * mib}, {"l2.partition", 30 * mib}});
  check_values(of(58, 120), {{"l2.size", 58 * mib}, {"l2.partition", {}}});  // one partition only
  // A sweep that ends before misses begin has seen no size, and without DRAM's latency nothing says
  // what a miss is.
  check_values(of(30, 50), {{"l2.size", {}}, {"l2.partition", {}}});
  check_values(of(30, 120, false), {{"l2.size", {}}, {"l2.partition", {}}});
}

TEST_CASE("each end of a plateau is a TLB's reach, each step its miss",
          "[probes][memory_latency]") {
  std::vector<std::int64_t> sizes;
  for (double s = 8.0 * mib; s < 130.0 * 1024 * mib; s *= std::exp2(0.25))
    sizes.push_back(static_cast<std::int64_t>(s * 1.000001) / (2 * mib) * (2 * mib));
  std::vector<Entry> entries;
  add_curve(entries, {{"sweep", "pages"}, {"level", "TLB"}}, sizes, [](std::int64_t s) {
    return s <= 64 * mib ? 210.0 : s <= 32 * 1024 * mib ? 290.0 : 500.0;
  });
  const Findings findings = concluded(entries);
  check_values(findings, {{"tlb.reach", 64 * mib}, {"tlb.reach_2", 32 * 1024 * mib}});
  CHECK_THAT(*fact(findings, "tlb.miss_latency").value, WithinAbs(80, 1));
  CHECK_THAT(*fact(findings, "tlb.miss_latency_2").value, WithinAbs(210, 1));
}

TEST_CASE("the line is the longest candidate that overflows", "[probes][memory_latency]") {
  for (const auto& [line, found] :
       std::map<int, std::optional<double>>{{128, 128}, {64, 64}, {32, {}}, {256, {}}}) {
    check_values(concluded(line_entries(line)), {{"l1.line", found}});
    check_values(concluded(line_entries(line, "L2", 343, 467)), {{"l2.line", found}});
  }
  CHECK_THAT(fact(line_entries(32), "l1.line").reason, contains("shorter"));
  CHECK_THAT(fact(line_entries(256), "l1.line").reason, contains("256 B long or longer"));
  auto entries = line_entries(128);
  entries[2].metric.value = 150;  // 64 bytes apart, which should fit
  check_values(concluded(entries), {{"l1.line", {}}});
}

TEST_CASE("a fetch reaches to the first load that misses", "[probes][memory_latency]") {
  for (const std::int64_t granularity : {32, 64, 128, 256})
    check_values(concluded(fetch_entries("L1", granularity, l1_hit, l2_hit)),
                 {{"l1.sector", granularity}});
  // All hit, and a hit behind a miss: neither has a granularity.
  CHECK_FALSE(fact(fetch_entries("L2", 9999, l2_hit, dram), "l2.fetch_granularity").value);
  auto entries = fetch_entries("L2", 64, l2_hit, dram);
  entries[8].metric.value = l2_hit;
  CHECK_FALSE(fact(entries, "l2.fetch_granularity").value);
}

TEST_CASE("ways are those with which sets without a hash keep what stays",
          "[probes][memory_latency]") {
  /// Strides are in KiB.
  const auto of = [](const std::function<bool(int, int)>& fits) {
    std::vector<Entry> entries{level("L1", "ld.global", l1_hit)};
    for (const std::int64_t stride : {4, 16, 64})
      for (const std::int64_t elements : {4, 8, 16, 32, 64, 128, 256})
        entries.push_back(noisy({{"sweep", "associativity"},
                                 {"level", "L1"},
                                 {"stride (B)", stride * kib},
                                 {"elements", elements}},
                                fits(int(stride), int(elements)) ? l1_hit : l2_hit));
    return concluded(entries);
  };
  // All beyond the 32 sets of 8 ways, and beyond some of the 128 of 4.
  check_values(of([](int, int elements) { return elements <= 8; }),
               {{"l1.associativity", 8}, {"l1.strided_lines", 8}});
  check_values(of([](int stride, int elements) { return elements <= (stride == 4 ? 16 : 4); }),
               {{"l1.associativity", 4}, {"l1.strided_lines", 4}});
  const auto reason = [&](const std::function<bool(int, int)>& fits) {
    return fact(of(fits), "l1.associativity").reason;
  };
  CHECK_THAT(reason([](int, int) { return true; }), contains("hashed, or there is only one"));
  // Fewer the wider the stride, as of 2048 sets of 1, 1024 of 2 or 512 of 4.
  CHECK_THAT(reason([](int stride, int elements) { return elements <= 256 / stride; }),
             contains("several numbers of ways"));
  // More at a wider stride than at a narrow one: no bits of the address do that.
  CHECK_THAT(reason([](int stride, int elements) { return elements <= (stride == 16 ? 128 : 32); }),
             contains("sets are hashed: no index"));
  CHECK_THAT(reason([](int stride, int) { return stride < 64; }), contains("at 1 of 3 strides"));
}

TEST_CASE("slices need sectors that were counted", "[probes][memory_latency]") {
  const Entry uncounted = noisy({{"sweep", "associativity"},
                                 {"level", "L2"},
                                 {"stride (B)", 64 * kib},
                                 {"elements", std::int64_t{4096}}},
                                280);
  const auto findings = memory_latency::conclude(std::vector{uncounted});
  CHECK(fact(findings, "l2.slices").reason == "sectors were not counted by slice in this run");
}

TEST_CASE("the cache behind the first constant one is sized by code beside constants",
          "[probes][memory_latency]") {
  std::vector<Entry> entries;
  add_beside_code(entries, 64 * kib, 104 * kib);
  CHECK(fact(entries, "const.l1_5.size").value == 104 * kib);
  add_beside_code(entries, 16 * kib, 108 * kib);
  const Fact size = fact(entries, "const.l1_5.size");
  CHECK(size.value == 104 * kib);
  CHECK_THAT(size.method, contains("108 KiB with 16 KiB"));
  CHECK(size.interval->high >= 108 * kib);
  CHECK_THAT(*fact(entries, "const.behind_l1_5.latency").value, WithinAbs(151, 1));

  // Constants that code throws out by itself, however few they are, share no room with it.
  entries.clear();
  add_beside_code(entries, 64 * kib, 180 * kib);
  add_beside_code(entries, 16 * kib, 104 * kib);
  CHECK_THAT(fact(entries, "const.l1_5.size").reason, contains("not one cache"));

  entries.clear();
  add_beside_code(entries, 64 * kib, mib);
  CHECK_THAT(fact(entries, "const.l1_5.size").reason, contains("stays in it"));
  CHECK_FALSE(fact(entries, "const.behind_l1_5.latency").value);
  CHECK_THAT(fact(std::vector<Entry>{}, "const.l1_5.size").reason, contains("default suite"));
}

TEST_CASE("a second constant cache that constant memory overflows needs no code",
          "[probes][memory_latency]") {
  const auto constants = [](std::int64_t second) {
    std::vector<Entry> entries;
    add_curve(entries, {{"sweep", "size"}, {"level", "constant"}}, steps(512, 64 * kib, 512),
              [=](std::int64_t size) {
                return size <= 2 * kib ? 30.0 : size <= second ? 90.0 : 200.0;
              });
    return entries;
  };
  check_values(concluded(constants(64 * kib)),
               {{"const.l1.size", 2 * kib}, {"const.l1_5.size", {}}});
  auto entries = constants(32 * kib);
  add_beside_code(entries, 64 * kib, 104 * kib);
  CHECK(fact(entries, "const.l1_5.size").value == 32 * kib);
}

TEST_CASE("instruction caches end with the plateaus of the code's pace",
          "[probes][memory_latency]") {
  // Some misses shortly before the end of a cache are no level by themselves.
  const auto early = code_of([](std::int64_t s) {
    return s <= 22 * kib ? 1.1 : s <= 104 * kib ? 2.23 : s <= 128 * kib ? 2.75 : 5.6;
  });
  CHECK(fact(early, "instruction_cache.size_2").value == 104 * kib);
  CHECK(std::abs(*fact(early, "instruction_cache.issue_interval_3").value - 5.6) < 0.02);
  CHECK_THROWS_AS(fact(early, "instruction_cache.size_3"), std::out_of_range);

  // A pace that is no more even by a few percent is one level.
  const auto uneven = code_of([](std::int64_t s) {
    return s <= 12 * kib ? 1.12 : s <= 32 * kib ? 1.09 : 2.2;
  });
  CHECK(fact(uneven, "instruction_cache.size").value == 32 * kib);
  CHECK_THROWS_AS(fact(uneven, "instruction_cache.size_2"), std::out_of_range);

  const auto flat = code_of([](std::int64_t) { return 1.1; });
  CHECK_THAT(fact(flat, "instruction_cache.size").reason, contains("plateau"));
}
