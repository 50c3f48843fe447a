// `fathom fleet run` under a Slurm of its own, whose two nodes are this machine: by srun alone, and
// by docs/fleet/slurm.sh as sbatch runs it.

#ifdef FATHOM_MPIEXEC

#include <signal.h>

#include <optional>

#include "fleet_run.h"
#include "slurm_cluster.h"

namespace fathom {
namespace {

/// One rank a GPU of both nodes.
class SlurmJob {
 public:
  SlurmJob() {
    if (const std::string why = why_no_slurm(); !why.empty()) SKIP(why);
    box.set("FATHOM", FATHOM_PROGRAM);
    box.set("OUT", box.out());
    gate.emplace(box);
    cluster.emplace(box);
  }

  /// The batch script as it is shipped, on a smaller allocation; ends with its exit code, for which
  /// sbatch --wait would ask too rarely.
  void batch() {
    run("job=$(sbatch --parsable --job-name=fathom --nodes=2 --gpus-per-node=2 "
        "--ntasks-per-node=2 --output=" +
        script_log().string() +
        " " FATHOM_SLURM_SCRIPT
        ") || exit 99\n"
        "until scontrol show job $job | grep -qE 'JobState=(COMPL|FAIL|CANC|TIME|NODE)'\n"
        "do sleep 0.2; done\n"
        "code=$(scontrol show job $job | sed -n 's/.*ExitCode=\\([0-9]*\\):.*/\\1/p')\n"
        "exit $code");
  }
  void srun(const std::string& mpi, const std::string& flags = "") {
    run("exec srun --nodes=2 --ntasks-per-node=2 --kill-on-bad-exit=0 --wait=20 --mpi=" + mpi +
        " \"$FATHOM\" fleet run --suite quick --no-links --alone none --out \"$OUT\" " + flags);
  }
  void run(const std::string& line) { command.emplace("/bin/bash", Names{"-c", line}); }
  std::string output() const { return command->output() + file_text(script_log()); }
  /// Once all have begun.
  std::vector<RankProcesses> ranks() const {
    auto found = wait_for_ranks(box, {"n1-0", "n1-1", "n2-0", "n2-1"});
    INFO(output() << cluster->log());
    REQUIRE(found.size() == 4);
    return found;
  }
  void must_end(ExitCode expected) {
    const int status = command->wait();
    INFO(output() << cluster->log());
    CHECK(status == to_int(expected));
  }
  fs::path script_log() const { return box.folder() / "script.log"; }

  FleetBox box{{"lasting", "links", "copy_bandwidth"}, 4};
  std::optional<Gate> gate;
  std::optional<SlurmCluster> cluster;
  std::optional<Background> command;
};

TEST_CASE("Slurm runs the batch script: ranks on two nodes, one report", "[e2e][fleet][slurm]") {
  SlurmJob job;
  job.gate->open();
  job.batch();
  job.must_end(ExitCode::ok);
  const json fleet = job.box.fleet();
  CHECK(fleet.at("problems").empty());  // Slurm's own names of the nodes are the expected ones
  CHECK(statuses(fleet) == Names(4, "complete"));
}

TEST_CASE("Under Slurm a rank that dies, or is killed itself, takes nobody with it",
          "[e2e][fleet][slurm]") {
  const bool itself = GENERATE(false, true);
  SlurmJob job;
  job.srun("pmix", "--wait 2");
  const auto ranks = job.ranks();
  REQUIRE(kill(itself ? ranks.at(2).rank : ranks.at(2).measuring, SIGKILL) == 0);
  // Long enough for Slurm to have ended the others.
  std::this_thread::sleep_for(1s);
  job.gate->open();
  const int status = job.command->wait();
  CHECK((itself ? status != 0 : status == to_int(ExitCode::incomplete)));
  CHECK(statuses(job.box.fleet()) == Names{"complete", "complete", "failed", "complete"});
  has(job.box.page(), itself ? "rank 2" : "SIGKILL");
}

TEST_CASE("The batch script reports before its time is up, and of a step that Slurm has ended",
          "[e2e][fleet][slurm]") {
  // What --signal=B:TERM does, without waiting for minutes to pass; and the step's end.
  const char* stop = GENERATE("scancel --batch --signal=TERM --name=fathom",
                              "scancel --signal=KILL $(squeue --steps -h -o %i | grep '[.]0$')");
  SlurmJob job;
  job.batch();
  job.ranks();
  expect(0, job.box.shell(stop));
  job.must_end(ExitCode::incomplete);
  CHECK(job.box.fleet().at("gpus").size() == 4);
  // What was measured before is there.
  const auto summary = json::parse(file_text(job.box.out() / "gpus" / "n1-0" / "gpu.json"));
  CHECK_FALSE(summary.at("metrics").at("name").empty());
  CHECK_FALSE(job.box.page().empty());
}

TEST_CASE("srun without an MPI says so, and nobody waits", "[e2e][fleet][slurm]") {
  SlurmJob job;
  job.srun("none");
  const auto begin = std::chrono::steady_clock::now();
  job.must_end(ExitCode::setup_incomplete);
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
  has(job.output(), "fathom: rank 0 of 4", "srun --mpi=pmix");
  lacks(job.output(), "fathom: rank 1 of 4");
}

TEST_CASE("Slurm runs independent jobs without MPI", "[e2e][fleet][slurm]") {
  SlurmJob job;
  job.gate->open();
  // The end of docs/fleet/slurm.sh.
  job.run(
      "srun --nodes=2 --ntasks-per-node=1 --kill-on-bad-exit=0 \"$FATHOM\" fleet run --part "
      "--suite quick --no-links --time-limit 300 --out \"$OUT\" || true\n"
      "\"$FATHOM\" fleet collect \"$OUT\"");
  job.must_end(ExitCode::ok);
  CHECK(statuses(job.box.fleet()) == Names(2, "complete"));
}

}  // namespace
}  // namespace fathom

#endif
