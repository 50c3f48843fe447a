// `fathom fleet run` from outside, by one process: all GPUs of a host, in turn and together.

#include <fmt/ranges.h>
#include <sched.h>

#include "fleet_run.h"

using namespace fathom;
using Names = std::vector<std::string>;

TEST_CASE("One process measures all GPUs of a host, alone and together", "[e2e][fleet]") {
  Sandbox box({"first"}, 3);
  const json fleet = run_fleet(box);
  REQUIRE(fleet.at("gpus").size() == 3);
  for (int gpu = 0; gpu < 3; ++gpu) CHECK(status_of(fleet, gpu) == "complete");
  const json summary = summary_in(box.out(), 2);
  const json& metrics = summary.at("metrics");
  REQUIRE(metrics.at("name").size() == 2);
  CHECK(metrics.at("alone").at(0) == 1e-6);
  CHECK(metrics.at("together").at(0) == 1e-6);
  CHECK(summary.at("uuid_hash") == "0123456789abcde2");
  CHECK(gpu_of(fleet, 1)->at("health").at("pcie_width") == 8);
  CHECK(fs::exists(box.out() / "gpus" / "box-1" / "suite" / "result.json"));
  has(page_of(box.out()), "Alone and together");
  has(file_text(box.out() / "report" / "host-box.md"), "x8");
}

TEST_CASE("Alone is in turn, all made ready before", "[e2e][fleet]") {
  Sandbox box({"links", "copy_bandwidth", "atlas_first"}, 3);
  // The fakes are of the group core, which holds what together needs; of another suite it is run.
  run_fleet(box, {"--alone", "brief", "--suite", "atlas-quick"});
  check_turns(box.out(), 3, "links");
  check_turns(box.out(), 3, "copy_bandwidth");
  // Together all begin before any ends.
  for (int gpu = 0; gpu < 3; ++gpu)
    CHECK(number_in(gpu_folder(box.out(), 0) / "together" / "links.log", "ended") >
          number_in(gpu_folder(box.out(), gpu) / "together" / "links.log", "began"));
  const json metrics = summary_in(box.out(), 2).at("metrics");
  REQUIRE(metrics.at("name").size() == 6);  // two cases each of the brief ones and the suite's
  CHECK(metrics.at("alone").at(0) == 1e-6);
  CHECK(metrics.at("together").at(0) == 1e-6);
  CHECK(metrics.at("alone").at(5).is_null());
}

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
  Sandbox box({"links", "copy_bandwidth"}, 2);
  const auto cpus_of = [&](const char* log) {
    const std::string text = file_text(box.out() / "gpus" / "box-0" / log);
    const auto at = text.find("\ncpus ");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 6, text.find('\n', at + 1) - at - 6);
  };
  fs::create_directories(box.folder() / "pci" / "0000:00:00.0");
  write_text(box.folder() / "pci" / "0000:00:00.0" / "local_cpulist",
             fmt::format("{0}-{0},{0}\n", cpus.back()));
  run_fleet(box, {"--alone", "brief"});
  for (const char* log : {"suite/logs/links.log", "alone/links.log"})
    CHECK(cpus_of(log) == fmt::format("{}", cpus.back()));
  // The kernel does not say: as it was.
  fs::remove_all(box.folder() / "pci" / "0000:00:00.0");
  run_fleet(box, {"--alone", "brief"});
  CHECK(cpus_of("suite/logs/links.log") == fmt::format("{}", fmt::join(cpus, " ")));
}

TEST_CASE("The GPUs of a host share the probes of which they collect counters", "[e2e][fleet]") {
  struct Shared {
    int gpus;
    std::string flag;
    std::vector<Names> counters_of;
    std::vector<bool> second;  ///< whose second probe counts
    std::string last;          ///< why the last one has none
  };
  const Shared shared = GENERATE(values<Shared>(
      {{1, "--strict", {{}}, {true}, ""},
       {2, "--strict", {{"first", "third"}, {"second"}}, {false, true}, ""},
       {2, "--part", {{"first", "third"}, {"second"}}, {false, true}, ""},
       {4,
        "--strict",
        {{"first"}, {"second"}, {"third"}, {}},
        {false, true, false, false},
        "its host has more GPUs than the suite has probes"},
       {2, "--no-counters", {{}, {}}, {false, false}, "not asked for (--no-counters)"}}));
  CAPTURE(shared.gpus, shared.flag);
  Sandbox box({"first", "second", "third"}, shared.gpus);
  expect(0, box.fathom(fleet_run(box, {shared.flag})));
  // A part leaves documents and no report.
  CHECK(fs::exists(box.out() / "fleet.json") == (shared.flag != "--part"));
  const json fleet = collect_fleet(box);
  CHECK(counters_of(box.out(), shared.gpus) == shared.counters_of);
  CHECK(counting(box.out(), shared.gpus, "second") == shared.second);
  CHECK(gpu_of(fleet, shared.gpus - 1)->at("no_counters") == shared.last);
  CHECK(fleet.at("problems").empty());
}

TEST_CASE("A run reports its own GPUs and links, and none of an earlier run's", "[e2e][fleet]") {
  Sandbox box({"first", "atlas_first", "links"}, 3);
  auto with_links = fleet_run(box, {"--alone", "none"});
  std::erase(with_links, "--no-links");
  expect(0, box.fathom(with_links));
  const json all = fleet_of(box.out());
  CHECK(all.at("gpus").size() == 3);
  CHECK(all.at("links").size() == 1);
  const fs::path links = gpu_folder(box.out(), 0) / "links" / "links.json";
  CHECK(json::parse(file_text(links)).at("run") == all.at("gpus").at(2).at("run"));
  write_text(box.out() / "gpus" / "box-7" / "gpu.json.1-a.tmp", "{");
  box.set("CUDA_VISIBLE_DEVICES", "GPU-1");
  const json fleet = run_fleet(box);
  REQUIRE(fleet.at("gpus").size() == 1);
  CHECK(fleet.at("gpus").at(0).at("uuid_hash") == "0123456789abcde1");
  CHECK(fleet.at("gpus").at(0).at("gpu") == 1);  // the same one's as before
  CHECK(fleet.at("links").empty());
  CHECK(fleet.at("problems").empty());
  // What all of them left is what `collect` is for.
  const json collected = collect_fleet(box);
  CHECK(collected.at("gpus").size() == 3);
  CHECK(collected.at("links").size() == 1);
}
