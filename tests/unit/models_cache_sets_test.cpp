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
