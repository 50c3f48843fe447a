#include "models/cache_sets.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "models/formatted.h"

namespace fathom::models {

std::uint64_t most_lines_kept(const IndexedCache& cache, std::uint64_t stride,
                              std::uint64_t lines) {
  if (cache.line_bytes == 0 || cache.ways == 0) refuse("a cache of no lines or no ways");
  const std::uint64_t sets = cache.bytes / cache.line_bytes / cache.ways;
  if (sets == 0) refuse("a cache with more ways than lines");
  if (stride == 0 || stride % cache.line_bytes != 0)
    refuse("a stride that is no multiple of the line");
  const std::uint64_t reached = sets / std::gcd(sets, stride / cache.line_bytes);
  return std::min(lines, reached * cache.ways);
}

std::uint64_t most_lines_kept_by_any(std::uint64_t bytes, std::uint32_t line_bytes,
                                     std::uint32_t most_ways, std::uint64_t stride,
                                     std::uint64_t lines) {
  std::uint64_t most = 0;
  for (std::uint32_t ways = 1; ways <= most_ways; ++ways) {
    const std::uint64_t sets = std::bit_floor(bytes / line_bytes / ways);
    if (sets == 0) break;
    most = std::max(most,
                    most_lines_kept({sets * ways * line_bytes, line_bytes, ways}, stride, lines));
  }
  return most;
}

}  // namespace fathom::models
