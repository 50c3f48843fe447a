// `fathom fleet run` from outside, by real MPI with several ranks, and ranks that die, hang or have
// no GPU. What the others found is kept.

#ifdef FATHOM_MPIEXEC

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include <optional>
#include <set>

#include "fleet_run.h"

namespace fathom {
namespace {

Names together(Names first, const Names& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// mpirun's words for one rank a shell script: `script` ends with what to start as "$@".
Names scripted(const Names& run, const Names& scripts) {
  Names words;
  for (const std::string& script : scripts) {
    if (!words.empty()) words.push_back(":");
    words = together(words, {"-n", "1", "/bin/sh", "-c", script, "sh", FATHOM_PROGRAM});
    words = together(words, run);
  }
  return words;
}

/// mpirun with these words. Open MPI does not start as root, in a container, or on fewer cores than
/// ranks, unless it is told to.
class Job : public Background {
 public:
  /// `fathom fleet run` by so many ranks.
  Job(FleetBox& box, int ranks, const std::string& flags = "")
      : Job(box, together({"-n", std::to_string(ranks), FATHOM_PROGRAM}, box.run_words(flags))) {}
  Job(FleetBox& box, const Names& words) : Background(FATHOM_MPIEXEC, allowed(box, words)) {}
  void must_end(ExitCode expected = ExitCode::ok, const std::string& saying = "") {
    const int status = wait();
    INFO(output());
    REQUIRE(status == to_int(expected));
    has(output(), saying);
  }

 private:
  static const Names& allowed(Sandbox& box, const Names& words) {
    for (const auto& [name, value] : {std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                      {"OMPI_MCA_btl_base_warn_component_unused", "0"}})
      box.set(name, value);
    return words;
  }
};

/// Those of a job of so many, once all have begun.
std::vector<RankProcesses> ranks_of(const FleetBox& box, const Job& job, std::size_t count) {
  Names gpus;
  for (std::size_t gpu = 0; gpu < count; ++gpu) gpus.push_back(fmt::format("box-{}", gpu));
  const auto found = wait_for_ranks(box, gpus);
  INFO(job.output());
  REQUIRE(found.size() == count);
  return found;
}

TEST_CASE("Ranks of MPI measure one GPU each, and rank 0 reports", "[e2e][fleet][mpi]") {
  FleetBox box({"first", "second"}, 4);
  Job(box, 4).must_end();
  const json fleet = box.fleet();
  CHECK(statuses(fleet) == Names(4, "complete"));
  for (int gpu = 0; gpu < 4; ++gpu) {
    CHECK(gpu_of(fleet, gpu).at("rank") == gpu);
    box.has_figures(gpu, {"alone", "together"});
  }
  CHECK(box.counting(4) == std::vector{true, false, false, false});
  CHECK(box.counting(4, "second") == std::vector{false, true, false, false});
  CHECK(box.counters_of() == std::vector<Names>{{"first"}, {"second"}, {}, {}});
}

TEST_CASE("Counters are shared among the ranks that have a GPU", "[e2e][fleet][mpi]") {
  FleetBox box({"first", "second", "third"}, 2);
  const std::string first = "CUDA_VISIBLE_DEVICES=GPU-0 exec \"$@\"",
                    second = "CUDA_VISIBLE_DEVICES=GPU-1 exec \"$@\"";
  Job(box, scripted(box.run_words("--alone none"), {first, first, second}))
      .must_end(ExitCode::incomplete);  // of the one in the middle
  CHECK(box.counters_of() == std::vector<Names>{{"first", "third"}, {}, {"second"}});
  CHECK(gpu_of(box.fleet(), 1).at("no_counters") == "");
  has(reason_of(box.fleet(), 1), "no GPU is left for it: its host has 3 ranks, and it sees 1 GPU");
}

TEST_CASE("A rank asks for its GPUs while MPI starts", "[e2e][fleet][mpi]") {
  FleetBox box({"first"}, 2);
  box.set("FAKE_ASKED", box.folder() / "asked");
  box.set("SEEN", box.folder() / "seen");
  // MPI_Init of the first one waits for the second, which comes once it has seen the question.
  const std::string late =
      "for i in $(seq 200); do [ -e \"$FAKE_ASKED\" ] && break; sleep 0.05; done; "
      "[ -e \"$FAKE_ASKED\" ] && : > \"$SEEN\"; exec \"$@\"";
  Job(box, scripted(box.run_words("--alone none"), {"exec \"$@\"", late})).must_end();
  CHECK(fs::exists(box.folder() / "seen"));
}

TEST_CASE("A rank 0 that hangs in the driver has left a note", "[e2e][fleet][mpi]") {
  FleetBox box({"first"}, 2);
  box.set("FAKE_GPU", "hang");
  Job job(box, 2);
  CHECK(wait_for_text(box.out() / "ranks" / "0.note", "it has not finished"));
  job.signal(SIGTERM);
  job.wait();
}

TEST_CASE("Ranks take their turns alone", "[e2e][fleet][mpi]") {
  FleetBox box({"links", "copy_bandwidth"}, 3);
  Job(box, 3, "--alone brief").must_end();
  for (const char* probe : {"links", "copy_bandwidth"}) box.check_turns(3, probe);
}

TEST_CASE("Two jobs of ranks do not share a folder", "[e2e][fleet][mpi]") {
  FleetBox box({"first"}, 2);
  fs::create_directories(box.out());
  const FileDescriptor other(open((box.out() / ".lock").c_str(), O_RDWR | O_CREAT, 0644));
  REQUIRE(flock(other.get(), LOCK_EX | LOCK_NB) == 0);
  Job(box, 2).must_end(ExitCode::gpu_busy, "Another job of ranks");
  CHECK_FALSE(fs::exists(box.out() / "gpus"));
  // Nor does one leave a note there of ranks that MPI does not know of.
  box.set("SLURM_PROCID", "0");
  box.set("SLURM_STEP_NUM_TASKS", "4");
  expect(ExitCode::gpu_busy, box.fathom(box.run_words()));
  CHECK_FALSE(fs::exists(box.out() / "ranks"));
  // As srun without --mpi, or another MPI's mpirun, starts them.
  REQUIRE(flock(other.get(), LOCK_UN) == 0);
  expect(ExitCode::setup_incomplete, box.fathom(box.run_words()))
      .complains("Slurm started 4 ranks, and MPI knows of 1");
  CHECK_FALSE(fs::exists(box.out() / "fleet.json"));
}

TEST_CASE("Where a rank is lost while they come together, the others say so", "[e2e][fleet][mpi]") {
  FleetBox box({"first"}, 2);
  box.set("LD_PRELOAD", FATHOM_LOST_RANK);
  Job(box, 2).must_end(ExitCode::setup_incomplete, "A rank was lost before all had come together");
}

TEST_CASE("Ranks that share no storage are told, and measure nothing", "[e2e][fleet][mpi]") {
  FleetBox box({"first"}, 2);
  // What rank 0 has written is not there for the second.
  const std::string note = (box.out() / "ranks" / "0.note").string();
  const std::string blind =
      "while [ ! -e '" + note + "' ]; do sleep 0.05; done; rm '" + note + "'; exec \"$@\"";
  Job(box, scripted(box.run_words(), {"exec \"$@\"", blind}))
      .must_end(ExitCode::setup_incomplete, "does not see what rank 0 wrote into");
}

TEST_CASE("Ranks measure on while another job's rank 0 says that it has ended",
          "[e2e][fleet][mpi]") {
  FleetBox box({"lasting"}, 2);
  const Gate gate(box);
  Job job(box, 2, "--alone none");
  ranks_of(box, job, 2);
  write_text(box.out() / "ranks" / "0.note",
             R"({"run": "another", "size": 2, "host": "box", "reason": "", "exit_code": 0,
                 "ended": true})");
  std::this_thread::sleep_for(1500ms);  // a rank looks every second
  gate.open();
  job.must_end();
}

TEST_CASE("Ranks without --out take the folder of rank 0", "[e2e][fleet][mpi]") {
  FleetBox box({"first"}, 2);
  auto words = box.run_words();
  words.erase(words.begin() + 2, words.begin() + 4);
  Job(box, scripted(words,
                    {"cd '" + box.folder().string() + "'; exec \"$@\"", "sleep 1.1; exec \"$@\""}))
      .must_end();
  std::vector<fs::path> made;
  for (const auto& entry : fs::directory_iterator(box.folder()))
    if (entry.path().filename().string().starts_with("fathom-fleet-")) made.push_back(entry);
  REQUIRE(made.size() == 1);
  CHECK(json::parse(file_text(made.front() / "fleet.json")).at("gpus").size() == 2);
}

TEST_CASE("Ranks of MPI replay the recording without a GPU", "[e2e][fleet][mpi]") {
  FleetBox box({"first"});
  Job(box, 3, "--replay --no-report").must_end();
  const json fleet = box.fleet();
  REQUIRE(fleet.at("gpus").size() == 3);
  CHECK(fleet.at("gpus").at(0).at("source") == "replay");
  CHECK(fleet.at("distributions").size() > 100);
  CHECK(fleet.at("named").empty());
}

/// How one of three ranks ends, and what `run` and `collect` say then.
struct Death {
  const char* how;
  std::string lost_at;  ///< by its own hand, when it would give a file this name (lost_rank.cpp)
  int signal;
  std::optional<int> victim;  ///< else that rank is sent the signal while all measure
  std::string what, reason;   ///< the one problem
  std::set<int> complete;     ///< the GPUs that keep all figures
  ExitCode code = ExitCode::incomplete;
  bool itself = false;  ///< the signal is for the rank, and not for its child that measures
  std::optional<ExitCode> run = ExitCode::incomplete;  ///< nothing: by mpirun
  ExitCode collected = ExitCode::incomplete;
};

TEST_CASE("Whatever ends a rank, it is named, and the others keep their figures",
          "[e2e][fleet][mpi]") {
  using enum ExitCode;
  const std::string killed = "on box: it was ended by signal SIGKILL", summary = "box-1/gpu.json";
  const std::string silent = "on box: it was ended by exit status 3",
                    stopped = "suite: interrupted";
  const std::string links_killed = "links: its run was ended by signal SIGKILL",
                    unbegun = "it was not measured", unreported = "on box: it has not finished";
  const std::set all{0, 1, 2};
  const Death death = GENERATE_COPY(values<Death>({
      {"no folder", "", 0, {}, "rank 1", "on box: ", {0, 2}, output_unwritable},
      {"before its summary", summary, SIGKILL, {}, "rank 1", killed, {0, 2}},
      {"in silence", summary, 0, {}, "rank 1", silent, {0, 2}},
      {"before it measures", summary, SIGTERM, {}, "box GPU 1", unbegun, {0, 2}},
      {"early", "ranks/0.note", SIGTERM, {}, "", "", {}, ok, false, interrupted, bad_input},
      {"measuring", "", SIGKILL, 2, "box GPU 2", "rank 2, " + killed, {0, 1}},
      {"rank 0", "", SIGKILL, 0, "box GPU 0", "rank 0, " + killed, {1, 2}},
      {"hangs", "", SIGSTOP, 1, "box GPU 1", "rank 1, on box: it ", {0, 2}},
      {"told to stop", "", SIGTERM, 1, "box GPU 1", stopped, {0, 2}, interrupted},
      {"rank 0 itself", "", SIGTERM, 0, "box GPU 0", stopped, {1, 2}, interrupted, true},
      {"in the links", "links/links.json", SIGKILL, {}, "rank 0", killed, all},
      {"the links' run", "links/result.json", SIGKILL, {}, "box GPU 0", links_killed, {1, 2}},
      {"in its report", "fleet.json", SIGKILL, {}, "rank 0", unreported, all, incomplete, true, {}},
  }));
  CAPTURE(death.how);
  FleetBox box({"lasting", "links"}, 3);
  const Gate gate(box);
  // An earlier job's, of more ranks; and a place that a job took which did not live to write.
  fs::create_directories(box.out() / "ranks");
  for (int rank = 0; rank < 5; ++rank)
    write_text(box.out() / "ranks" / fmt::format("{}.note", rank),
               R"({"run": "old", "rank": 0, "size": 5, "host": "old", "reason": "of an earlier job",
                   "exit_code": 23, "ended": true})");
  fs::create_directories(box.out() / "gpus" / "box-0");
  if (death.how == std::string("no folder"))
    write_text(box.out() / "gpus" / "box-1", "a file where a folder should be");
  if (!death.lost_at.empty()) {
    box.set("LD_PRELOAD", FATHOM_LOST_RANK);
    box.set("LOST_AT", death.lost_at);
    box.set("LOST_BY", std::to_string(death.signal));
  }
  if (!death.victim) gate.open();
  box.links = death.lost_at.starts_with("links/");
  Job job(box, 3, fmt::format("--alone none --wait {}", death.signal == SIGSTOP ? 2 : 60));
  if (death.victim) {
    const auto [measuring, rank] =
        ranks_of(box, job, 3).at(static_cast<std::size_t>(*death.victim));
    REQUIRE(kill(death.itself ? rank : measuring, death.signal) == 0);
    if (death.signal == SIGTERM)
      REQUIRE(wait_for_text(box.gpu_folder(*death.victim) / "gpu.json", "interrupted"));
    gate.open();
  }
  if (death.run)
    job.must_end(*death.run);
  else
    job.wait();
  const auto told = [&] {
    json fleet = box.fleet();
    std::set<int> complete;
    for (const json& gpu : fleet.at("gpus"))
      if (gpu.at("status") == "complete") complete.insert(gpu.at("gpu").get<int>());
    CHECK(complete == death.complete);
    // One death, one row; beside it `collect` may name the file that it left half-written.
    std::erase_if(fleet.at("problems").get_ref<json::array_t&>(), [](const json& problem) {
      return problem.at("what").get<std::string>().ends_with(".tmp");
    });
    REQUIRE(fleet.at("problems").size() == 1);
    const json& problem = fleet.at("problems").at(0);
    CHECK(problem.at("what") == death.what);
    CHECK(problem.at("exit_code") == to_int(death.code));
    has(problem.at("reason").get<std::string>(), death.reason);
    has(box.page(), death.what);
  };
  if (death.run == ExitCode::incomplete) told();
  box.set("LD_PRELOAD", "");
  expect(death.collected, box.call("fleet collect out"));
  if (death.collected == ExitCode::incomplete) told();
}

TEST_CASE("A job that mpirun ends costs no more than what was not written yet",
          "[e2e][fleet][mpi]") {
  FleetBox box({"lasting"}, 3);
  const Gate gate(box);
  Job job(box, 3);
  for (int gpu = 0; gpu < 3; ++gpu) {  // one after the other
    REQUIRE(wait_for_text(box.gpu_folder(gpu) / "alone" / "logs" / "lasting.log", "log of"));
    gate.open();
    REQUIRE(wait_for_text(box.gpu_folder(gpu) / "gpu.json", "lasting/case"));
    gate.close();
  }
  const auto ranks = ranks_of(box, job, 3);  // the suite together: alone is done
  REQUIRE(kill(ranks.at(2).rank, SIGKILL) == 0);
  gate.open();
  job.wait();
  INFO(job.output());
  box.call("fleet collect out");
  for (int gpu = 0; gpu < 3; ++gpu) box.has_figures(gpu, {"alone"});
  // The one that died had no time to say so.
  has(reason_of(box.fleet(), 2), "rank 2, on box: it has not finished");
}

}  // namespace
}  // namespace fathom

#endif
