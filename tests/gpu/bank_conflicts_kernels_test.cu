// Every kernel of the shared-memory probe, one round of its windows.

#include "models/warp_access.h"
#include "probes/bank_conflicts/kernels.h"
#include "probes/bank_conflicts/patterns.h"
#include "probes/device/launch.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::bank_conflicts;
using models::Access;
using models::WarpAccess;

namespace {

constexpr int blocks = 2;

/// Launches one pattern; nothing, or what it left wrong.
std::optional<std::string> wrong_after(test::Pool& pool, const WarpAccess& access, int warps) {
  const bool load = access.op == Access::load;
  const Buffer offsets = pool.filled(
      "lane offsets", std::vector<std::uint32_t>(access.address.begin(), access.address.end()));
  const Buffer clocks =
      pool.buffers.output("clocks", blocks * warps_per_block * 2 * sizeof(long long));
  const Buffer out = pool.buffers.output(
      "out", std::size_t{blocks} * (load ? threads_per_block : region_words) * 4);
  pool.buffers.poison(clocks);
  pool.buffers.poison(out);
  const Run run{offsets.as<std::uint32_t>(), access.active_mask,      windows,
                clocks.as<long long>(),      out.as<std::uint32_t>(), warps};
  launch(kernel_of(access.op, access.bytes_per_lane), {blocks, threads_per_block},
         pool.stream.get(), run);
  const std::vector<long long> times = pool.read<long long>(clocks);
  for (std::size_t i = 0; i < times.size(); i += 2) {
    if (times[i] < 0 || times[i + 1] < times[i]) return "a warp has no clocks";  // poison is -1
  }
  if (const auto overwritten = pool.buffers.guards_intact()) return overwritten;
  return check_output(access, windows, pool.read<std::uint32_t>(out), blocks, warps);
}

void check_every_pattern(Access op) {
  test::Pool pool;
  for (const int bytes : {4, 8, 16}) {
    for (const Pattern& pattern : patterns(op, bytes)) {
      CAPTURE(bytes, pattern.name);
      CHECK(wrong_after(pool, pattern.access, warps_per_block).value_or("") == "");
    }
  }
}

}  // namespace

TEST_CASE("shared loads read the words of every pattern", "[gpu][bank_conflicts][sanitized]") {
  check_every_pattern(Access::load);
}

// Warps, and in many patterns lanes, meet in the same words without a barrier between them. They
// agree on every word's value, so the result is defined by the probe's design, but it is what
// racecheck looks for: sanitize.sh leaves [meeting-stores] out there, and the next test stands in.
TEST_CASE("shared stores leave the words of every pattern",
          "[gpu][bank_conflicts][sanitized][meeting-stores]") {
  check_every_pattern(Access::store);
}

// One warp of a block stores, in lanes whose 128 bytes at most do not reach into those of the next
// access: no word is stored by two lanes, and racecheck may find nothing.
TEST_CASE("shared stores that do not meet leave their words", "[gpu][bank_conflicts][sanitized]") {
  test::Pool pool;
  for (const int bytes : {4, 8, 16}) {
    const int lanes = access_step_bytes / bytes;
    const unsigned mask = lanes == models::warp_size ? ~0u : (1u << lanes) - 1;
    const WarpAccess access = models::masked(models::strided(Access::store, bytes, bytes), mask);
    CAPTURE(bytes);
    CHECK(wrong_after(pool, access, 1).value_or("") == "");
  }
}
