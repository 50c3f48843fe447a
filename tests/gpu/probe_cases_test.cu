// Cases as their probes run them, on two SMs of a GPU with little memory where they do not ask for
// each SM: what a launch leaves passes the case's own check, and what it finds there does not.

#include "harness/probe.h"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/memory_latency/cases.h"
#include "probes/warp_reduce/warp_stage_kernels.h"
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
// racecheck looks for: sanitize.sh leaves [meeting-stores] out there, and
// bank_conflicts_kernels_test.cu stands in.
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

// The sweep by SMs is left out, since it needs the GPU's own SMs: memory_bandwidth_kernels_test.cu.
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
  check_cases(std::array{latency_cases, fetch_cases, constant_cases, far_cases});
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
