// `fathom fleet run` from outside, by real MPI with several ranks, and ranks that die, hang or have
// no GPU. What the others found is kept.

#ifdef FATHOM_MPIEXEC

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <thread>

#include "fleet/run/rank_note.h"
#include "fleet_ranks.h"
#include "fleet_run.h"
#include "results/error.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;

std::vector<std::string> together(std::vector<std::string> first,
                                  const std::vector<std::string>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// Open MPI does not start as root, in a container, or on fewer cores than ranks, unless it is told
/// to.
class Job {
 public:
  Job(Sandbox& box, int ranks, std::vector<std::string> words)
      : Job(box, together({"-n", std::to_string(ranks), FATHOM_PROGRAM}, words)) {}
  Job(Sandbox& box, const std::vector<std::string>& words) {
    box.set("OMPI_ALLOW_RUN_AS_ROOT", "1");
    box.set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    box.set("OMPI_MCA_rmaps_base_oversubscribe", "1");
    box.set("OMPI_MCA_hwloc_base_binding_policy", "none");
    box.set("OMPI_MCA_btl_base_warn_component_unused", "0");
    child_.emplace(ChildStart{FATHOM_MPIEXEC, words, output_.get(), output_.get(), {}, {}, {}});
  }
  int wait() {
    const auto ended = supervise(*child_, inbox_, {.limit = 60s, .line = {}});
    return ended.end.signal != 0 ? -ended.end.signal : ended.end.status;
  }
  void must_end(ExitCode expected = ExitCode::ok) {
    const int status = wait();
    INFO(output());
    REQUIRE(status == to_int(expected));
  }
  std::string output() const {
    std::string text(1 << 16, '\0');
    const ssize_t n = pread(output_.get(), text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

 private:
  FileDescriptor output_{memfd_create("output", MFD_CLOEXEC)};
  SignalInbox inbox_{SignalInbox::Interrupts::act};
  std::optional<ChildProcess> child_;
};

/// Of one host.
std::map<int, std::pair<pid_t, pid_t>> wait_for_ranks(const Sandbox& box, int count) {
  std::vector<std::string> gpus;
  for (int gpu = 0; gpu < count; ++gpu) gpus.push_back("box-" + std::to_string(gpu));
  return fathom::wait_for_ranks(box, gpus);
}

TEST_CASE("Ranks of MPI measure one GPU each, and rank 0 reports", "[e2e][fleet][mpi]") {
  Sandbox box({"first", "second"});
  box.set("FAKE_GPUS", "4");
  Job job(box, 4, fleet_run(box));
  job.must_end();
  const json fleet = fleet_of(box.out());
  REQUIRE(fleet.at("gpus").size() == 4);
  for (int gpu = 0; gpu < 4; ++gpu) {
    CHECK(status_of(fleet, gpu) == "complete");
    CHECK(gpu_of(fleet, gpu)->at("rank") == gpu);
    const auto summary =
        json::parse(read_text(box.out() / "gpus" / ("box-" + std::to_string(gpu)) / "gpu.json"));
    CHECK(summary.at("metrics").at("alone").at(1) == 1e-6);
    CHECK(summary.at("metrics").at("together").at(1) == 1e-6);
  }
  CHECK(counting(box.out(), 4) == std::vector{true, false, false, false});
  CHECK(counting(box.out(), 4, "second") == std::vector{false, true, false, false});
  CHECK(counters_of(box.out(), 4) ==
        std::vector<std::vector<std::string>>{{"first"}, {"second"}, {}, {}});
}

/// mpirun's words for one rank a shell script: `script` ends with what to start as "$@".
std::vector<std::string> scripted(const std::vector<std::string>& run,
                                  const std::vector<std::string>& scripts) {
  std::vector<std::string> words;
  for (const std::string& script : scripts) {
    if (!words.empty()) words.push_back(":");
    words = together(words, {"-n", "1", "/bin/sh", "-c", script, "sh", FATHOM_PROGRAM});
    words = together(words, run);
  }
  return words;
}

TEST_CASE("Counters are shared among the ranks that have a GPU", "[e2e][fleet][mpi]") {
  Sandbox box({"first", "second", "third"});
  box.set("FAKE_GPUS", "2");
  const auto on = [](const char* gpu) {
    return std::string("CUDA_VISIBLE_DEVICES=") + gpu + " exec \"$@\"";
  };
  Job job(box,
          scripted(fleet_run(box, {"--alone", "none"}), {on("GPU-0"), on("GPU-0"), on("GPU-1")}));
  job.must_end(ExitCode::incomplete);  // of the one in the middle
  CHECK(counters_of(box.out(), 3) ==
        std::vector<std::vector<std::string>>{{"first", "third"}, {}, {"second"}});
  CHECK(gpu_of(fleet_of(box.out()), 1)->at("no_counters") == "");
}

TEST_CASE("A rank asks for its GPUs while MPI starts", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  box.set("FAKE_ASKED", box.folder() / "asked");
  box.set("SEEN", box.folder() / "seen");
  // MPI_Init of the first one waits for the second, which comes once it has seen the question.
  const std::string late =
      "for i in $(seq 200); do [ -e \"$FAKE_ASKED\" ] && break; sleep 0.05; done; "
      "[ -e \"$FAKE_ASKED\" ] && : > \"$SEEN\"; exec \"$@\"";
  Job job(box, scripted(fleet_run(box, {"--alone", "none"}), {"exec \"$@\"", late}));
  job.must_end();
  CHECK(fs::exists(box.folder() / "seen"));
}

TEST_CASE("Ranks take their turns alone", "[e2e][fleet][mpi]") {
  Sandbox box({"links", "copy_bandwidth"});
  box.set("FAKE_GPUS", "3");
  Job job(box, 3, fleet_run(box, {"--alone", "brief"}));
  job.must_end();
  check_turns(box.out(), 3, "links");
  check_turns(box.out(), 3, "copy_bandwidth");
}

TEST_CASE("A rank that cannot write its documents says so to rank 0", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  fs::create_directories(box.out() / "gpus");
  write_text(box.out() / "gpus" / "box-1", "a file where a folder should be");
  Job job(box, 2, fleet_run(box));
  job.must_end(ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  REQUIRE(fleet.at("gpus").size() == 1);
  CHECK(status_of(fleet, 0) == "complete");
  REQUIRE(fleet.at("problems").size() == 1);
  CHECK(fleet.at("problems").at(0).at("what") == "rank 1");
  CHECK(fleet.at("problems").at(0).at("exit_code") == to_int(ExitCode::output_unwritable));
}

TEST_CASE("Two jobs of ranks do not share a folder", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  fs::create_directories(box.out());
  const FileDescriptor other(open((box.out() / ".lock").c_str(), O_RDWR | O_CREAT, 0644));
  REQUIRE(flock(other.get(), LOCK_EX | LOCK_NB) == 0);
  Job job(box, 2, fleet_run(box));
  job.must_end(ExitCode::gpu_busy);
  CHECK_THAT(job.output(), ContainsSubstring("Another job of ranks"));
  CHECK_FALSE(fs::exists(box.out() / "gpus"));
}

TEST_CASE("Where a rank is lost while they come together, the others say so", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  box.set("LD_PRELOAD", FATHOM_LOST_RANK);
  Job job(box, 2, fleet_run(box));
  job.must_end(ExitCode::setup_incomplete);
  CHECK_THAT(job.output(), ContainsSubstring("A rank was lost before all had come together"));
}

TEST_CASE("Ranks that MPI does not know of are no ranks", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  // As srun without --mpi, or another MPI's mpirun, starts them.
  box.set("SLURM_PROCID", "0");
  box.set("SLURM_STEP_NUM_TASKS", "4");
  const auto run = box.fathom(fleet_run(box));
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::setup_incomplete));
  CHECK_THAT(run.errors, ContainsSubstring("Slurm started 4 ranks, and MPI knows of 1"));
  CHECK_FALSE(fs::exists(box.out() / "fleet.json"));
}

TEST_CASE("Ranks that share no storage are told, and measure nothing", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  // What rank 0 has written is not there for the second.
  const std::string note = (box.out() / "ranks" / "0.note").string();
  const std::string blind =
      "while [ ! -e '" + note + "' ]; do sleep 0.05; done; rm '" + note + "'; exec \"$@\"";
  Job job(box, scripted(fleet_run(box), {"exec \"$@\"", blind}));
  job.must_end(ExitCode::setup_incomplete);
  CHECK_THAT(job.output(), ContainsSubstring("does not see what rank 0 wrote into"));
}

TEST_CASE("Ranks without --out take the folder of rank 0", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  auto words = fleet_run(box);
  words.erase(words.begin() + 2, words.begin() + 4);
  const std::string later = "sleep 1.1; exec \"$@\"";
  Job job(box, scripted(words, {"cd '" + box.folder().string() + "'; exec \"$@\"", later}));
  job.must_end();
  std::vector<fs::path> made;
  for (const auto& entry : fs::directory_iterator(box.folder()))
    if (entry.path().filename().string().starts_with("fathom-fleet-")) made.push_back(entry);
  REQUIRE(made.size() == 1);
  CHECK(fleet_of(made.front()).at("gpus").size() == 2);
}

TEST_CASE("Fewer ranks than before report no more than themselves", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "3");
  REQUIRE(Job(box, 3, fleet_run(box, {"--alone", "none"})).wait() == 0);
  Job job(box, 2, fleet_run(box, {"--alone", "none"}));
  job.must_end();
  const json fleet = fleet_of(box.out());
  CHECK(fleet.at("gpus").size() == 2);
  CHECK(fleet.at("gpus").at(0).at("run") == fleet.at("gpus").at(1).at("run"));
  REQUIRE(fs::exists(box.out() / "ranks" / "2.note"));
  CHECK(problems_of_notes({box.out()}).empty());
}

TEST_CASE("Ranks of MPI replay the recording without a GPU", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  Job job(box, 3, fleet_run(box, {"--replay", "--no-report"}));
  job.must_end();
  const json fleet = fleet_of(box.out());
  REQUIRE(fleet.at("gpus").size() == 3);
  CHECK(fleet.at("gpus").at(0).at("source") == "replay");
  CHECK(fleet.at("distributions").size() > 100);
  CHECK(fleet.at("named").empty());
}

TEST_CASE("A rank killed in the middle takes nobody with it", "[e2e][fleet][mpi]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "4");
  const Gate gate(box);
  Job job(box, 4, fleet_run(box, {"--alone", "none"}));
  const auto ranks = wait_for_ranks(box, 4);
  INFO(job.output());
  REQUIRE(ranks.size() == 4);
  REQUIRE(kill(ranks.at(2).first, SIGKILL) == 0);
  gate.open();
  job.must_end(ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  for (const int gpu : {0, 1, 3}) CHECK(status_of(fleet, gpu) == "complete");
  CHECK(status_of(fleet, 2) == "failed");
  const auto told = [&] {
    const json problems = fleet_of(box.out()).at("problems");
    REQUIRE(problems.size() == 1);  // one death, one row
    CHECK(problems.at(0).at("what") == "box GPU 2");
    CHECK_THAT(problems.at(0).at("reason").get<std::string>(),
               ContainsSubstring("rank 2") && ContainsSubstring("SIGKILL"));
  };
  told();
  CHECK_THAT(read_text(box.out() / "report" / "README.md"), ContainsSubstring("rank 2"));
  box.fathom({"fleet", "collect", box.out().string()});  // by the note that it left
  told();
}

TEST_CASE("Of a rank that hangs, rank 0 waits no longer than it was told", "[e2e][fleet][mpi]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "3");
  const Gate gate(box);
  Job job(box, 3, fleet_run(box, {"--alone", "none", "--wait", "2"}));
  const auto ranks = wait_for_ranks(box, 3);
  INFO(job.output());
  REQUIRE(ranks.size() == 3);
  REQUIRE(kill(ranks.at(1).first, SIGSTOP) == 0);
  gate.open();
  job.must_end(ExitCode::incomplete);
  kill(ranks.at(1).first, SIGKILL);
  const json fleet = fleet_of(box.out());
  for (const int gpu : {0, 2}) CHECK(status_of(fleet, gpu) == "complete");
  CHECK(std::ranges::any_of(fleet.at("problems"), [](const json& problem) {
    return problem.at("what") == "box GPU 1" &&
           problem.at("reason").get<std::string>().find("--wait") != std::string::npos;
  }));
}

TEST_CASE("If rank 0's measurement dies, it reports what the others found", "[e2e][fleet][mpi]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "3");
  const Gate gate(box);
  Job job(box, 3, fleet_run(box, {"--alone", "none"}));
  const auto ranks = wait_for_ranks(box, 3);
  REQUIRE(ranks.size() == 3);
  REQUIRE(kill(ranks.at(0).first, SIGKILL) == 0);
  gate.open();
  job.must_end(ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 0) == "failed");
  CHECK_THAT(gpu_of(fleet, 0)->at("reason").get<std::string>(),
             ContainsSubstring("rank 0") && ContainsSubstring("SIGKILL"));
  for (const int gpu : {1, 2}) CHECK(status_of(fleet, gpu) == "complete");
}

TEST_CASE("A job that mpirun ends costs no more than what was not written yet",
          "[e2e][fleet][mpi]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "3");
  const Gate gate(box);
  Job job(box, 3, fleet_run(box));
  for (int gpu = 0; gpu < 3; ++gpu) {  // one after the other
    const std::string name = "box-" + std::to_string(gpu);
    REQUIRE(wait_for_text(box.out() / "gpus" / name / "alone" / "logs" / "lasting.log", "log of"));
    gate.open();
    REQUIRE(wait_for_text(box.out() / "gpus" / name / "gpu.json", "lasting/case"));
    gate.close();
  }
  const auto ranks = wait_for_ranks(box, 3);  // the suite together: alone is done
  REQUIRE(ranks.size() == 3);
  REQUIRE(kill(ranks.at(2).second, SIGKILL) == 0);
  gate.open();
  job.wait();
  INFO(job.output());
  box.fathom({"fleet", "collect", box.out().string()});
  for (int gpu = 0; gpu < 3; ++gpu) {
    const auto summary =
        json::parse(read_text(box.out() / "gpus" / ("box-" + std::to_string(gpu)) / "gpu.json"));
    CHECK(summary.at("metrics").at("alone").at(0) == 1e-6);
  }
  // The one that died had no time to say so.
  const json fleet = fleet_of(box.out());
  CHECK_THAT(gpu_of(fleet, 2)->at("reason").get<std::string>(),
             ContainsSubstring("rank 2, on box: it ended before it had measured"));
}

TEST_CASE("More ranks than GPUs: those without one say so", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  Job job(box, 3, fleet_run(box));
  job.must_end(ExitCode::incomplete);
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 0) == "complete");
  CHECK(status_of(fleet, 1) == "complete");
  CHECK_THAT(gpu_of(fleet, 2)->at("reason").get<std::string>(),
             ContainsSubstring("no GPU is left"));
}

}  // namespace
}  // namespace fathom

#endif
