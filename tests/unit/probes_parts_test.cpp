// What single probes compute on the host.

#include <csignal>

#include "probes/copy_bandwidth/cases.h"
#include "probes/launch_overhead/kernels.h"
#include "probes/memory_bandwidth/kernels.h"
#include "probes/memory_latency/chain.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::copy_bandwidth;
using namespace fathom::launch_overhead;
using namespace fathom::memory_bandwidth;
using namespace fathom::memory_latency;

// How a process ended, what is known then, and why nothing is.
TEST_CASE("a misaligned access is refused or not, or why that is not known is said",
          "[probes][copy_bandwidth]") {
  const auto exited = [](int code) { return code << 8; };
  for (const auto& [status, faults, why] :
       {std::tuple{exited(to_int(ExitCode::check_failed)), 1.0, ""},
        {exited(to_int(ExitCode::ok)), 0.0, ""},
        {exited(to_int(ExitCode::gpu_busy)), -1.0, "exit code 17"},
        {exited(127), -1.0, "exit code 127"},
        {SIGALRM, -1.0, "signal 14"},
        {SIGKILL, -1.0, "signal 9"}}) {
    CAPTURE(status);
    Entry entry;
    entry.metric = {"faults", "launches", Better::higher, std::nullopt};
    entry.expected = Expectation{1, 0, "a model"};
    report_access(status, "", entry);
    judge_entry(entry);
    CHECK(entry.verdict.status == (faults == 0 ? VerdictStatus::unexpected : VerdictStatus::ok));
    CHECK(entry.metric.value == (faults < 0 ? std::nullopt : std::optional(faults)));
    if (faults >= 0) {
      CHECK(entry.extras.at("faults") == faults);
      CHECK(entry.counters.empty());
      continue;
    }
    CHECK_FALSE(entry.extras.contains("faults"));
    CHECK(entry.counters.at(0).reason.ends_with(why));
    CHECK_THAT(fmt::format("{}", fmt::join(entry.verdict.unchecked, " ")), contains(why));
  }
}

TEST_CASE("no second process makes the access where none may, or where a fault ends others",
          "[probes][copy_bandwidth]") {
  CHECK(why_no_access("default", nullptr).empty());
  CHECK(why_no_access("default", "").empty());
  CHECK_THAT(why_no_access("exclusive process", nullptr), contains("exclusive process"));
  CHECK_THAT(why_no_access("default", "/tmp/mps"), contains("MPS"));
  Entry entry;
  report_access(-1, "no process", entry);
  CHECK_FALSE(entry.metric.value);
  CHECK(entry.counters.at(0).reason == "no process");
}

TEST_CASE("stamps of kernels in a row must follow each other", "[probes][launch_overhead]") {
  const auto wrong = [](const Stamps& stamps) { return check(stamps).value_or(""); };
  CHECK(wrong({5, 7}) == "");
  CHECK(wrong({5, 7, 7, 9}) == "");
  CHECK(wrong({7, 5}) == "stamp 1 is 5 ns, and the one before it 7 ns");
  CHECK(wrong({0, 5}) == "stamp 0 is 0 ns, and the one before it 0 ns");
  CHECK(wrong({5, 7, 9, 9}) == "stamp 3 is 9 ns, and the one before it 9 ns");
  CHECK(wrong({5, 7, 4, 9}) == "stamp 2 is 4 ns, and the one before it 7 ns");
}

namespace {

/// How often each tile of the working set is touched, by following the walk as the kernels do.
std::map<std::uint64_t, std::uint64_t> touches(const WalkShape& shape, const Walk& walk) {
  std::map<std::uint64_t, std::uint64_t> result;
  for (std::uint64_t block = 0; block < static_cast<std::uint64_t>(shape.blocks); ++block) {
    for (std::uint64_t warp = 0; warp < static_cast<std::uint64_t>(shape.warps); ++warp) {
      std::uint64_t p = walk.start(block, warp);
      for (int t = 0; t < walk.tiles; ++t) {
        ++result[p];
        p += walk.step;
        if (p >= block * walk.block_region + walk.span) p -= walk.span;
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every walk touches every tile of its working set equally often",
          "[probes][memory_bandwidth]") {
  const auto sharing = GENERATE(Sharing::interleaved, Sharing::by_block, Sharing::by_all);
  const int blocks = GENERATE(1, 3, 8), warps = GENERATE(1, 4, 32);
  const std::uint64_t multiple = GENERATE(1, 2, 5, 33, 64);
  CAPTURE(static_cast<int>(sharing), blocks, warps, multiple);
  const WalkShape shape{sharing, blocks, warps, 2048};
  const std::uint64_t bytes = multiple * granule(shape);
  const auto found = touches(shape, plan_walk(shape, bytes, 3));
  CHECK(found.size() == bytes / shape.tile);
  CHECK(found.begin()->first == 0);
  CHECK(found.rbegin()->first == bytes - shape.tile);
  CHECK(std::ranges::all_of(found, [&](const auto& tile) {
    return tile.first % shape.tile == 0 && tile.second == 3 * touches_per_pass(shape);
  }));
}

TEST_CASE("blocks that share everything begin apart", "[probes][memory_bandwidth]") {
  const WalkShape shape{Sharing::by_all, 4, 2, 512};
  const Walk walk = plan_walk(shape, 16 * granule(shape), 1);
  CHECK(walk.start(0, 0) == 0);
  CHECK(walk.start(1, 0) == 4 * 2 * 512);
  CHECK(walk.start(3, 1) == 12 * 2 * 512 + 512);
}

TEST_CASE("SMs take their places even ones first", "[probes][memory_bandwidth]") {
  for (const auto& [sm, place] : {std::pair{0u, 0u}, {2, 1}, {130, 65}, {1, 66}, {131, 131}})
    CHECK(place_of_sm(sm, 132) == place);
  for (const std::uint32_t sms : {1u, 2u, 7u, 132u}) {
    std::set<std::uint32_t> places;
    for (std::uint32_t sm = 0; sm < sms; ++sm) places.insert(place_of_sm(sm, sms));
    CHECK(places.size() == sms);
    CHECK(*places.rbegin() == sms - 1);
  }
}

TEST_CASE("a chain visits each element once and comes back", "[probes][memory_latency]") {
  for (const std::uint32_t count : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 100u, 1024u, 4097u}) {
    CAPTURE(count);
    const Chain chain{.base = 4096, .count = count, .stride = 128};
    std::set<std::uint64_t> visited;
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint64_t address = address_at(chain, k);
      CHECK((address - chain.base) % chain.stride == 0);
      visited.insert(address);
    }
    CHECK(*visited.begin() == chain.base);
    CHECK(*visited.rbegin() == chain.base + (count - 1) * chain.stride);
    CHECK(visited.size() == count);
    CHECK(address_at(chain, count) == address_at(chain, 0));
  }
}

TEST_CASE("a chain's order is no stride that a prefetcher could guess",
          "[probes][memory_latency]") {
  const Chain chain{.count = 4096, .stride = 1};
  std::set<std::int64_t> steps;
  for (std::uint32_t k = 0; k < chain.count; ++k)
    steps.insert(static_cast<std::int64_t>(address_at(chain, k + 1) - address_at(chain, k)));
  // Among random steps between 4096 places about 3200 differ.
  CHECK(steps.size() > 2500);
}

TEST_CASE("shifted elements stay within their strides and use every slot",
          "[probes][memory_latency]") {
  const Chain chain{.count = 1000, .stride = 256, .jitter_slots = 2, .jitter_bytes = 128};
  std::map<std::uint64_t, int> offsets;
  for (std::uint32_t i = 0; i < chain.count; ++i)
    ++offsets[address_of(chain, i) - i * chain.stride];
  CHECK(offsets[0] + offsets[128] == 1000);
  CHECK((offsets[128] > 400 && offsets[128] < 600));
}
