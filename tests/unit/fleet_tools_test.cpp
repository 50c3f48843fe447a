#include <stdlib.h>

#include <atomic>
#include <thread>

#include "fleet/commands/fleet_commands.h"
#include "fleet/run/cpus.h"
#include "fleet/run/launcher.h"
#include "fleet/run/measure.h"
#include "fleet/run/rank_note.h"
#include "fleet/run/roll_call.h"
#include "tests/testing.h"
#include "tests/unit/test_folder.h"

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
  TestFolder folder;
  folder.write("0000:1a:00.0/local_cpulist", "16-17\n");
  const Environment environment({{"FATHOM_PCI_DEVICES", folder.path().string()}});
  CHECK(cpus_near("0000:1A:00.0") == Cpus{16, 17});
  CHECK(cpus_near("0000:2B:00.0").empty());
  REQUIRE_FALSE(all_cpus().empty());
  CHECK(all_cpus().front() == 0);
}

TEST_CASE("A launcher is known by its variables, and one rank is none", "[fleet]") {
  const auto found = [](const char* rank, const char* value, const char* size, const char* ranks) {
    const Environment environment({{rank, value}, {size, ranks}});
    return find_launcher();
  };
  CHECK_FALSE(find_launcher());
  const auto three = found("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "8");
  REQUIRE(three);
  CHECK(three->rank == 3);
  CHECK(three->size == 8);
  CHECK_FALSE(found("PMI_RANK", "0", "PMI_SIZE", "1"));
  CHECK_FALSE(found("SLURM_PROCID", "0", "SLURM_NTASKS", "64"));  // a batch script, not a step
  CHECK_FALSE(found("OMPI_COMM_WORLD_RANK", "x", "OMPI_COMM_WORLD_SIZE", "8"));
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
  CHECK_THAT(jobs[0].summary.no_counters, contains("no probe programs in /nowhere"));
}

TEST_CASE("A rank's note comes back, and a torn one is none", "[fleet]") {
  const TestFolder root;
  const FleetFolder folder{root.path()};
  CHECK_FALSE(read_note(folder, 3));
  leave_note(folder, {.run = "r",
                      .rank = 3,
                      .size = 4,
                      .host = "node\"7",
                      .reason = "disk full",
                      .exit_code = 11,
                      .ended = true});
  REQUIRE(read_note(folder, 3));
  const auto problem = problem_of(*read_note(folder, 3));
  CHECK(problem.what == "rank 3");
  CHECK(problem.reason == "on node\"7: disk full");
  CHECK(problem.exit_code == 11);
  CHECK(read_note(folder, 3)->ended);
  for (const char* torn : {"", "{\"rank\": 3", "[]", "{\"host\": 1}"}) {
    CAPTURE(torn);
    root.write("ranks/3.note", torn);
    CHECK_FALSE(read_note(folder, 3));
  }
}

TEST_CASE("The last job's ranks are told that failed or left nothing, and no others", "[fleet]") {
  const TestFolder root;
  const FleetFolder folder{root.path()};
  CHECK(problems_of_notes(folder).empty());
  const auto leave = [&](const char* run, int rank, const char* reason) {
    leave_note(folder, {.run = run,
                        .rank = rank,
                        .size = 4,
                        .host = "n",
                        .reason = reason,
                        .exit_code = 5,
                        .ended = *reason == 0});
  };
  leave("new", 0, "");
  leave("new", 1, "it died");
  leave("old", 2, "it died long ago");
  leave("old", 7, "so did this one");
  const auto problems = problems_of_notes(folder);
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].what == "rank 1");
  CHECK(problems[0].reason == "on n: it died");
  CHECK(problems[1].what == "rank 2");
  CHECK(problems[1].reason == "it left no word");
  CHECK(problems[2].what == "rank 3");
}

TEST_CASE("Ranks know their hosts by what all of them say", "[fleet]") {
  const RankWord said{.host = "a b",
                      .barrier = "/dev/shm/x",
                      .gpus = {{"GPU-0", false}, {"M", true}},
                      .run = "r",
                      .out = "/out",
                      .failure = 17};
  const RankWord heard = parse_word("12 " + to_line(said));
  CHECK(heard.leader == 12);
  CHECK(heard.host == "a b");
  CHECK(heard.barrier == "/dev/shm/x");
  REQUIRE(heard.gpus.size() == 2);
  CHECK(heard.gpus[1].uuid == "M");
  CHECK(heard.gpus[1].mig);
  CHECK(heard.run + heard.out == "r/out");
  CHECK(heard.failure == 17);
  // Two hosts of one name, and one of another between them.
  const std::vector<RankWord> all{{0, "n"}, {1, "n"}, {2, "m"}, {1, "n"}, {0, "n"}};
  CHECK(ranks_of_host(all, 4) == std::vector<std::size_t>{0, 4});
  CHECK(unique_host_name(all, 4) == "n");
  CHECK(unique_host_name(all, 3) == "n-2");
  CHECK(unique_host_name(all, 2) == "m");
}

TEST_CASE("Ranks take their GPUs in order, and the links probe sees all of them", "[fleet]") {
  FleetRunArguments arguments;
  const auto seen = [](std::vector<std::string> uuids) {
    SeenGpus gpus;
    for (std::string& uuid : uuids) gpus.gpus.emplace_back().uuid = std::move(uuid);
    return gpus;
  };
  std::vector<RankWord> all{{0, "n"}, {0, "n"}, {0, "n"}};
  for (RankWord& word : all) word.gpus = {{"a", false}, {"b", false}};
  Host host;
  auto jobs = jobs_of_rank(arguments, all, 1, seen({"a", "b"}), host);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].gpu->uuid == "b");
  CHECK(jobs[0].summary.gpu == 1);
  CHECK(jobs[0].place == 1);
  CHECK(jobs[0].measured == 2);
  CHECK(host.gpus == 3);
  CHECK(host.visible_devices == "b,a");
  CHECK_FALSE(host.leader);
  jobs = jobs_of_rank(arguments, all, 2, seen({"a", "b"}), host);
  REQUIRE(jobs.size() == 1);
  CHECK_FALSE(jobs[0].gpu);
  CHECK(jobs[0].summary.reason.find("no GPU is left") == 0);
  all.resize(1);
  jobs = jobs_of_rank(arguments, all, 0, seen({"a", "b"}), host);
  CHECK(jobs.size() == 2);  // the only rank of its host
  CHECK(host.gpus == 2);
  CHECK(host.leader);
  CHECK(host.visible_devices.empty());
}

TEST_CASE("Processes of a host wait for each other, and for none that is gone", "[fleet]") {
  using namespace std::chrono_literals;
  SignalInbox inbox(SignalInbox::Interrupts::act);
  HostBarrier one;
  CHECK(one.all_here(inbox));  // nobody else
  HostBarrier first;
  std::optional<HostBarrier> second(std::in_place);
  const std::string first_file = first.make_own(), second_file = second->make_own();
  first.join({second_file}, 20s);
  second->join({first_file}, 20s);
  {
    std::atomic<bool> came = false;
    std::jthread other([&] {
      std::this_thread::sleep_for(50ms);
      came = true;
      second->all_here(inbox);
    });
    CHECK(first.all_here(inbox));
    CHECK(came);
  }
  CHECK_FALSE(std::filesystem::exists(first_file));
  second.reset();
  CHECK_FALSE(first.all_here(inbox));  // at once
  CHECK_FALSE(first.all_here(inbox));
  HostBarrier late, never;
  late.join({never.make_own()}, 50ms);
  late.make_own();
  CHECK_FALSE(late.all_here(inbox));
}
