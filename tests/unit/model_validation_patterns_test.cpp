#include <bit>

#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "probes/model_validation/campaigns.h"
#include "tests/testing.h"

using namespace fathom::model_validation;
using fathom::models::Access;
using fathom::models::WarpAccess;
namespace models = fathom::models;

namespace {

/// Calls `f(space, op, bytes)` for each of the twenty.
template <class F>
void for_each_instruction(F&& f) {
  for (const Space space : {Space::shared, Space::global}) {
    for (const Access op : {Access::load, Access::store}) {
      for (const int bytes : {1, 2, 4, 8, 16}) {
        CAPTURE(name(space), name(op), bytes);
        f(space, op, bytes);
      }
    }
  }
}

std::vector<std::string> rows(Space space, Access op, int bytes, std::uint64_t seed, int count) {
  const auto next = random_patterns(space, op, bytes, seed);
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) result.push_back(csv_row(next().access));
  return result;
}

/// What a GPU that does what the instruction says leaves.
std::vector<std::uint32_t> ideal_found(const WarpAccess& access) {
  std::vector<std::uint32_t> found(found_words, untouched);
  for (int lane = 0; lane < lanes; ++lane) {
    if (!access.active(lane)) continue;
    const auto address = static_cast<std::uint32_t>(access.address[lane]);
    for (int byte = 0; byte < access.bytes_per_lane; ++byte) {
      const std::uint32_t value =
          word_value((address + byte) / 4) >> 8 * ((address + byte) % 4) & 0xFF;
      std::uint32_t& word = found[lane * words_per_lane + byte / 4];
      if (byte % 4 == 0) word = 0;
      word |= value << 8 * (byte % 4);
    }
  }
  if (access.op == Access::store) {
    for (int lane = 0; lane < lanes; ++lane) found[found_values + lane] = 0;
    found[found_values + 5] = static_cast<std::uint32_t>(models::distinct_bytes(access));
  }
  return found;
}

}  // namespace

TEST_CASE("patterns are valid, of every kind and activity, and reach every cost",
          "[probes][model_validation]") {
  constexpr int count = 5000;
  for_each_instruction([](Space space, Access op, int bytes) {
    const bool shared = space == Space::shared;
    const auto next = random_patterns(space, op, bytes, 1);
    std::map<std::string, int> kinds;
    std::set<int> costs;  // wavefronts or sectors
    int full = 0, none = 0, single = 0, empty_group = 0, repeated = 0, most_conflicts = 0;
    int merged = 0, not_merged = 0;
    for (int i = 0; i < count; ++i) {
      const RandomPattern pattern = next();
      const WarpAccess& access = pattern.access;
      CAPTURE(pattern.kind, csv_row(access));
      REQUIRE(access.op == op);
      REQUIRE(access.bytes_per_lane == bytes);
      // Inactive lanes' too: kernels compute with them.
      REQUIRE(std::ranges::all_of(access.address, [&](std::uint64_t address) {
        return address % static_cast<unsigned>(bytes) == 0 &&
               address + static_cast<unsigned>(bytes) <= region_bytes(space);
      }));
      const std::uint32_t mask = access.active_mask;
      ++kinds[pattern.kind];
      full += mask == models::all_lanes;
      none += mask == 0;
      single += std::has_single_bit(mask);
      empty_group += mask != 0 && ((mask & 0xFFFFu) == 0 || (mask & 0xFFFF0000u) == 0);
      const auto active = std::popcount(mask);
      repeated += models::distinct_bytes(access) < active * bytes;
      if (!shared) {
        costs.insert(models::global_cost(access).sectors);
        continue;
      }
      const models::SharedCost cost = models::shared_cost(access);
      costs.insert(cost.wavefronts);
      most_conflicts = std::max(most_conflicts, cost.conflicts);
      if (mask == models::all_lanes && bytes >= 8)
        ++(cost.groups < 32 / models::shared_group_lanes(bytes) ? merged : not_merged);
    }
    REQUIRE(kinds.size() == pattern_kinds);
    for (const auto& [kind, number] : kinds) {
      CAPTURE(kind, number);
      CHECK(number > count / pattern_kinds / 2);
      CHECK(number < count / pattern_kinds * 2);
    }
    CHECK((full > count / 5 && full < count / 2));
    CHECK((none > 0 && none < count / 50));
    CHECK((single > count / 20 && empty_group > count / 20 && repeated > count / 10));
    CHECK((*costs.begin() == 0 && *costs.rbegin() == 32));
    CHECK(costs.size() >= (shared ? 21 : 30));
    if (shared) CHECK(most_conflicts >= 28);
    if (shared && bytes >= 8) CHECK(not_merged > 100);
    if (shared && bytes >= 8 && op == Access::load) CHECK(merged > 100);
  });
}

TEST_CASE("a seed gives the same patterns, another seed or instruction others",
          "[probes][model_validation]") {
  std::set<std::vector<std::string>> all;
  for_each_instruction([&](Space space, Access op, int bytes) {
    const auto first = rows(space, op, bytes, 1, 200);
    CHECK(first == rows(space, op, bytes, 1, 200));
    CHECK(all.insert(first).second);
    CHECK(all.insert(rows(space, op, bytes, 2, 200)).second);
    CHECK(all.insert(rows(space, op, bytes, std::uint64_t{1} << 32, 200)).second);
    // Hardly any pattern twice.
    CHECK(std::set<std::string>(first.begin(), first.end()).size() > 190);
  });
  // Not by chance of this machine's library.
  CHECK(rows(Space::shared, Access::load, 8, 1, 8).back() ==
        "load,8,20264,,20264,,15968,,15968,,21776,,21776,,5544,,5544,,18080,,18080,,6864,,6864,,"
        "31336,,31336,,5000,,5000,");
}

TEST_CASE("outputs as they should be pass the check, any other value does not",
          "[probes][model_validation]") {
  for_each_instruction([](Space space, Access op, int bytes) {
    const auto next = random_patterns(space, op, bytes, 3);
    for (int i = 0; i < 100; ++i) {
      const WarpAccess access = next().access;
      CAPTURE(csv_row(access));
      const std::vector<std::uint32_t> found = ideal_found(access);
      CHECK_FALSE(check_found(access, found));
      if (access.active_mask == 0) continue;
      // A lane that read or left something else, or that was not to be active.
      const int lane = i % lanes;
      std::vector<std::uint32_t> wrong = found;
      wrong[static_cast<std::size_t>(lane * words_per_lane)] ^= 1u << i % 8;
      CHECK_THAT(check_found(access, wrong).value(),
                 StartsWith(fmt::format("lane {} ", lane)) && contains(csv_row(access)));
      // Nothing happened at all.
      CHECK(check_found(access, std::vector<std::uint32_t>(found_words, untouched)));
      if (op == Access::load) continue;
      wrong = found;
      ++wrong[found_values];  // a byte that no lane was to write
      CHECK(check_found(access, wrong));
    }
  });
}
