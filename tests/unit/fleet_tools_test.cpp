#include <stdlib.h>

#include <atomic>
#include <thread>

#include "fleet/commands/fleet_commands.h"
#include "fleet/run/claims.h"
#include "fleet/run/launcher.h"
#include "fleet/run/measure.h"
#include "fleet/run/rank_note.h"
#include "fleet/run/roll_call.h"
#include "results/document_io.h"
#include "tests/testing.h"
#include "tests/unit/in_processes.h"
#include "tests/unit/test_folder.h"

using namespace fathom;

TEST_CASE("A launcher is known by its variables, and one rank is none", "[fleet]") {
  CHECK_FALSE(find_launcher());
  using Text = const char*;
  const auto [rank, value, size, ranks, known] = GENERATE(table<Text, Text, Text, Text, bool>(
      {{"OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "8", true},
       {"OMPI_COMM_WORLD_RANK", "x", "OMPI_COMM_WORLD_SIZE", "8", false},
       {"PMI_RANK", "0", "PMI_SIZE", "1", false},
       {"SLURM_PROCID", "0", "SLURM_NTASKS", "64", false}}));  // a batch script, not a step
  setenv(rank, value, 1), setenv(size, ranks, 1);
  const auto found = find_launcher();
  unsetenv(rank), unsetenv(size);
  REQUIRE(found.has_value() == known);
  CHECK((!found || (found->rank == 3 && found->size == 8)));
}

TEST_CASE("Each rank takes the first GPU that no rank before it has, the only one all", "[fleet]") {
  using Places = std::vector<std::vector<std::size_t>>;
  const auto assigned = [](const std::vector<std::string>& visible) {  // a letter for each GPU
    std::vector<RankWord> host(visible.size());
    for (std::size_t rank = 0; rank < visible.size(); ++rank)
      for (const char gpu : visible[rank]) host[rank].gpus.push_back({std::string(1, gpu)});
    return assign_gpus(host);
  };
  CHECK(assigned({"ab", "ab"}) == Places{{0}, {1}});
  CHECK(assigned({"ab", "ab", "ab"}) == Places{{0}, {1}, {}});
  // Each its own, by the launcher; and two each of its own.
  CHECK(assigned({"a", "b"}) == Places{{0}, {0}});
  CHECK(assigned({"ab", "cd"}) == Places{{0}, {0}});
  // All the same one, by mistake; and one that sees none.
  CHECK(assigned({"a", "a"}) == Places{{0}, {}});
  CHECK(assigned({"", "a"}) == Places{{}, {0}});
  CHECK(assigned({"abc"}) == Places{{0, 1, 2}});
  CHECK(assigned({}).empty());
}

TEST_CASE("A replay collects all counters, and where the probes are not known nobody does",
          "[fleet]") {
  setenv("FATHOM_BIN_DIR", "/nowhere", 1);
  FleetRunArguments arguments;
  std::vector<GpuJob> jobs(1);
  jobs[0].gpu.emplace();
  decide_counters(arguments, 2, jobs);
  unsetenv("FATHOM_BIN_DIR");
  const std::string why = std::exchange(jobs[0].summary.no_counters, "");
  CHECK_THAT(why, contains("no probe programs in /nowhere"));
  arguments.no_counters = true;
  arguments.replay = true;
  decide_counters(arguments, 2, jobs);
  CHECK(jobs[0].summary.counters_of.empty());
  CHECK(jobs[0].summary.no_counters.empty());
}

TEST_CASE("The last job's ranks are told that failed or left nothing, and no others", "[fleet]") {
  const TestFolder root;
  const auto problems = [&](const std::string& no_answer = "") {
    fleet::Fleet fleet;
    add_rank_problems(fleet, root.path(), read_note(root.path(), 0), no_answer);
    std::string all;
    for (const fleet::Problem& problem : fleet.problems)
      all += fmt::format("{}: {}, {}\n", problem.what, problem.reason, problem.exit_code);
    return all;
  };
  CHECK(problems().empty());
  leave_note(root.path(), 0, {"new", 5, "n\"7", "", 0, false});
  leave_note(root.path(), 1, {"new", 5, "n\"7", "disk full", 11, true});
  leave_note(root.path(), 2, {"old", 5, "n\"7", "it died long ago", 11, true});
  leave_note(root.path(), 4, {"new", 5, "n\"7", "it ended before", 11, false});
  leave_note(root.path(), 7, {"old", 5, "n\"7", "so did this one", 11, true});
  const std::string full = "rank 1: on n\"7: disk full, 11\n";
  for (const char* torn : {"", "{\"rank\": 3", "[]", "{\"host\": 1}"}) {
    CAPTURE(torn);
    root.write("ranks/3.note", torn);
    CHECK(problems() == full +
                            "rank 2: it left no word, 5\nrank 3: it left no word, 5\n"
                            "rank 4: on n\"7: it ended before, 11\n");
  }
  CHECK(problems("late") == full + "rank 2: late, 5\nrank 3: late, 5\nrank 4: late, 5\n");
}

TEST_CASE("A GPU has one place in a folder, whoever claims one there at the same time", "[fleet]") {
  const auto gpus_in = [](const std::filesystem::path& root) {
    std::multiset<std::string> hashes;
    for (const auto& entry : std::filesystem::directory_iterator(root / "gpus"))
      if (const auto file = entry.path() / fleet::summary_file; std::filesystem::exists(file))
        hashes.insert(fleet::parse_summary(file_text(file), file.string()).uuid_hash);
    return hashes;
  };
  const auto claim = [](const TestFolder& root, const char* gpu) {
    VisibleGpu seen;
    seen.uuid_hash = gpu;
    GpuJob job = job_of(seen, "n", 0);
    const auto place = claim_folder(root.path(), job);
    return job.summary.gpu;
  };
  for (int round = 0; round < 20; ++round) {
    const TestFolder root;
    in_processes(8, [&](int job) { claim(root, job % 2 == 0 ? "even" : "odd"); });
    CHECK(gpus_in(root.path()) == std::multiset<std::string>{"even", "odd"});
  }
  // One keeps its place, also where another before it has become free.
  const TestFolder root;
  CHECK((claim(root, "a") == 0 && claim(root, "b") == 1));
  std::filesystem::remove_all(root / "gpus/n-0");
  CHECK((claim(root, "b") == 1 && claim(root, "c") == 0));
}

TEST_CASE("A part that lacks a probe is incomplete, whatever its run's exit code", "[fleet]") {
  const TestFolder folder;
  Document document = read_document(FATHOM_SOURCE_DIR "/recordings/h200/result.json");
  document.probes.front().status = ProbeStatus::interrupted;
  write_document(document, folder / "result.json");
  for (const auto& [status, code] : {std::pair(0, 5), {1, 5}, {21, 21}}) {
    const SupervisedEnd end{.end = {.status = status}};
    const PartResult result = result_of(end, folder / "result.json", folder / "log", 1);
    CHECK(result.status == fleet::GpuStatus::partial);
    CHECK(result.exit_code == code);
  }
}

TEST_CASE("Ranks know their hosts by what all of them say", "[fleet]") {
  const RankWord said{.host = "a b",
                      .barrier = "/dev/shm/x",
                      .gpus = {{"GPU-0", false}, {"M", true}},
                      .run = "r",
                      .out = "/out"};
  const RankWord heard = parse_word("12 " + to_line(said));
  CHECK(heard.leader == 12);
  CHECK(to_line(heard) == to_line(said));
  CHECK((heard.host == "a b" && heard.gpus.at(1).mig));
  // Two hosts of one name, and one of another between them.
  const std::vector<RankWord> all{{0, "n"}, {1, "n"}, {2, "m"}, {1, "n"}, {0, "n"}};
  CHECK(ranks_of_host(all, 4) == std::vector<std::size_t>{0, 4});
  CHECK(unique_host_name(all, 4) == "n");
  CHECK(unique_host_name(all, 3) == "n-2");
  CHECK(unique_host_name(all, 2) == "m");
}

TEST_CASE("Ranks take their GPUs in order, and the links probe sees all of them", "[fleet]") {
  const FleetRunArguments arguments;
  SeenGpus seen;
  for (const char* uuid : {"a", "b"}) seen.gpus.emplace_back().uuid = uuid;
  std::vector<RankWord> all(3, {.host = "n", .gpus = {{"a", false}, {"b", false}}});
  Host host;
  auto jobs = jobs_of_rank(arguments, all, 1, seen, host);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].gpu->uuid == "b");
  CHECK((jobs[0].summary.gpu == 1 && jobs[0].place == 1 && jobs[0].summary.rank == 1));
  CHECK((host.gpus == 2 && host.visible_devices == "b,a" && !host.leader));
  jobs = jobs_of_rank(arguments, all, 2, seen, host);
  REQUIRE(jobs.size() == 1);
  CHECK_FALSE(jobs[0].gpu);
  CHECK_THAT(jobs[0].summary.reason, contains("no GPU is left"));
  all.resize(1);  // the only rank of its host
  CHECK(jobs_of_rank(arguments, all, 0, seen, host).size() == 2);
  CHECK((host.gpus == 2 && host.visible_devices.empty() && host.leader));
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
