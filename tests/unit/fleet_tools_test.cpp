#include <stdlib.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "fleet/commands/run_arguments.h"
#include "fleet/run/assign_gpus.h"
#include "fleet/run/counter_shares.h"
#include "fleet/run/cpus.h"
#include "fleet/run/launcher.h"
#include "fleet/run/parcel.h"
#include "fleet/run/rank_note.h"
#include "results/error.h"
#include "tests/unit/fleet_folder.h"

using namespace fathom;

namespace {

/// Variables for one test.
class Environment {
 public:
  explicit Environment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& variable : variables_) unsetenv(variable.first.c_str());
  }

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace

TEST_CASE("Lists of CPUs are read as the kernel writes them", "[fleet]") {
  using Cpus = std::vector<int>;
  CHECK(parse_cpu_list("0-3,8\n") == Cpus{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("7") == Cpus{7});
  CHECK(parse_cpu_list("") == Cpus{});
  for (const char* text : {"3-1", "a", "1,", "1-", "-1", "1;2", "0-99999999", "1,,2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cpu_list(text));
  }
  FleetFolderForTest folder;
  folder.write("0000:1a:00.0/local_cpulist", "16-17\n");
  const Environment environment({{"FATHOM_PCI_DEVICES", folder.path().string()}});
  CHECK(cpus_near("0000:1A:00.0") == Cpus{16, 17});
  CHECK(cpus_near("0000:2B:00.0").empty());
  REQUIRE_FALSE(all_cpus().empty());
  CHECK(all_cpus().front() == 0);
}

TEST_CASE("A launcher is known by its variables, and one rank is none", "[fleet]") {
  CHECK_FALSE(find_launcher());
  {
    const Environment environment({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
    REQUIRE(find_launcher());
    CHECK(find_launcher()->rank == 3);
    CHECK(find_launcher()->size == 8);
  }
  {
    const Environment environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}});
    CHECK_FALSE(find_launcher());
  }
  {
    const Environment environment({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "64"}});
    CHECK_FALSE(find_launcher());  // a batch script, not a step
  }
  const Environment environment({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
  CHECK_FALSE(find_launcher());
}

TEST_CASE("Each rank takes the first GPU that no rank before it has", "[fleet]") {
  using Places = std::vector<std::optional<std::size_t>>;
  const std::vector<std::string> both{"a", "b"};
  CHECK(assign_gpus({both, both}) == Places{0, 1});
  CHECK(assign_gpus({both, both, both}) == Places{0, 1, std::nullopt});
  // Each its own, by the launcher; and two each of its own.
  CHECK(assign_gpus({{"a"}, {"b"}}) == Places{0, 0});
  CHECK(assign_gpus({{"a", "b"}, {"c", "d"}}) == Places{0, 0});
  // All the same one, by mistake; and one that sees none.
  CHECK(assign_gpus({{"a"}, {"a"}}) == Places{0, std::nullopt});
  CHECK(assign_gpus({{}, {"a"}}) == Places{std::nullopt, 0});
  CHECK(assign_gpus({}).empty());
}

TEST_CASE("Probes are dealt out over a host's GPUs in turn", "[fleet]") {
  using Names = std::vector<std::string>;
  const Names probes{"a", "b", "c", "d", "e"};
  CHECK(share_of(probes, 0, 1) == probes);
  CHECK(share_of(probes, 0, 2) == Names{"a", "c", "e"});
  CHECK(share_of(probes, 1, 2) == Names{"b", "d"});
  CHECK(share_of(probes, 2, 4) == Names{"c"});
  CHECK(share_of(probes, 6, 8).empty());
  CHECK(share_of({}, 0, 2).empty());
  for (std::size_t gpus = 1; gpus <= 8; ++gpus) {
    CAPTURE(gpus);
    Names dealt;
    for (std::size_t place = 0; place < gpus; ++place)
      for (const std::string& probe : share_of(probes, place, gpus)) dealt.push_back(probe);
    std::ranges::sort(dealt);
    CHECK(dealt == probes);
  }
}

TEST_CASE("A GPU that has nobody to share with collects all counters, and a replay all of them",
          "[fleet]") {
  FleetRunArguments arguments;
  std::vector<GpuJob> jobs(2);
  jobs[0].gpu.emplace();
  jobs[1].measured = 2;
  decide_counters(arguments, jobs);
  arguments.counters = "none";
  arguments.replay = true;
  decide_counters(arguments, jobs);
  for (const GpuJob& job : jobs) {
    CHECK(job.summary.counters_of.empty());
    CHECK(job.summary.no_counters.empty());
  }
}

TEST_CASE("Where it is not known which probes there are, nobody collects counters", "[fleet]") {
  const Environment environment(std::map<std::string, std::string>{{"FATHOM_BIN_DIR", "/nowhere"}});
  FleetRunArguments arguments;
  std::vector<GpuJob> jobs(1);
  jobs[0].gpu.emplace();
  jobs[0].measured = 2;
  decide_counters(arguments, jobs);
  CHECK(jobs[0].summary.counters_of.empty());
  CHECK(jobs[0].summary.no_counters.find("no probe programs in /nowhere") != std::string::npos);
}

TEST_CASE("A rank's note says why, and a torn one that it died", "[fleet]") {
  const auto problem = problem_of_note(3, note_text(3, "node\"7", "the disk is full", 11));
  CHECK(problem.what == "rank 3");
  CHECK(problem.reason == "on node\"7: the disk is full");
  CHECK(problem.exit_code == 11);
  for (const char* torn : {"", "{\"rank\": 3", "[]", "{\"host\": 1}"}) {
    CAPTURE(torn);
    CHECK(problem_of_note(3, torn).reason == "it died");
    CHECK(problem_of_note(3, torn).exit_code == 5);
  }
}

TEST_CASE("A parcel comes out as it went in, and a torn one is refused", "[fleet]") {
  Parcel parcel;
  parcel.add("gpus/a-0/gpu.json", "{\n}\n");
  parcel.add("links/a/result.json", std::string(100'000, '\n'));
  parcel.add("empty", "");
  const auto files = Parcel::open(parcel.text());
  REQUIRE(files.size() == 3);
  CHECK(files[0].name == "gpus/a-0/gpu.json");
  CHECK(files[0].content == "{\n}\n");
  CHECK(files[1].content.size() == 100'000);
  CHECK(files[2].content.empty());
  const std::string text = parcel.text();
  for (const std::size_t size :
       {text.size() - 20, std::size_t{3}, std::size_t{19}, std::size_t{21}}) {
    CAPTURE(size);
    CHECK_THROWS_AS(Parcel::open(text.substr(0, size)), Error);
  }
  for (const char* bad :
       {"../up\n1\nx", "/etc/passwd\n1\nx", "a/../../b\n1\nx", "\n1\nx", "a\n-1\nx"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(Parcel::open(bad), Error);
  }
}

TEST_CASE("A rank gets the flags that its supervisor was given", "[fleet]") {
  FleetRunArguments given;
  given.suite = "atlas-quick";
  given.alone = "full";
  given.report.out = "/tmp/out with space";
  given.report.expect_gpus = 8;
  given.report.hosts = {"a", "b"};
  given.report.strict = true;
  given.counters = "all";
  given.wait_s = 2.5;
  std::vector<std::string> words = flags_of(given);
  CLI::App app;
  FleetRunArguments read;
  add_run_flags(app, read);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  CHECK(flags_of(read) == flags_of(given));
  CHECK(read.report.expect_gpus == 8u);
  CHECK(read.report.strict);
  CHECK_FALSE(read.replay);
}
