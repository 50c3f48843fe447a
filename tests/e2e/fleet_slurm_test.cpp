// docs/fleet/slurm.sh as a batch script runs it, with an srun and a scontrol that know this host
// only.

#include <unistd.h>

#include "fleet_run.h"

namespace fathom {
namespace {

std::string own_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// An allocation of two GPUs on one host, and what sbatch tells a script of it.
class Allocation {
 public:
  /// `srun`: a shell script; "$@" is what it was to start, without srun's own flags.
  explicit Allocation(const std::string& srun, const std::string& hosts = own_host()) {
    program("srun",
            "echo \"$*\" > \"$OUT/srun.txt\"\n"
            "while [ \"${1#--}\" != \"$1\" ]; do shift; done\n" +
                srun);
    program("scontrol", "printf '%s\\n' " + hosts + "\n");
    box_.set("PATH", (box_.folder() / "slurm").string() + ":" + std::getenv("PATH"));
    box_.set("FAKE_GPUS", "2");
    box_.set("FATHOM", FATHOM_PROGRAM);
    box_.set("OUT", box_.out());
    box_.set("SLURM_SUBMIT_DIR", box_.folder());
    box_.set("SLURM_JOB_ID", "7");
    box_.set("SLURM_JOB_NODELIST", "all");
    // As the tests of MPI set it.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe"})
      box_.set(name, "1");
    box_.set("OMPI_MCA_hwloc_base_binding_policy", "none");
  }

  /// The script, started by `how`, in which $SCRIPT names it.
  CapturedRun batch(const std::string& how = "exec bash \"$SCRIPT\"") {
    box_.set("SCRIPT", FATHOM_SLURM_SCRIPT);
    return run_and_capture("/bin/bash", {"-c", how}, std::chrono::seconds(60));
  }
  fs::path out() const { return box_.out(); }

 private:
  void program(const std::string& name, const std::string& text) {
    const fs::path file = box_.folder() / "slurm" / name;
    fs::create_directories(file.parent_path());
    write_text(file, "#!/bin/sh\n" + text);
    fs::permissions(file, fs::perms::owner_all);
  }

  Sandbox box_{"first", "links", "copy_bandwidth"};
};

/// What each rank would do, by one process, and no report.
constexpr const char* by_one_process =
    "\"$FATHOM\" fleet run --part --suite quick --out \"$OUT\" >/dev/null || exit 1\n";

#ifdef FATHOM_MPIEXEC
TEST_CASE("Slurm's batch script starts ranks and leaves their report", "[e2e][fleet][mpi]") {
  Allocation job("exec " FATHOM_MPIEXEC " -n 2 \"$@\"\n");
  expect(0, job.batch());
  CHECK(fleet_of(job.out()).at("gpus").size() == 2);
  CHECK(fleet_of(job.out()).at("problems").empty());
  has(read_text(job.out() / "srun.txt"), "--mpi=pmix", "--kill-on-bad-exit=0",
      FATHOM_PROGRAM " fleet run --suite quick");
}
#endif

TEST_CASE("Slurm's batch script collects what a lost step has left", "[e2e][fleet]") {
  Allocation job(std::string(by_one_process) + "exit 9\n", own_host() + " lost");
  expect(ExitCode::incomplete, job.batch());  // as collect says, of the other host
  const json fleet = fleet_of(job.out());
  CHECK(fleet.at("gpus").size() == 2);
  REQUIRE(fleet.at("problems").size() == 1);
  CHECK(fleet.at("problems").at(0).at("what") == "host lost");
}

TEST_CASE("Slurm's batch script reports before its time is up", "[e2e][fleet]") {
  Allocation job(std::string(by_one_process) +
                 "echo $$ > \"$OUT/step\"\nexec sleep 30 >/dev/null 2>&1\n");
  // Slurm signals the script alone (--signal=B:TERM); what it has started ends with the job.
  expect(
      0,
      job.batch(
          "bash \"$SCRIPT\" & script=$!\n"
          "while [ ! -s \"$OUT/step\" ]; do sleep 0.1; done\n"
          "kill -TERM $script; wait $script; status=$?; kill $(cat \"$OUT/step\"); exit $status"));
  CHECK(fleet_of(job.out()).at("gpus").size() == 2);
  CHECK(fs::exists(job.out() / "report" / "README.md"));
}

}  // namespace
}  // namespace fathom
