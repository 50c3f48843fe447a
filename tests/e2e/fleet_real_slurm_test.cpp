// `fathom fleet run` under a Slurm of its own, whose two nodes are this machine: by srun alone, and
// by docs/fleet/slurm.sh as sbatch runs it.

#ifdef FATHOM_MPIEXEC

#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>

#include "fleet_run.h"

namespace fathom {
namespace {

/// Where a program of Slurm's lies; the daemons may lie where a user's PATH does not look.
fs::path slurm_program(const std::string& program) {
  for (const char* folder : {"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"})
    if (const fs::path path = fs::path(folder) / program; fs::exists(path)) return path;
  return "";
}

/// A Slurm whose nodes n1, n2 are this machine, with two GPUs each as far as Slurm knows, and for
/// each task a fake GPU of its own. It needs no other user than this one, no munge and no port that
/// is not free, and leaves with its jobs.
class SlurmCluster {
 public:
  /// Fails the test where it does not come up.
  explicit SlurmCluster(Sandbox& box)
      : box_(box),
        folder_(box.folder() / "slurm"),
        output_(open((box.folder() / "slurm.log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    take_ports();
    configure();
    box.set("SLURM_CONF", folder_ / "slurm.conf");
    // Two nodes of one machine would take one file in /dev/shm for the shared memory of each.
    box.set("OMPI_MCA_btl", "tcp,self");
    box.set("OMPI_MCA_btl_tcp_if_include", "lo");
    // With PMIx's store in shared memory a rank ends in MPI_Init now and then, under load
    // (docs/fleet.md).
    box.set("PMIX_MCA_gds", "hash");
    box.set("OMPI_MCA_btl_tcp_port_min_v4", std::to_string(first_port_ + 1 + daemons));
    box.set("OMPI_MCA_btl_tcp_port_range_v4", std::to_string(ports_each - 1 - daemons));
    start("slurmctld", {"-D"});
    for (const char* node : nodes) start("slurmd", {"-D", "-N", node});
    std::string states;
    for (int i = 0; i < 200 && states != "idle\nidle\n"; ++i) {
      std::this_thread::sleep_for(50ms);
      states = answer("sinfo -h -N -o %T");
    }
    INFO(log());
    REQUIRE(states == "idle\nidle\n");
  }
  ~SlurmCluster() {
    answer("scancel --signal=KILL --partition=all; scancel --full --signal=KILL --partition=all");
    for (int i = 0; i < 100 && !answer("squeue -h").empty(); ++i)
      std::this_thread::sleep_for(100ms);
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  std::string log() const { return file_text(box_.folder() / "slurm.log"); }

 private:
  static constexpr std::array nodes{"n1", "n2"};
  /// The first of a block's ports is held, Slurm's daemons have the next ones, Open MPI the others.
  static constexpr int gpus_per_node = 2, ports_each = 50, daemons = 1 + nodes.size();

  /// A socket with this number; without a descriptor if somebody else has it.
  static FileDescriptor socket_at(int port) {
    FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    const auto* any = reinterpret_cast<sockaddr*>(&address);
    return bind(made.get(), any, sizeof address) == 0 ? std::move(made) : FileDescriptor();
  }

  /// What a command of Slurm's says; nothing where it fails.
  static std::string answer(const std::string& command) {
    const auto run = run_and_capture("/bin/sh", {"-c", command}, 20s);
    return code(run) == 0 ? run.output : "";
  }

  void take_ports() {
    // Below those that the kernel gives to connections.
    constexpr int lowest = 10'000, blocks = 400;
    bool all_free = false;
    for (int i = 0; i < blocks && !all_free; ++i) {
      first_port_ = lowest + ports_each * ((getpid() + i) % blocks);
      held_ = socket_at(first_port_);
      all_free = held_.get() >= 0;
      for (int port = 1; port <= daemons; ++port)
        all_free = all_free && socket_at(first_port_ + port).get() >= 0;
    }
    REQUIRE(held_.get() >= 0);
    REQUIRE(listen(held_.get(), 1) == 0);
  }

  void configure() const {
    fs::create_directories(folder_ / "state");
    for (const char* node : nodes) fs::create_directories(folder_ / "tmp" / node);
    for (int gpu = 0; gpu < gpus_per_node; ++gpu)
      write_text(folder_ / fmt::format("gpu{}", gpu), "");
    write_text(folder_ / "gres.conf",
               fmt::format("Name=gpu File={}/gpu[0-{}]\n", folder_.string(), gpus_per_node - 1));
    const fs::path prolog = folder_ / "prolog";
    write_text(prolog, "#!/bin/sh\necho \"export CUDA_VISIBLE_DEVICES=GPU-$SLURM_PROCID\"\n");
    fs::permissions(prolog, fs::perms::owner_all);
    const passwd* user = getpwuid(geteuid());
    REQUIRE(user != nullptr);
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::string whole_name = name.data(), host = whole_name.substr(0, whole_name.find('.'));
    std::string conf =
        fmt::format(R"(ClusterName=fathom
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
FirstJobId={first_job}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
TmpFS={folder}/tmp/%n
TaskProlog={folder}/prolog
GresTypes=gpu
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SwitchType=switch/none
MailProg=/bin/true
SlurmctldDebug=error
SlurmdDebug=error
KillWait=2
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
)",
                    fmt::arg("host", host), fmt::arg("port", first_port_ + 1),
                    fmt::arg("first_job", first_port_), fmt::arg("user", user->pw_name),
                    fmt::arg("folder", folder_.string()));
    for (int port = first_port_ + 2; const char* node : nodes)
      conf += fmt::format(
          "NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={} Gres=gpu:{} CPUs=4 "
          "State=UNKNOWN\n",
          node, host, port++, gpus_per_node);
    write_text(folder_ / "slurm.conf", conf + "PartitionName=all Nodes=ALL Default=YES State=UP\n");
  }

  void start(const std::string& program, std::vector<std::string> words) {
    words.insert(words.end(), {"-f", (folder_ / "slurm.conf").string()});
    daemons_.push_back(std::make_unique<ChildProcess>(
        ChildStart{slurm_program(program), words, output_.get(), output_.get()}));
  }

  Sandbox& box_;
  fs::path folder_;
  FileDescriptor output_;
  /// The first port of a block that no other test has. It is held as long as this lives, and is the
  /// number of the first job: Open MPI names ranks by that number, and takes whoever calls by such
  /// a name for one of its own.
  int first_port_ = 0;
  FileDescriptor held_;
  std::vector<std::unique_ptr<ChildProcess>> daemons_;
};

/// One rank a GPU of both nodes.
class SlurmJob {
 public:
  SlurmJob() {
    for (const char* program : {"slurmctld", "slurmd", "srun", "sbatch", "scontrol"})
      if (slurm_program(program).empty())
        SKIP("there is no " << program << " (Debian: slurmctld, slurmd, slurm-client)");
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
        " " FATHOM_SOURCE_DIR
        "/docs/fleet/slurm.sh"
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
  has(job.box.report(), itself ? "rank 2" : "SIGKILL");
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
  CHECK_FALSE(job.box.report().empty());
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
