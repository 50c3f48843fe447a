#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

// Instruction caches, constants beside code, kernel parameters.

using namespace fathom;
using planted::steps;

namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

Entry noisy(Axes axes, double value) {
  return planted::noisy(std::move(axes), value, "cycles", Better::lower);
}

Fact fact(const std::vector<Entry>& entries, const std::string& id) {
  const Fact found = planted::fact(memory_latency::conclude(entries), id);
  CHECK(found.value.has_value() == found.reason.empty());
  CHECK((!found.value || (found.repeats > 0 && !found.evidence.empty())));
  return found;
}

void add_beside_code(std::vector<Entry>& entries, std::int64_t constants, std::int64_t capacity) {
  for (const std::int64_t both : steps(64 * kib, 240 * kib, 4 * kib)) {
    const double over = std::clamp(double(both - capacity) / double(48 * kib), 0.0, 1.0);
    entries.push_back(
        noisy({{"sweep", "beside code"}, {"constants (B)", constants}, {"working set (B)", both}},
              98 + 53 * over));
  }
}

std::vector<Entry> code_of(const std::function<double(std::int64_t)>& interval) {
  std::vector<Entry> entries;
  std::vector<std::int64_t> sizes = steps(4 * kib, 46 * kib, 2 * kib);
  for (const std::int64_t size : steps(48 * kib, 256 * kib, 8 * kib)) sizes.push_back(size);
  for (const std::int64_t size : sizes) {
    entries.push_back(
        noisy({{"sweep", "code"}, {"level", "instruction caches"}, {"working set (B)", size}},
              interval(size)));
  }
  return entries;
}

}  // namespace

TEST_CASE("the cache behind the first constant one is sized by code beside constants",
          "[probes][memory_latency]") {
  std::vector<Entry> entries;
  add_beside_code(entries, 64 * kib, 104 * kib);
  CHECK(fact(entries, "const.l1_5.size").value == 104 * kib);
  add_beside_code(entries, 16 * kib, 108 * kib);
  const Fact size = fact(entries, "const.l1_5.size");
  CHECK(size.value == 104 * kib);
  CHECK_THAT(size.method, contains("108 KiB with 16 KiB"));
  REQUIRE(size.interval);
  CHECK(size.interval->low <= 104 * kib);
  CHECK(size.interval->high >= 108 * kib);
  const Fact behind = fact(entries, "const.behind_l1_5.latency");
  REQUIRE(behind.value);
  CHECK(std::abs(*behind.value - 151) < 1);

  // Constants that code throws out by itself, however few they are, share no room with it.
  entries.clear();
  add_beside_code(entries, 64 * kib, 180 * kib);
  add_beside_code(entries, 16 * kib, 104 * kib);
  CHECK_THAT(fact(entries, "const.l1_5.size").reason, contains("not one cache"));

  entries.clear();
  add_beside_code(entries, 64 * kib, mib);
  CHECK_THAT(fact(entries, "const.l1_5.size").reason, contains("stays in it"));
  CHECK_FALSE(fact(entries, "const.behind_l1_5.latency").value.has_value());
  CHECK_THAT(fact({}, "const.l1_5.size").reason, contains("default suite"));
}

TEST_CASE("a second constant cache that constant memory overflows needs no code",
          "[probes][memory_latency]") {
  const auto constants = [](std::int64_t second) {
    std::vector<Entry> entries;
    for (const std::int64_t size : steps(512, 64 * kib, 512)) {
      entries.push_back(noisy({{"sweep", "size"}, {"level", "constant"}, {"working set (B)", size}},
                              size <= 2 * kib  ? 30
                              : size <= second ? 90
                                               : 200));
    }
    return entries;
  };
  CHECK(fact(constants(64 * kib), "const.l1.size").value == 2 * kib);
  CHECK_FALSE(fact(constants(64 * kib), "const.l1_5.size").value);
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
  CHECK_THAT(fact({}, "instruction_cache.size").reason, contains("default suite"));
}

