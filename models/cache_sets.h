#pragma once

#include <cstdint>

namespace fathom::models {

/// A cache whose set is address / line modulo sets: no hash.
struct IndexedCache {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 128;
  std::uint32_t ways = 1;
};

/// How many of `lines` lines `stride` bytes apart such a cache can keep at most. They fall into
/// sets / gcd(sets, stride / line) sets of its ways each. Where addresses are translated this still
/// holds, if the stride divides the page: then all of them are the same modulo the stride. Throws
/// std::invalid_argument for a cache without a set, and a stride that is zero or no multiple of the
/// line.
std::uint64_t most_lines_kept(const IndexedCache& cache, std::uint64_t stride, std::uint64_t lines);

/// The same of the best of all such caches of up to `bytes` bytes and `most_ways` ways whose set is
/// some bits of the address: whose number of sets is a power of two.
std::uint64_t most_lines_kept_by_any(std::uint64_t bytes, std::uint32_t line_bytes,
                                     std::uint32_t most_ways, std::uint64_t stride,
                                     std::uint64_t lines);

}  // namespace fathom::models
