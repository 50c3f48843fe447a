#include "slurm_cluster.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::array nodes{"n1", "n2"};
/// The first of a block's ports is held, Slurm's daemons have the next ones, Open MPI the others.
constexpr int gpus_per_node = 2, ports_each = 50, daemons = 1 + nodes.size();

/// The daemons may lie where a user's PATH does not look.
std::optional<fs::path> find(const std::string& program) {
  for (const char* folder : {"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"})
    if (const fs::path path = fs::path(folder) / program; fs::exists(path)) return path;
  return std::nullopt;
}

std::string own_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string host = name.data();
  return host.substr(0, host.find('.'));
}

/// A socket with this number; without a descriptor if somebody else has it.
FileDescriptor socket_at(int port) {
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return FileDescriptor();
  return made;
}

/// What a command of Slurm's says; nothing where it fails.
std::string answer(const std::string& command) {
  const auto run = run_and_capture("/bin/sh", {"-c", command}, 20s);
  return code(run) == 0 ? run.output : "";
}

}  // namespace

std::string why_no_slurm() {
  for (const char* program : {"slurmctld", "slurmd", "srun", "sbatch", "scontrol"})
    if (!find(program))
      return fmt::format("there is no {} (Debian: slurmctld, slurmd, slurm-client)", program);
  return "";
}

SlurmCluster::SlurmCluster(Sandbox& box)
    : box_(box),
      folder_(box.folder() / "slurm"),
      output_(open((box.folder() / "slurm.log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  take_ports();
  configure();
  box_.set("SLURM_CONF", folder_ / "slurm.conf");
  // Two nodes of one machine would take one file in /dev/shm for the shared memory of each.
  box_.set("OMPI_MCA_btl", "tcp,self");
  box_.set("OMPI_MCA_btl_tcp_if_include", "lo");
  // With PMIx's store in shared memory a rank ends in MPI_Init now and then, under load
  // (docs/fleet/details.md).
  box_.set("PMIX_MCA_gds", "hash");
  box_.set("OMPI_MCA_btl_tcp_port_min_v4", std::to_string(first_port_ + 1 + daemons));
  box_.set("OMPI_MCA_btl_tcp_port_range_v4", std::to_string(ports_each - 1 - daemons));
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

SlurmCluster::~SlurmCluster() {
  answer("scancel --signal=KILL --partition=all; scancel --full --signal=KILL --partition=all");
  for (int i = 0; i < 100 && !answer("squeue -h").empty(); ++i) std::this_thread::sleep_for(100ms);
}

std::string SlurmCluster::log() const { return read_text(box_.folder() / "slurm.log"); }

void SlurmCluster::take_ports() {
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

void SlurmCluster::configure() const {
  fs::create_directories(folder_ / "state");
  for (const char* node : nodes) fs::create_directories(folder_ / "tmp" / node);
  for (int gpu = 0; gpu < gpus_per_node; ++gpu) write_text(folder_ / fmt::format("gpu{}", gpu), "");
  write_text(folder_ / "gres.conf",
             fmt::format("Name=gpu File={}/gpu[0-{}]\n", folder_.string(), gpus_per_node - 1));
  const fs::path prolog = folder_ / "prolog";
  write_text(prolog, "#!/bin/sh\necho \"export CUDA_VISIBLE_DEVICES=GPU-$SLURM_PROCID\"\n");
  fs::permissions(prolog, fs::perms::owner_all);
  const passwd* user = getpwuid(geteuid());
  REQUIRE(user != nullptr);
  std::string conf = fmt::format(
      "ClusterName=fathom\n"
      "SlurmctldHost={host}(127.0.0.1)\n"
      "SlurmctldPort={port}\n"
      "FirstJobId={first_job}\n"
      "SlurmUser={user}\n"
      "SlurmdUser={user}\n"
      "AuthType=auth/none\n"
      "CredType=cred/none\n"
      "StateSaveLocation={folder}/state\n"
      "SlurmdSpoolDir={folder}/%n\n"
      "SlurmctldPidFile={folder}/slurmctld.pid\n"
      "SlurmdPidFile={folder}/%n.pid\n"
      "TmpFS={folder}/tmp/%n\n"
      "TaskProlog={folder}/prolog\n"
      "GresTypes=gpu\n"
      "ProctrackType=proctrack/linuxproc\n"
      "TaskPlugin=task/none\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_CPU\n"
      "SlurmdParameters=config_overrides\n"
      "SwitchType=switch/none\n"
      "MailProg=/bin/true\n"
      "SlurmctldDebug=error\n"
      "SlurmdDebug=error\n"
      "KillWait=2\n"
      "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0\n",
      fmt::arg("host", own_host()), fmt::arg("port", first_port_ + 1),
      fmt::arg("first_job", first_port_), fmt::arg("user", user->pw_name),
      fmt::arg("folder", folder_.string()));
  for (int port = first_port_ + 2; const char* node : nodes)
    conf += fmt::format(
        "NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={} Gres=gpu:{} CPUs=4 State=UNKNOWN\n",
        node, own_host(), port++, gpus_per_node);
  write_text(folder_ / "slurm.conf", conf + "PartitionName=all Nodes=ALL Default=YES State=UP\n");
}

void SlurmCluster::start(const std::string& program, std::vector<std::string> words) {
  words.insert(words.end(), {"-f", (folder_ / "slurm.conf").string()});
  daemons_.push_back(std::make_unique<ChildProcess>(
      ChildStart{*find(program), words, output_.get(), output_.get()}));
}

}  // namespace fathom
