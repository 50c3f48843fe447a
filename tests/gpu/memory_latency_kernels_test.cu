// The two ways in which the memory-latency probe times a load; probe_cases_test.cu runs its cases.

#include "probes/memory_latency/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::memory_latency;

TEST_CASE("an L1 hit takes the same by both ways to time it", "[gpu][memory_latency]") {
  test::Pool memory;
  const Buffer data = memory.buffers.output("data", 64 * 1024);
  const Buffer report = memory.buffers.output("report", sizeof(Report));
  const Chain chain{.base = reinterpret_cast<std::uint64_t>(data.data), .count = 37, .stride = 128};
  launch(write_chain, threads_for(chain.count, 256), memory.stream.get(), chain);
  double by_way[2];
  for (const Timed timed : {Timed::mean, Timed::each}) {
    const Chase c{.chain = chain,
                  .loads = max_timed_loads,
                  .walked_loads = 5,
                  .warm = chain,
                  .warm_passes = 2,
                  .timed = timed,
                  .report = report.as<Report>()};
    launch_global_chase(GlobalLoad::cached, 0, c, memory.stream.get());
    const auto r = memory.read<Report>(report).front();
    std::vector<std::uint32_t> times(r.times, r.times + c.loads),
        empty(r.empty, r.empty + empty_brackets);
    std::sort(times.begin(), times.end());
    std::sort(empty.begin(), empty.end());
    by_way[static_cast<int>(timed)] =
        timed == Timed::mean ? static_cast<double>(r.clocks) / c.loads
                             : double(times[times.size() / 2]) - empty[empty.size() / 2];
  }
  CAPTURE(by_way[0], by_way[1]);
  CHECK(std::abs(by_way[0] - by_way[1]) <= 1);
}
