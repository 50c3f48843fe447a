// `fathom fleet run` by one process, beyond what its session has (tests/golden/sessions/fleet.txt).

#include <fmt/ranges.h>
#include <sched.h>

#include "fleet_run.h"
#include "tools/programs.h"

using namespace fathom;

/// CPUs that this process may use.
static std::vector<int> own_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

TEST_CASE("What measures a GPU runs on the CPUs near it", "[e2e][fleet]") {
  const std::vector<int> cpus = own_cpus();
  if (cpus.size() < 2) SKIP("there is only one CPU");
  // Two GPUs, since the only one of a host is not measured alone.
  FleetBox box({"links", "copy_bandwidth"}, 2);
  const auto check = [&](const char* log, const std::string& on) {
    has(file_text(box.gpu_folder(0) / log), "\ncpus " + on + "\n");
  };
  const fs::path near = box.folder() / "pci" / "0000:00:00.0" / "local_cpulist";
  fs::create_directories(near.parent_path());
  write_text(near, fmt::format("{0}-{0},{0}\n", cpus.back()));
  box.run_fleet("--alone brief");
  for (const char* log : {"suite/logs/copy_bandwidth.log", "alone/links.log"})
    check(log, std::to_string(cpus.back()));
  // The kernel does not say: as it was.
  fs::remove(near);
  box.run_fleet("--alone brief");
  check("suite/logs/copy_bandwidth.log", fmt::format("{}", fmt::join(cpus, " ")));
}

TEST_CASE("A short probe that never gets ready is given up before the others begin",
          "[e2e][fleet]") {
  FleetBox box({"links", "copy_bandwidth"}, 2);
  box.set("FAKE_LATE", "copy_bandwidth");
  const json fleet = box.run_fleet("--alone brief --time-limit 4", ExitCode::incomplete);
  CHECK(gpu_of(fleet, 1).at("status") == "partial");
  has(reason_of(fleet, 1), "alone, copy_bandwidth: it was not ready within 4 s");
  box.has_figures_alone(1);
  const fs::path alone = box.gpu_folder(1) / "alone";
  for (const int pid : pids_in(alone / "copy_bandwidth.log")) CHECK_FALSE(alive(pid));
  CHECK(number_in(alone / "links.log", "beside") == 1);  // its own other part
}

TEST_CASE("The two probes that collect counters longest are never one GPU's of several", "[e2e]") {
  const auto probes = select_probes(find_probes(fs::path(FATHOM_PROGRAM).parent_path()), {},
                                    *find_run_suite("quick"));
  const auto place_of = [&](const char* probe) {
    const auto at = std::ranges::find(probes, probe, &ProbeBinary::name);
    REQUIRE(at != probes.end());
    return at - probes.begin();
  };
  // They are dealt out in turn.
  for (int gpus = 2; gpus <= 8; ++gpus)
    CHECK(place_of("model_validation") % gpus != place_of("copy_bandwidth") % gpus);
}
