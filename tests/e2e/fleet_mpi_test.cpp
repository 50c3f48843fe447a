// `fathom fleet run` by real MPI with several ranks that die or hang; else see the session
// tests/golden/sessions/mpi.txt. What the others found is kept.

#ifdef FATHOM_MPIEXEC

#include <signal.h>

#include <optional>
#include <set>

#include "fleet_run.h"

namespace fathom {
namespace {

/// `fathom fleet run` by so many ranks. Open MPI does not start as root, in a container, or on
/// fewer cores than ranks, unless it is told to.
class Job : public Background {
 public:
  Job(FleetBox& box, int ranks, const std::string& flags = "")
      : Background(FATHOM_MPIEXEC, words(box, ranks, flags)) {}

 private:
  static Names words(FleetBox& box, int ranks, const std::string& flags) {
    for (const auto& [name, value] : {std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                      {"OMPI_MCA_btl_base_warn_component_unused", "0"}})
      box.set(name, value);
    Names all{"-n", std::to_string(ranks), FATHOM_PROGRAM};
    const Names run = box.run_words(flags);
    all.insert(all.end(), run.begin(), run.end());
    return all;
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
  const int status = job.wait();
  INFO(job.output());
  if (death.run) REQUIRE(status == to_int(*death.run));
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
    has(box.report(), death.what);
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
  for (int gpu = 0; gpu < 3; ++gpu) box.has_figures_alone(gpu);
  // The one that died had no time to say so.
  has(reason_of(box.fleet(), 2), "rank 2, on box: it has not finished");
}

}  // namespace
}  // namespace fathom

#endif
