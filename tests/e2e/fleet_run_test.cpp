// `fathom fleet run` from outside: all GPUs of one host, real MPI with several ranks, and ranks
// that die, hang or have no GPU. What the others found is kept.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "results/error.h"
#include "sandbox.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using namespace std::chrono_literals;

json fleet_of(const fs::path& out) { return json::parse(read_text(out / "fleet.json")); }

const json* gpu_of(const json& fleet, int number) {
  for (const json& gpu : fleet.at("gpus"))
    if (gpu.at("gpu") == number) return &gpu;
  return nullptr;
}

std::string status_of(const json& fleet, int number) {
  const json* gpu = gpu_of(fleet, number);
  return gpu ? gpu->at("status").get<std::string>() : "not there";
}

std::vector<std::string> fleet_run(const Sandbox& box, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"fleet", "run", "--out", box.out().string(), "--no-links"};
  const auto unless_given = [&](const char* flag, const char* value) {
    if (std::ranges::find(more, flag) == more.end()) words.insert(words.end(), {flag, value});
  };
  unless_given("--suite", "quick");
  unless_given("--alone", "full");
  unless_given("--host-name", "box");
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("One process measures all GPUs of a host, alone and together", "[e2e][fleet]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "3");
  const auto run = box.fathom(fleet_run(box));
  INFO(run.output << run.errors);
  REQUIRE(code(run) == 0);
  const json fleet = fleet_of(box.out());
  REQUIRE(fleet.at("gpus").size() == 3);
  for (int gpu = 0; gpu < 3; ++gpu) CHECK(status_of(fleet, gpu) == "complete");
  const json summary = json::parse(read_text(box.out() / "gpus" / "box-2" / "gpu.json"));
  const json& metrics = summary.at("metrics");
  REQUIRE(metrics.at("name").size() == 2);
  CHECK(metrics.at("alone").at(0) == 1e-6);
  CHECK(metrics.at("together").at(0) == 1e-6);
  CHECK(summary.at("uuid_hash") == "0123456789abcde2");
  CHECK(gpu_of(fleet, 1)->at("health").at("pcie_width") == 8);
  CHECK(fs::exists(box.out() / "gpus" / "box-1" / "suite" / "result.json"));
  const std::string page = read_text(box.out() / "report" / "README.md");
  CHECK_THAT(page, ContainsSubstring("Alone and together"));
  CHECK_THAT(read_text(box.out() / "report" / "host-box.md"), ContainsSubstring("x8"));
}

/// "began 123" of a held fake's log.
long long time_in(const fs::path& log, const std::string& what) {
  const std::string text = read_text(log);
  const auto at = text.find(what + " ");
  return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + what.size() + 1);
}

/// In turn, none while another measures, and all of them ready before the first of all does.
void check_turns(const fs::path& out, int gpus, const std::string& probe) {
  const auto at = [&](int gpu, const char* part, const char* what) {
    return time_in(out / "gpus" / ("box-" + std::to_string(gpu)) / part / (probe + ".log"), what);
  };
  for (int gpu = 0; gpu < gpus; ++gpu) {
    CAPTURE(gpu, probe);
    CHECK(at(gpu, "alone", "ready") > 0);
    CHECK(at(gpu, "alone", "ready") <
          time_in(out / "gpus" / "box-0" / "alone" / "links.log", "began"));
    if (gpu > 0) CHECK(at(gpu - 1, "alone", "ended") < at(gpu, "alone", "began"));
  }
}

TEST_CASE("Alone is in turn, all made ready before", "[e2e][fleet]") {
  Sandbox box({"links", "copy_bandwidth", "atlas_first"});
  box.set("FAKE_GPUS", "3");
  // The fakes are of the group core, which holds what together needs; of another suite it is run.
  const auto run = box.fathom(fleet_run(box, {"--alone", "brief", "--suite", "atlas-quick"}));
  INFO(run.output << run.errors);
  REQUIRE(code(run) == 0);
  check_turns(box.out(), 3, "links");
  check_turns(box.out(), 3, "copy_bandwidth");
  const fs::path gpus = box.out() / "gpus";
  // Together all begin before any ends.
  for (int gpu = 0; gpu < 3; ++gpu)
    CHECK(time_in(gpus / "box-0" / "together" / "links.log", "ended") >
          time_in(gpus / ("box-" + std::to_string(gpu)) / "together" / "links.log", "began"));
  const json metrics = json::parse(read_text(gpus / "box-2" / "gpu.json")).at("metrics");
  REQUIRE(metrics.at("name").size() == 6);  // two cases each of the brief ones and the suite's
  CHECK(metrics.at("alone").at(0) == 1e-6);
  CHECK(metrics.at("together").at(0) == 1e-6);
  CHECK(metrics.at("alone").at(5).is_null());
}

TEST_CASE("A short probe that dies costs what it would have measured", "[e2e][fleet]") {
  Sandbox box({"links", "first"});  // and the copy's program is not there at all
  box.set("FAKE_GPUS", "2");
  const auto run = box.fathom(fleet_run(box, {"--alone", "brief"}));
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::incomplete));
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 1) == "partial");
  CHECK_THAT(gpu_of(fleet, 1)->at("reason").get<std::string>(),
             ContainsSubstring("probe_copy_bandwidth"));
  const json metrics =
      json::parse(read_text(box.out() / "gpus" / "box-1" / "gpu.json")).at("metrics");
  CHECK(metrics.at("alone").at(0) == 1e-6);
}

TEST_CASE("A GPU whose probe crashes costs its own figures only", "[e2e][fleet]") {
  Sandbox box({"first", "sometimes"});
  box.set("FAKE_GPUS", "2");
  box.set("FAKE_BAD_GPU", "1");
  const auto run = box.fathom(fleet_run(box, {"--alone", "none"}));
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::incomplete));
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 0) == "complete");
  CHECK(status_of(fleet, 1) == "partial");
  CHECK_THAT(gpu_of(fleet, 1)->at("reason").get<std::string>(), ContainsSubstring("SIGSEGV"));
}

TEST_CASE("Missing permission for counters is told and fails nothing", "[e2e][fleet]") {
  Sandbox box({"counters"});
  box.set("FAKE_GPUS", "2");
  const auto run = box.fathom(fleet_run(box));
  INFO(run.output << run.errors);
  CHECK(code(run) == 0);
  CHECK_THAT(gpu_of(fleet_of(box.out()), 0)->at("reason").get<std::string>(),
             ContainsSubstring("counters are not permitted"));
}

/// Of a fake probe in the suite of each GPU: whether it was to collect counters. Alone it never is.
std::vector<bool> counting(const fs::path& out, int gpus) {
  std::vector<bool> all;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const fs::path folder = out / "gpus" / ("box-" + std::to_string(gpu));
    const auto of = [&](const char* part) {
      const std::string log = read_text(folder / part / "logs" / "first.log");
      REQUIRE_THAT(log, ContainsSubstring("log of first"));
      const bool counts = log.find("flag --no-counters") == std::string::npos;
      CHECK((log.find("timed only") == std::string::npos) == counts);
      return counts;
    };
    if (fs::exists(folder / "alone")) CHECK_FALSE(of("alone"));
    all.push_back(of("suite"));
  }
  return all;
}

TEST_CASE("One GPU of a host collects counters, unless all or none are to", "[e2e][fleet]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "3");
  const auto gpus_counting = [&](std::vector<std::string> more) {
    const auto run = box.fathom(fleet_run(box, std::move(more)));
    INFO(run.output << run.errors);
    REQUIRE(code(run) == 0);
    return counting(box.out(), 3);
  };
  CHECK(gpus_counting({}) == std::vector{true, false, false});
  const json fleet = fleet_of(box.out());
  CHECK(gpu_of(fleet, 0)->at("no_counters") == "");
  CHECK(gpu_of(fleet, 2)->at("no_counters") ==
        "its host's first GPU collects them (--counters first)");
  CHECK(fleet.at("problems").empty());
  CHECK_THAT(read_text(box.out() / "report" / "README.md"),
             ContainsSubstring("No hardware counters on 2 of 3 GPUs (its host's first GPU collects "
                               "them (--counters first)): box GPU 1, box GPU 2."));
  CHECK(gpus_counting({"--counters", "all"}) == std::vector(3, true));
  CHECK_THAT(read_text(box.out() / "report" / "README.md"),
             !ContainsSubstring("No hardware counters"));
  CHECK(gpus_counting({"--no-counters"}) == std::vector(3, false));
  CHECK_THAT(read_text(box.out() / "report" / "README.md"),
             ContainsSubstring("No hardware counters on 3 of 3 GPUs (not asked for (--counters "
                               "none)): all."));
}

TEST_CASE("A part of a fleet leaves documents and no report", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto run = box.fathom(fleet_run(box, {"--part"}));
  INFO(run.output << run.errors);
  CHECK(code(run) == 0);
  CHECK_FALSE(fs::exists(box.out() / "fleet.json"));
  const auto collected = box.fathom({"fleet", "collect", box.out().string()});
  INFO(collected.output << collected.errors);
  CHECK(code(collected) == 0);
  CHECK(fleet_of(box.out()).at("gpus").size() == 1);
}

TEST_CASE("What a fleet's run cannot do, it says in one sentence", "[e2e][fleet]") {
  Sandbox box({"first"});
  const auto refused = [&](std::vector<std::string> more, int expected) {
    const auto run = box.fathom(fleet_run(box, std::move(more)));
    INFO(run.output << run.errors);
    CHECK(code(run) == expected);
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    CHECK(run.output.empty());
  };
  const int bad = to_int(ExitCode::bad_input);
  refused({"--suite", "quikc"}, bad);
  refused({"--alone", "sometimes"}, bad);
  refused({"--gpus", "4"}, bad);
  refused({"--gpus", "0", "--replay"}, bad);
  refused({"--host-name", "../up"}, bad);
  refused({"--host-name", "two\nlines"}, bad);
  refused({"--expect-hosts", "/nowhere/hosts"}, bad);
  refused({"--time-limit", "-1"}, bad);
  refused({"--least-gap", "nan"}, bad);
  refused({"--no-such-flag"}, bad);
  refused({"stray"}, bad);
  box.set("FAKE_GPU", "none");
  refused({}, to_int(ExitCode::no_driver));
}

#ifdef FATHOM_MPIEXEC

std::vector<std::string> together(std::vector<std::string> first,
                                  const std::vector<std::string>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// mpirun's words for two ranks of one host that share no storage.
std::vector<std::string> two_disks(const Sandbox& box) {
  std::vector<std::string> words;
  for (const char* disk : {"disk0", "disk1"}) {
    fs::create_directories(box.folder() / disk);
    if (!words.empty()) words.push_back(":");
    words = together(
        words, {"-n", "1", "-wdir", (box.folder() / disk).string(), FATHOM_PROGRAM, "fleet", "run",
                "--out", "own", "--no-links", "--alone", "full", "--host-name", "box"});
  }
  return words;
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

/// Holds the probe `lasting` until it is released.
class Gate {
 public:
  explicit Gate(Sandbox& box) : file_(box.folder() / "release") { box.set("FAKE_RELEASE", file_); }
  void open() const { write_text(file_, ""); }
  void close() const { fs::remove(file_); }

 private:
  fs::path file_;
};

/// Process numbers of the MPI programs and of their supervisors, by rank.
std::map<int, std::pair<pid_t, pid_t>> ranks_in(const fs::path& out) {
  std::map<int, std::pair<pid_t, pid_t>> ranks;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string command = read_text(entry.path() / "cmdline");
    if (command.find("fathom-fleet-rank") == std::string::npos ||
        command.find(out.string()) == std::string::npos)
      continue;
    const std::string environment = read_text(entry.path() / "environ");
    // Open MPI's, or MPICH's.
    const std::string variable = environment.find("OMPI_COMM_WORLD_RANK=") != std::string::npos
                                     ? "OMPI_COMM_WORLD_RANK="
                                     : "PMI_RANK=";
    const auto at = environment.find(variable);
    const std::string status = read_text(entry.path() / "status");
    const auto parent = status.find("PPid:");
    if (at == std::string::npos || parent == std::string::npos) continue;
    ranks[std::atoi(environment.c_str() + at + variable.size())] = {
        std::atoi(entry.path().filename().c_str()), std::atoi(status.c_str() + parent + 5)};
  }
  return ranks;
}

/// Once every rank has begun to measure.
std::map<int, std::pair<pid_t, pid_t>> wait_for_ranks(const Sandbox& box, int count) {
  for (int i = 0; i < 1500; ++i) {
    int begun = 0;
    for (int gpu = 0; gpu < count; ++gpu)
      begun += read_text(box.out() / "gpus" / ("box-" + std::to_string(gpu)) / "suite" / "logs" /
                         "lasting.log")
                   .find("log of") != std::string::npos;
    if (begun == count) return ranks_in(box.out());
    std::this_thread::sleep_for(10ms);
  }
  return {};
}

TEST_CASE("Ranks of MPI measure one GPU each, and rank 0 reports", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "4");
  Job job(box, 4, fleet_run(box));
  const int status = job.wait();
  INFO(job.output());
  REQUIRE(status == 0);
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
}

TEST_CASE("Ranks take their turns alone", "[e2e][fleet][mpi]") {
  Sandbox box({"links", "copy_bandwidth"});
  box.set("FAKE_GPUS", "3");
  Job job(box, 3, fleet_run(box, {"--alone", "brief"}));
  const int status = job.wait();
  INFO(job.output());
  REQUIRE(status == 0);
  check_turns(box.out(), 3, "links");
  check_turns(box.out(), 3, "copy_bandwidth");
}

TEST_CASE("A rank that cannot write tells rank 0 so over MPI", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  fs::create_directories(box.folder() / "disk1" / "own");
  write_text(box.folder() / "disk1" / "own" / "gpus", "a file where a folder should be");
  Job job(box, two_disks(box));
  const int status = job.wait();
  INFO(job.output());
  CHECK(status == to_int(ExitCode::incomplete));
  const json fleet = fleet_of(box.folder() / "disk0" / "own");
  REQUIRE(fleet.at("gpus").size() == 1);
  CHECK(status_of(fleet, 0) == "complete");
  REQUIRE(fleet.at("problems").size() == 1);
  CHECK(fleet.at("problems").at(0).at("what") == "rank 1");
  CHECK(fleet.at("problems").at(0).at("exit_code") == to_int(ExitCode::output_unwritable));
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

TEST_CASE("Without shared storage the documents come over MPI", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  Job job(box, two_disks(box));
  const int status = job.wait();
  INFO(job.output());
  REQUIRE(status == 0);
  const fs::path out = box.folder() / "disk0" / "own";
  CHECK(fleet_of(out).at("gpus").size() == 2);
  for (const char* file : {"gpu.json", "alone/result.json", "suite/result.json"}) {
    CAPTURE(file);
    CHECK_FALSE(read_text(out / "gpus" / "box-1" / file).empty());
    CHECK(read_text(out / "gpus" / "box-1" / file) ==
          read_text(box.folder() / "disk1" / "own" / "gpus" / "box-1" / file));
  }
  CHECK_FALSE(fs::exists(box.folder() / "disk1" / "own" / "fleet.json"));
}

TEST_CASE("Ranks of MPI replay the recording without a GPU", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  Job job(box, 3, fleet_run(box, {"--replay", "--no-report"}));
  const int status = job.wait();
  INFO(job.output());
  REQUIRE(status == 0);
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
  const int status = job.wait();
  INFO(job.output());
  CHECK(status == to_int(ExitCode::incomplete));
  const json fleet = fleet_of(box.out());
  for (const int gpu : {0, 1, 3}) CHECK(status_of(fleet, gpu) == "complete");
  CHECK(status_of(fleet, 2) == "failed");
  CHECK(std::ranges::any_of(fleet.at("problems"), [](const json& problem) {
    return problem.at("what") == "rank 2" &&
           problem.at("reason").get<std::string>().find("SIGKILL") != std::string::npos;
  }));
  CHECK_THAT(read_text(box.out() / "report" / "README.md"), ContainsSubstring("rank 2"));
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
  const int status = job.wait();
  INFO(job.output());
  CHECK(status == to_int(ExitCode::incomplete));
  kill(ranks.at(1).first, SIGKILL);
  const json fleet = fleet_of(box.out());
  for (const int gpu : {0, 2}) CHECK(status_of(fleet, gpu) == "complete");
  CHECK(std::ranges::any_of(fleet.at("problems"), [](const json& problem) {
    return problem.at("what") == "rank 1" &&
           problem.at("reason").get<std::string>().find("--wait") != std::string::npos;
  }));
}

TEST_CASE("If rank 0 dies, what the others found can be collected", "[e2e][fleet][mpi]") {
  Sandbox box({"lasting"});
  box.set("FAKE_GPUS", "3");
  const Gate gate(box);
  Job job(box, 3, fleet_run(box, {"--alone", "none"}));
  const auto ranks = wait_for_ranks(box, 3);
  REQUIRE(ranks.size() == 3);
  REQUIRE(kill(ranks.at(0).first, SIGKILL) == 0);
  gate.open();
  const int status = job.wait();
  INFO(job.output());
  CHECK(status != 0);
  CHECK_THAT(job.output(), ContainsSubstring("fleet collect"));
  const auto collected = box.fathom({"fleet", "collect", box.out().string()});
  INFO(collected.output << collected.errors);
  CHECK(code(collected) == to_int(ExitCode::incomplete));
  const json fleet = fleet_of(box.out());
  for (const int gpu : {1, 2}) CHECK(status_of(fleet, gpu) == "complete");
}

TEST_CASE("A supervisor that is killed costs no more than what was not written yet",
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
}

TEST_CASE("More ranks than GPUs: those without one say so", "[e2e][fleet][mpi]") {
  Sandbox box({"first"});
  box.set("FAKE_GPUS", "2");
  Job job(box, 3, fleet_run(box));
  const int status = job.wait();
  INFO(job.output());
  CHECK(status == to_int(ExitCode::incomplete));
  const json fleet = fleet_of(box.out());
  CHECK(status_of(fleet, 0) == "complete");
  CHECK(status_of(fleet, 1) == "complete");
  CHECK_THAT(gpu_of(fleet, 2)->at("reason").get<std::string>(),
             ContainsSubstring("no GPU is left"));
}

#endif

}  // namespace
}  // namespace fathom
