#include "models/cache_sets.h"
#include "tests/testing.h"

using namespace fathom::models;

TEST_CASE("lines of a stride keep to the sets that they reach", "[models]") {
  // 64 KiB, lines of 128 bytes, 4 ways: 128 sets.
  const IndexedCache cache{64 * 1024, 128, 4};
  CHECK(most_lines_kept(cache, 128, 1000) == 512);
  CHECK(most_lines_kept(cache, 128, 100) == 100);
  CHECK(most_lines_kept(cache, 256, 1000) == 256);
  CHECK(most_lines_kept(cache, 128 * 128, 1000) == 4);
  CHECK(most_lines_kept(cache, 1 << 20, 1000) == 4);
  // A stride that has no factor with the number of sets reaches all of them.
  CHECK(most_lines_kept(cache, 128 * 129, 1000) == 512);
  CHECK(most_lines_kept_by_any(64 * 1024, 128, 64, 1 << 20, 1000) == 64);
  // 60 MiB: 8192 sets of 60 ways, of which a stride of 256 KiB reaches four.
  CHECK(most_lines_kept_by_any(60 << 20, 128, 64, 256 * 1024, 4096) == 240);
  CHECK(most_lines_kept_by_any(60 << 20, 128, 64, 128, 4096) == 4096);
  CHECK_THROWS_AS(most_lines_kept(cache, 100, 1), std::invalid_argument);
  CHECK_THROWS_AS(most_lines_kept(cache, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(most_lines_kept({256, 128, 4}, 128, 1), std::invalid_argument);
  CHECK_THROWS_AS(most_lines_kept({256, 128, 0}, 128, 1), std::invalid_argument);
}

TEST_CASE("no translation of whole pages lets an indexed cache keep more", "[models]") {
  constexpr std::uint64_t page = 2 << 20, bytes = 60 << 20, lines = 2048;
  std::mt19937_64 random(1);
  for (const std::uint32_t ways : {1u, 16u, 64u}) {
    for (const std::uint64_t stride : {std::uint64_t{4096}, std::uint64_t{256 * 1024}}) {
      CAPTURE(ways, stride);
      const std::uint64_t sets = bytes / 128 / ways;
      std::map<std::uint64_t, std::uint64_t> frame_of;
      std::map<std::uint64_t, std::uint64_t> in_set;
      for (std::uint64_t i = 0; i < lines; ++i) {
        const std::uint64_t address = i * stride;
        const auto frame = frame_of.try_emplace(address / page, random() % 65536).first->second;
        ++in_set[(frame * page + address % page) / 128 % sets];
      }
      std::uint64_t kept = 0;
      for (const auto& [set, count] : in_set) kept += std::min<std::uint64_t>(count, ways);
      CHECK(kept <= most_lines_kept({bytes, 128, ways}, stride, lines));
    }
  }
}
