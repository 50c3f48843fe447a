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

struct Cases {
  std::vector<std::vector<Case> (*)(const DeviceFacts&)> parts;
  std::string prefix{};     ///< of the names of those that are run, of which there must be some
  std::string role{};       ///< the output in which one wrong byte must be seen
  bool on_all_sms = false;  ///< cases name the GPU's SMs
};

void check_cases(const Cases& cases) {
  test::Gpu gpu;
  DeviceFacts facts = gpu.facts;
  if (!cases.on_all_sms) facts.sms = 2;
  facts.l2_bytes = std::size_t{1} << 20;
  facts.memory_bytes = std::size_t{16} << 20;
  Context context(facts, gpu.stream.get(), 1);
  int ran = 0, spoiled = 0;
  for (const auto part : cases.parts) {
    for (const Case& c : part(facts)) {
      // A campaign launches what it needs itself.
      if (!c.name.starts_with(cases.prefix) || std::holds_alternative<Campaign>(c.mode)) continue;
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
      if (!cases.role.empty() && workload.verify)
        spoiled += check_spoiled(gpu, context.buffers(), workload, cases.role);
    }
  }
  CAPTURE(cases.prefix, cases.role);
  CHECK(ran > 0);
  CHECK((cases.role.empty() || spoiled > 0));
}

}  // namespace

TEST_CASE("what a case's launch leaves passes its check, and one wrong byte does not",
          "[gpu][sanitized]") {
  using namespace memory_latency;
  const auto memory_bandwidth = make_memory_bandwidth().cases, tail = make_tail_effect().cases;
  for (const Cases& cases : {
           Cases{make_atomics().cases, "", "memory"},
           {make_bank_conflicts().cases, "load/", "out"},
           {make_copy_bandwidth().cases, "", "dst"},  // tails and starts between packs among them
           {make_energy().cases},
           {make_launch_overhead().cases},
           // Not the sweep by SMs, which needs the GPU's own: memory_bandwidth_kernels_test.cu.
           {memory_bandwidth, "level/"},
           {memory_bandwidth, "footprint/"},
           {memory_bandwidth, "in-flight/"},
           {memory_bandwidth, "level/DRAM/store/", "dst"},
           {memory_bandwidth, "level/DRAM/copy/", "dst"},
           {memory_bandwidth, "level/shared/store/", "after"},
           // Not the caches' sizes and sets, whose chases reach further than so little memory.
           {{latency_cases, fetch_cases, constant_cases, far_cases}},
           {make_occupancy().cases, "", "dst"},
           {tail, "latency-bound/", "out"},
           {tail, "throughput-bound/", "out"},
           {tail, "memory-bound/", "dst"},
           {make_topology().cases, "", "", true},
           {{warp_reduce::warp_stage_cases}},
       })
    check_cases(cases);
}

// Warps, and in many patterns lanes, meet in the same words without a barrier between them. They
// agree on every word's value, so the result is defined by the probe's design, but it is what
// racecheck looks for: sanitize.sh leaves [meeting-stores] out there, and
// bank_conflicts_kernels_test.cu stands in.
TEST_CASE("shared stores leave the words of every pattern",
          "[gpu][bank_conflicts][sanitized][meeting-stores]") {
  check_cases({make_bank_conflicts().cases, "store/", "out"});
}
