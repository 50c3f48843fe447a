// Stores by one warp, for racecheck; probe_cases_test.cu tests the probe's own patterns.

#include "probes/bank_conflicts/kernels.h"
#include "probes/bank_conflicts/patterns.h"
#include "probes/device/launch.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::bank_conflicts;
using models::Access;
using models::WarpAccess;

// Lanes whose 128 bytes at most do not reach into those of the next access: no word is stored by
// two lanes.
TEST_CASE("shared stores that do not meet leave their words", "[gpu][bank_conflicts][sanitized]") {
  test::Pool pool;
  constexpr int blocks = 2;
  for (const int bytes : {4, 8, 16}) {
    CAPTURE(bytes);
    const int lanes = access_step_bytes / bytes;
    const unsigned mask = lanes == models::warp_size ? ~0u : (1u << lanes) - 1;
    const WarpAccess access = models::masked(models::strided(Access::store, bytes, bytes), mask);
    const Buffer offsets = pool.filled(
        "lane offsets", std::vector<std::uint32_t>(access.address.begin(), access.address.end()));
    const Buffer clocks = pool.poisoned("clocks", blocks * warps_per_block * 2 * sizeof(long long));
    const Buffer out = pool.poisoned("out", std::size_t{blocks} * region_bytes);
    const Run run{offsets.as<std::uint32_t>(), mask, windows, clocks.as<long long>(),
                  out.as<std::uint32_t>(),     1};
    launch(kernel_of(access.op, bytes), {blocks, threads_per_block}, pool.stream.get(), run);
    const auto words = pool.read<std::uint32_t>(out);
    CHECK(check_output(access, windows, words, 1).value_or("") == "");
    pool.check_guards();
  }
}
