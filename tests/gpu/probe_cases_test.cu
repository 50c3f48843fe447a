// Cases as their probes run them, on two SMs of a GPU with little memory where they do not ask for
// each SM: what a launch leaves passes the case's own check, and what it finds there does not.
// Below them kernels that no case runs so.

#include "harness/probe.h"
#include "probes/bank_conflicts/kernels.h"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/device/launch.h"
#include "probes/memory_bandwidth/cases.h"
#include "probes/memory_latency/cases.h"
#include "probes/memory_latency/kernels.h"
#include "probes/topology/kernels.h"
#include "probes/warp_reduce/kernels.h"
#include "tests/gpu/gpu_fixture.h"

namespace fathom {
// CMakeLists.txt gives the probes these names.
Probe make_atomics();
Probe make_bank_conflicts();
Probe make_copy_bandwidth();
Probe make_energy();
Probe make_launch_overhead();
Probe make_memory_bandwidth();
Probe make_occupancy();
Probe make_tail_effect();
Probe make_topology();

namespace copy_bandwidth {
// The libraries' copies: no test runs them.
void launch_memcpy(const CopyRun&, cudaStream_t) {}
template <>
void launch_transform<float>(const CopyRun&, cudaStream_t) {}
template <>
void launch_transform<double>(const CopyRun&, cudaStream_t) {}
}  // namespace copy_bandwidth
}  // namespace fathom

using namespace fathom;

namespace {

/// Launches again and changes one byte, the first that the launch wrote among the first 256 of its
/// output `role`: the case's check finds it. False where the launch wrote none of them.
bool check_spoiled(const test::Gpu& gpu, BufferPool& buffers, const Workload& workload,
                   const std::string& role) {
  constexpr std::size_t bytes = 256;  // a block of the pool has as many, whatever was asked for
  std::byte* const out = buffers.output(role, 1).data;
  const auto read = [&] { return copy_to_host<unsigned char>(out, bytes, gpu.stream.get()); };
  workload.poison();
  const auto before = read();
  workload.launch();
  CHECK(workload.verify().value_or("") == "");
  const auto after = read();
  const auto written = std::ranges::mismatch(before, after).in2;
  if (written == after.end()) return false;
  gpu.set(out + (written - after.begin()), *written ^ 0xFF, 1);
  CHECK(workload.verify());
  return true;
}

/// Those whose names begin with `prefix`, of which there must be some. `role`: the output in which
/// one wrong byte must be seen. `on_all_sms`: cases name the GPU's SMs.
void check_cases(std::span<std::vector<Case> (*const)(const DeviceFacts&)> parts,
                 std::string_view prefix = "", const std::string& role = "",
                 bool on_all_sms = false) {
  test::Gpu gpu;
  DeviceFacts facts = gpu.facts;
  if (!on_all_sms) facts.sms = 2;
  facts.l2_bytes = std::size_t{1} << 20;
  facts.memory_bytes = std::size_t{16} << 20;
  Context context(facts, gpu.stream.get(), 1);
  int ran = 0, spoiled = 0;
  for (const auto part : parts) {
    for (const Case& c : part(facts)) {
      // A campaign launches what it needs itself.
      if (!c.name.starts_with(prefix) || std::holds_alternative<Campaign>(c.mode)) continue;
      CAPTURE(c.name);
      ++ran;
      REQUIRE(c.prepare);
      context.buffers().set_placement(0);
      const Workload workload = c.prepare(context);
      if (workload.poison) workload.poison();
      if (workload.verify) CHECK(workload.verify());  // not launched yet
      if (workload.launch) workload.launch();
      if (workload.verify) CHECK(workload.verify().value_or("") == "");
      gpu.wait();
      if (workload.read_sample) CHECK_FALSE(workload.read_sample() < 0);
      if (workload.load) workload.load();
      gpu.wait();
      CHECK(context.buffers().guards_intact().value_or("") == "");
      if (!role.empty() && workload.verify)
        spoiled += check_spoiled(gpu, context.buffers(), workload, role);
    }
  }
  CHECK(ran > 0);
  CHECK((role.empty() || spoiled > 0));
}

}  // namespace

TEST_CASE("atomics leave what as many operations in a row would", "[gpu][atomics][sanitized]") {
  check_cases(make_atomics().cases, "", "memory");
}

TEST_CASE("shared loads read the words of every pattern", "[gpu][bank_conflicts][sanitized]") {
  check_cases(make_bank_conflicts().cases, "load/", "out");
}

// Warps, and in many patterns lanes, meet in the same words without a barrier between them. They
// agree on every word's value, so the result is defined by the probe's design, but it is what
// racecheck looks for: sanitize.sh leaves [meeting-stores] out there, and a test below stands in.
TEST_CASE("shared stores leave the words of every pattern",
          "[gpu][bank_conflicts][sanitized][meeting-stores]") {
  check_cases(make_bank_conflicts().cases, "store/", "out");
}

// Tails and starts between packs are among them.
TEST_CASE("copies, mixes and folds leave what they are named for",
          "[gpu][copy_bandwidth][sanitized]") {
  check_cases(make_copy_bandwidth().cases, "", "dst");
}

TEST_CASE("walks through memory read what they say, and threads at rest come back",
          "[gpu][energy][sanitized]") {
  check_cases(make_energy().cases);
}

TEST_CASE("dependent kernels run one after the other, and the host sees them done",
          "[gpu][launch_overhead][sanitized]") {
  check_cases(make_launch_overhead().cases);
}

// The sweep by SMs is left out, since it needs the GPU's own SMs: see below.
TEST_CASE("walks through every level move what they say", "[gpu][memory_bandwidth][sanitized]") {
  for (const char* sweep : {"level/", "footprint/", "in-flight/"})
    check_cases(make_memory_bandwidth().cases, sweep);
  for (const char* written : {"level/DRAM/store/", "level/DRAM/copy/"})
    check_cases(make_memory_bandwidth().cases, written, "dst");
  check_cases(make_memory_bandwidth().cases, "level/shared/store/", "after");
}

// Not the caches' sizes and sets, whose chases reach further than so little memory.
TEST_CASE("chases end where the host's do, and code and pairs do what they say",
          "[gpu][memory_latency][sanitized]") {
  using namespace memory_latency;
  check_cases(std::array{latency_cases, fetch_cases, far_cases});
}

TEST_CASE("every variant copies everything and nothing else", "[gpu][occupancy][sanitized]") {
  check_cases(make_occupancy().cases, "", "dst");
}

TEST_CASE("chains of a grid end where the host's do, and its copies are whole",
          "[gpu][tail_effect][sanitized]") {
  for (const char* chain : {"latency-bound/", "throughput-bound/"})
    check_cases(make_tail_effect().cases, chain, "out");
  check_cases(make_tail_effect().cases, "memory-bound/", "dst");
}

TEST_CASE("the SM that is asked reads each line, and blocks of a cluster say where they ran",
          "[gpu][topology][sanitized]") {
  check_cases(make_topology().cases, "", "", true);
}

TEST_CASE("each way to add up a warp leaves the lanes as it must",
          "[gpu][warp_reduce][sanitized]") {
  check_cases(std::array{warp_reduce::warp_stage_cases});
}

// Stores by one warp, for racecheck. Lanes whose 128 bytes at most do not reach into those of the
// next access: no word is stored by two lanes.
TEST_CASE("shared stores that do not meet leave their words", "[gpu][bank_conflicts][sanitized]") {
  using namespace bank_conflicts;
  using models::Access;
  test::Pool pool;
  constexpr int blocks = 2;
  for (const int bytes : {4, 8, 16}) {
    CAPTURE(bytes);
    const int lanes = access_step_bytes / bytes;
    const unsigned mask = lanes == models::warp_size ? ~0u : (1u << lanes) - 1;
    const models::WarpAccess access =
        models::masked(models::strided(Access::store, bytes, bytes), mask);
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

TEST_CASE("chosen SMs load their parts and no other SM takes part",
          "[gpu][memory_bandwidth][sanitized]") {
  using namespace memory_bandwidth;
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
  using namespace memory_bandwidth;
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

TEST_CASE("an L1 hit takes the same by both ways to time it", "[gpu][memory_latency]") {
  using namespace memory_latency;
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
    global_chase(GlobalLoad::cached, 0)(c, memory.stream.get());
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

TEST_CASE("an SM that is not there keeps nobody waiting for ever", "[gpu][topology]") {
  using namespace topology;
  test::Pool gpu;
  const Buffer region = gpu.buffers.output("region", 64 * line_bytes);
  const Buffer buffer = gpu.poisoned("report", sizeof(LineReport));
  const LineTask task{{region.data, 1, 64 * line_bytes, 5},
                      3,
                      static_cast<std::uint32_t>(gpu.facts.sms) + 7,
                      buffer.as<LineReport>()};
  gpu.set(&task.report->taken, 0, sizeof(std::uint32_t));
  const int shared_bytes = static_cast<int>(gpu.facts.shared_bytes_per_block_max);
  const auto kernel = line_kernel(LineAccess::load);
  resident_blocks_with(kernel, latency_threads, shared_bytes);
  launch(kernel, {gpu.facts.sms, latency_threads, shared_bytes}, gpu.stream.get(), task, 0u);
  const auto report = gpu.read<LineReport>(buffer).front();
  CHECK(report.taken == 0);
  CHECK(report.sum == 0xFFFFFFFFu);
}
