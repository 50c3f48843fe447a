// The sweep over chosen SMs, one block on each. The probe's other cases: probe_cases_test.cu.

#include "probes/memory_bandwidth/cases.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::memory_bandwidth;

TEST_CASE("chosen SMs load their parts and no other SM takes part",
          "[gpu][memory_bandwidth][sanitized]") {
  test::Pool memory;
  cudaStream_t stream = memory.stream.get();
  const auto sms = static_cast<std::uint32_t>(memory.facts.sms);
  const Buffer started = memory.buffers.output("started", sizeof(unsigned));
  memory.set(started, 0);
  constexpr int warps = 4, passes = 2;
  const Buffer buffer = memory.buffers.output("reports", 3 * warps * sizeof(WarpReport));
  for (const int chosen : {1, 3}) {
    if (chosen > memory.facts.sms) continue;
    CAPTURE(chosen);
    const Access access{};
    const WalkShape shape{Sharing::interleaved, chosen, warps, access.tile()};
    const std::uint64_t bytes = 5 * granule(shape);
    const Buffer src = memory.buffers.input("src", bytes);
    memory.buffers.poison(buffer);
    const SmRun run{{access, plan_walk(shape, bytes, passes), chosen, warps * warp_lanes, src.data,
                     nullptr, buffer.as<WarpReport>()},
                    started.as<unsigned>()};
    const Blocks grid{memory.facts.sms, run.global.threads, one_block_shared_bytes(memory.facts)};
    resident_blocks_with(stream_on_sms, grid.threads, grid.dynamic_shared);
    launch(stream_on_sms, grid, stream, run);
    auto reports = memory.read<WarpReport>(buffer);
    reports.resize(static_cast<std::size_t>(chosen * warps));
    const auto words = memory.read<std::uint32_t>(src);
    std::uint32_t sum = 0;
    for (const WarpReport& r : reports) sum += r.sum;
    CHECK(sum == passes * std::accumulate(words.begin(), words.end(), std::uint32_t{0}));
    for (std::size_t i = 0; i < reports.size(); ++i) {
      CHECK(reports[i].end > reports[i].start);
      CHECK(place_of_sm(reports[i].sm, sms) == i / warps);
    }
    memory.check_guards();
  }
}

TEST_CASE("one block for each SM runs on an SM of its own", "[gpu][memory_bandwidth]") {
  if (test::under_sanitizer()) SKIP("instrumented kernels take other resources");
  test::Pool pool;
  const Access access{};
  const int blocks = pool.facts.sms;
  constexpr int warps = 32;
  const WalkShape shape{Sharing::interleaved, blocks, warps, access.tile()};
  const std::uint64_t bytes = granule(shape);
  const Buffer src = pool.buffers.input("src", bytes);
  const Buffer reports =
      pool.buffers.output("reports", static_cast<std::size_t>(blocks) * warps * sizeof(WarpReport));
  const GlobalRun run{access,  plan_walk(shape, bytes, 200), blocks, warps * warp_lanes, src.data,
                      nullptr, reports.as<WarpReport>()};
  launch(global_kernel(access), {run.blocks, run.threads}, pool.stream.get(), run);
  std::set<std::uint32_t> sms;
  for (const WarpReport& r : pool.read<WarpReport>(reports)) sms.insert(r.sm);
  CHECK(sms.size() == static_cast<std::size_t>(blocks));
}
