#include "probes/memory_latency/chain.h"
#include "tests/testing.h"

using namespace fathom::memory_latency;

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
