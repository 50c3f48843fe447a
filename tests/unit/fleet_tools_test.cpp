#include <stdlib.h>

#include <atomic>
#include <thread>

#include "fleet/run/run.h"
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
  Environment environment;
  environment.set(rank, value);
  environment.set(size, ranks);
  const auto found = find_launcher();
  REQUIRE(found.has_value() == known);
  CHECK((!found || (found->rank == 3 && found->size == 8)));
}

TEST_CASE("Each rank takes the first GPU that no rank before it has, the only one all", "[fleet]") {
  // A letter for each GPU that a rank sees, a capital one for a MIG device. What each takes, how
  // many its host has, and which of them the links probe is to see: those that a rank sees itself
  // where none are named.
  const auto taken = [](const std::vector<std::string>& visible) {
    std::vector<RankWord> all(visible.size());
    std::vector<std::vector<GpuJob>> seen(visible.size());
    for (std::size_t rank = 0; rank < visible.size(); ++rank)
      for (const char gpu : visible[rank]) {
        all[rank].gpus.push_back((gpu < 'a' ? std::string(mig_mark) : "") + gpu);
        seen[rank].emplace_back().uuid = gpu;
      }
    std::string text;
    for (std::size_t rank = 0; rank < visible.size(); ++rank) {
      Host host;
      for (const GpuJob& job : jobs_of_rank({}, all, rank, seen[rank], host))
        text += job.uuid.empty() ? "-" : job.uuid;
      text += fmt::format("{} {}; ", host.gpus, host.visible_devices);
      CHECK(host.leader == (rank == 0));
    }
    return text;
  };
  CHECK(taken({"ab", "ab", "ab"}) == "a2 a,b; b2 b,a; -2 ; ");
  // Each its own, by the launcher; and two each of its own.
  CHECK(taken({"a", "b"}) == "a2 a,b; b2 b,a; ");
  CHECK(taken({"ab", "cd"}) == "a2 a,c; c2 c,a; ");
  // All the same one, by mistake; and one that sees none.
  CHECK(taken({"a", "a"}) == "a1 a; -1 ; ");
  CHECK(taken({"", "a"}) == "-1 ; a1 a; ");
  CHECK(taken({"abc"}) == "abc3 ; ");
  CHECK(taken({"Ab", "Ab"}) == "A2 ; b2 b; ");  // CUDA_VISIBLE_DEVICES takes one MIG device alone
}

TEST_CASE("A replay collects all counters, and where the probes are not known nobody does",
          "[fleet]") {
  Environment environment;
  environment.set("FATHOM_BIN_DIR", "/nowhere");
  FleetRunArguments arguments;
  std::vector<GpuJob> jobs(1);
  jobs[0].uuid = "a";
  decide_counters(arguments, 2, jobs);
  CHECK_THAT(std::exchange(jobs[0].summary.no_counters, ""),
             contains("No probe program of the suite"));
  arguments.no_counters = true;
  arguments.replay = true;
  decide_counters(arguments, 2, jobs);
  CHECK(jobs[0].summary.counters_of.empty());
  CHECK(jobs[0].summary.no_counters.empty());
}

TEST_CASE("The last job's ranks are told that failed or left nothing, and no others", "[fleet]") {
  const TestFolder root;
  const auto problems = [&] {
    fleet::Fleet fleet;
    add_rank_problems(fleet, root.path(), read_note(root.path(), 0));
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
  for (const char* torn : {"", "{\"rank\": 3", "[]", "{\"host\": 1}"}) {
    CAPTURE(torn);
    root.write("ranks/3.note", torn);
    CHECK(problems() ==
          "rank 1: on n\"7: disk full, 11\nrank 2: it left no word, 5\n"
          "rank 3: it left no word, 5\nrank 4: on n\"7: it ended before, 11\n");
  }
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
    GpuJob seen{.uuid = gpu};
    seen.summary.uuid_hash = gpu;
    Host host;
    GpuJob job = jobs_of_rank({}, {{.host = "n", .gpus = {gpu}}}, 0, {seen}, host).front();
    const auto place = claim_folder(root.path(), job);
    return job.summary.gpu;
  };
  for (int round = 0; round < 20; ++round) {
    const TestFolder root;
    in_processes(8, [&](int job) { claim(root, job % 2 == 0 ? "even" : "odd"); });
    CHECK(gpus_in(root.path()) == std::multiset<std::string>{"even", "odd"});
  }
  const TestFolder root;
  for (int round = 0; round < 2; ++round) CHECK((claim(root, "a") == 0 && claim(root, "b") == 1));
}

TEST_CASE("A part that lacks a probe is incomplete, whatever its run's exit code", "[fleet]") {
  const TestFolder folder;
  Document document = read_document(FATHOM_SOURCE_DIR "/recordings/h200/result.json");
  document.probes.front().status = ProbeStatus::interrupted;
  write_document(document, folder / "result.json");
  for (const auto& [status, code] : {std::pair(0, 5), {1, 5}, {21, 21}}) {
    const ProcessEnd end{.status = status};
    const PartResult result = result_of(end, folder / "result.json", folder / "log", 1);
    CHECK(result.status == fleet::GpuStatus::partial);
    CHECK(result.exit_code == code);
  }
}

TEST_CASE("Ranks have numbers on their hosts, and so have hosts of one name", "[fleet]") {
  std::vector<GpuJob> seen;
  for (const char* uuid : {"a", "b"}) seen.emplace_back().uuid = uuid;
  std::vector<RankWord> all(3, {.host = "n", .gpus = {"a", "b"}});
  Host host;
  const GpuJob second = jobs_of_rank({}, all, 1, seen, host).at(0);
  CHECK((second.summary.gpu == 1 && second.place == 1 && second.summary.rank == 1));
  CHECK_THAT(jobs_of_rank({}, all, 2, seen, host).at(0).summary.reason, contains("no GPU is left"));
  all = {{0, "n"}, {1, "n"}, {2, "m"}, {1, "n"}, {0, "n"}};
  CHECK(ranks_of_host(all, 4) == std::vector<std::size_t>{0, 4});
  for (const auto& [rank, name] : {std::pair(4, "n"), {3, "n-2"}, {2, "m"}})
    CHECK(jobs_of_rank({}, all, rank, {}, host).front().summary.host == name);
}

TEST_CASE("Processes of a host wait for each other, and for none that is gone", "[fleet]") {
  using namespace std::chrono_literals;
  SignalInbox inbox(SignalInbox::Interrupts::act);
  CHECK(HostBarrier().all_here(inbox));  // nobody else
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
  CHECK_FALSE(std::filesystem::exists(second_file));
  second.reset();
  CHECK_FALSE(first.all_here(inbox));  // at once
  CHECK_FALSE(first.all_here(inbox));
  HostBarrier late, never;
  late.join({never.make_own()}, 50ms);
  late.make_own();
  CHECK_FALSE(late.all_here(inbox));
}
