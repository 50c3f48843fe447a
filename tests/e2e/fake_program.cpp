// Stands in for `fathom-device` and for probe programs, so that the `fathom` command can be driven
// through every bad day without a GPU. What it does follows from the name it is started under.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "results/document_io.h"
#include "results/files.h"
#include "results/text.h"

namespace {

using fathom::ExitCode, fathom::ProbeStatus, fathom::fail;
using nlohmann::ordered_json;

/// An environment variable.
std::string env(const char* name, const char* otherwise = "") {
  const char* set = std::getenv(name);
  return set ? set : otherwise;
}

/// The hash of a GPU, "GPU-2"; of the one that this process sees alone, or the first where it sees
/// all.
std::string uuid_hash(const std::string& gpu = env("CUDA_VISIBLE_DEVICES", "GPU-0")) {
  return "0123456789abcde" + (gpu == "GPU-0" ? "f" : gpu.substr(4));
}

/// FAKE_GPUS of them; of those that CUDA_VISIBLE_DEVICES names, that one.
ordered_json visible_gpus() {
  const std::string visible = env("CUDA_VISIBLE_DEVICES");
  ordered_json gpus = ordered_json::array();
  for (int i = 0; i < std::stoi(env("FAKE_GPUS", "1")); ++i) {
    const std::string name = "GPU-" + std::to_string(i);
    if (!visible.empty() && name != visible) continue;
    gpus.push_back({{"ordinal", gpus.size()},
                    {"name", "NVIDIA Fake 100"},
                    {"uuid", name},
                    {"uuid_hash", uuid_hash(name)},
                    {"pci_bus_id", "0000:00:00.0"},
                    {"health",
                     {{"pcie_generation", 5},
                      {"pcie_width", i == 1 ? 8 : 16},
                      {"uncorrected_ecc_errors", 0},
                      {"remapped_rows", nullptr},
                      {"remapping_failed", false},
                      {"remapping_pending", false},
                      {"processes", 0},
                      {"application_sm_clock_hz", nullptr}}}});
  }
  return gpus;
}

using Flags = std::map<std::string, std::string>;

/// "--out FILE --no-counters --benchmark_filter=x" as name and value.
Flags parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (const auto equals = word.find('='); equals != std::string::npos)
      flags[word.substr(0, equals)] = word.substr(equals + 1);
    else if (i + 1 < argc && argv[i + 1][0] != '-')
      flags[word] = argv[++i];
    else
      flags[word] = "";
  }
  return flags;
}

fathom::Fingerprint fingerprint() {
  fathom::Fingerprint print;
  print.gpu_name = "NVIDIA Fake 100";
  print.gpu_uuid_hash = uuid_hash();
  print.memory_bytes = std::stoll(env("FAKE_MEMORY_GIB", "140")) << 30;
  return print;
}

int device_program(const Flags& flags) {
  const std::string gpu = env("FAKE_GPU", "present");
  if (gpu == "hang") pause();
  if (flags.contains("--doctor")) {
    const bool fine = gpu == "present";
    const ordered_json check{{"id", "driver"},
                             {"status", fine ? "ok" : "fail"},
                             {"gpu", nullptr},
                             {"what", "NVIDIA driver"},
                             {"detail", fine ? "580.0" : "not there"},
                             {"what_to_do", fine ? "" : "Install it."}};
    std::cout << ordered_json{{"checks", ordered_json::array({check})}};
    return 0;
  }
  if (gpu == "none") fail(ExitCode::no_driver, "There is no NVIDIA driver: install it.");
  if (gpu == "old") fail(ExitCode::driver_too_old, "The driver is too old: update it.");
  if (gpu == "lost") fail(ExitCode::gpu_lost, "The GPU is lost: reset it.");
  if (const auto device = flags.find("--device"); device != flags.end() && device->second > "1")
    fail(ExitCode::bad_input, "There is no GPU {}.", device->second);
  if (flags.contains("--gpus")) {
    if (const std::string asked = env("FAKE_ASKED"); !asked.empty()) std::ofstream(asked).flush();
    std::cout << ordered_json{{"gpus", visible_gpus()}};
    return 0;
  }
  if (gpu == "exclusive") fail(ExitCode::gpu_busy, "A process holds the GPU: end it.");
  if (gpu == "strange") {
    std::cout << R"({"fingerprint": {"gpu_name": 7}})";
    return 0;
  }
  std::cout << ordered_json{{"fingerprint", fathom::to_json(fingerprint())}};
  return 0;
}

class FakeProbe {
 public:
  FakeProbe(std::string name, const Flags& flags) : name_(std::move(name)), flags_(flags) {
    document_.date = "2026-01-31T12:00:00Z";
    document_.executable = "probe_" + name_;
    document_.fathom_version = "0.0.0";
    document_.fathom_commit = "unknown";
    document_.suite = flags.at("--suite");
    document_.seed = flags.contains("--seed") ? flags.at("--seed") : "1";
    document_.num_cpus = 1;
    document_.google_benchmark_version = "1.7.1";
    document_.fingerprint = fingerprint();
    fathom::ProbeSummary& summary = document_.probes.emplace_back();
    summary.name = name_;
    summary.question = "What does " + name_ + " do?";
    summary.method = "It pretends.";
    fathom::Claim& claim = document_.claims.emplace_back();
    claim.id = "F-" + name_;
    claim.statement = "A fake measures nothing";
    claim.probe = name_;
  }

  /// Two cases.
  void measure() {
    for (int i = 0; i < 2; ++i) {
      report(i);
      fathom::Entry& entry = document_.entries.emplace_back();
      entry.name = fmt::format("{}/case:{}", name_, i);
      entry.probe = name_;
      entry.axes = {{"case", std::int64_t{i}}};
      entry.real_time_s = entry.cpu_time_s = 1e-6;
      entry.metric = {"time", "s", fathom::Better::lower, 1e-6};
      entry.samples = {1e-6, 1e-6, 1e-6};
      entry.timing.mode = "hot";
      entry.timing.timer = "cudaEvent";
      entry.timing.stop = "converged";
      write(ProbeStatus::partial, "still running");
    }
  }

  void write(ProbeStatus status, const std::string& reason = "") {
    document_.probes.front().status = status;
    document_.probes.front().status_reason = reason;
    fathom::write_document(document_, flags_.at("--out"));
  }

 private:
  void report(int done) const {
    if (!flags_.contains("--progress-fd")) return;
    const std::string line = fmt::format("{} 2 {:.3f} {}/case\n", done, 0.1 * done, name_);
    [[maybe_unused]] const auto n =
        ::write(std::stoi(flags_.at("--progress-fd")), line.data(), line.size());
  }

  std::string name_;
  const Flags& flags_;
  fathom::Document document_;
};

volatile std::sig_atomic_t told_to_stop = 0;
extern "C" void stop(int) { told_to_stop = 1; }

/// Deaf to everything but SIGKILL, and so is its child.
[[noreturn]] void hang() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_IGN);
  const pid_t child = fork();
  if (child != 0) std::cout << "pids " << getpid() << ' ' << child << std::endl;
  while (true) pause();
}

/// Leaves no byte free, as another program might in the middle of a run.
void fill_disk(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
}

/// On which CPUs this may run: "cpus 0 1".
void say_cpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;
  std::cout << "cpus";
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) std::cout << ' ' << cpu;
  std::cout << std::endl;
}

/// On a clock that all processes share.
void say_when(const char* what) {
  std::cout << what << ' ' << std::chrono::steady_clock::now().time_since_epoch().count()
            << std::endl;
}

/// Long enough in what follows that two at once would be seen.
void wait_for_start(int descriptor) {
  say_when("ready");
  char byte = '\n';
  pollfd answer{descriptor, POLLIN, 0};
  if (::write(descriptor, &byte, 1) != 1 || poll(&answer, 1, -1) != 1 ||
      ::read(descriptor, &byte, 1) != 1)
    fail(ExitCode::bad_input, "Nobody says when to start.");
  say_when("began");
  std::cout << "beside " << int{static_cast<unsigned char>(byte)} << std::endl;
  usleep(20'000);
}

int probe_program(const std::string& name, const Flags& flags) {
  // As a real probe does: inside a run this must find the lock of the run, and one that is held
  // back takes it once it may begin.
  const bool held = flags.contains("--start-fd");
  fathom::FileDescriptor lock;
  const auto take_lock = [&] { lock = fathom::lock_gpu(uuid_hash()); };
  if (!held) take_lock();
  std::cout << "log of " << name << std::endl;
  for (const auto& [flag, value] : flags) std::cout << "flag " << flag << ' ' << value << std::endl;
  if (std::getenv(fathom::timed_only_variable)) std::cout << "timed only" << std::endl;
  say_cpus();
  if (name == "silent") return 0;
  if (flags.contains("--benchmark_filter") &&
      flags.at("--benchmark_filter").find(name) == std::string::npos)
    fail(ExitCode::bad_input, "No case matches the filter.");

  const int start_fd = held ? std::stoi(flags.at("--start-fd")) : -1;
  if (held) {
    if (name == "late" || name == env("FAKE_LATE")) hang();
    if (name == "stillborn") std::raise(SIGSEGV);
    if (name == "crowded") fail(ExitCode::gpu_busy, "A process holds the GPU: end it.");
    wait_for_start(start_fd);
    take_lock();
  }
  FakeProbe probe(name, flags);
  probe.measure();
  if (name == "crash") std::raise(SIGSEGV);
  // Bad on one GPU of several.
  if (name == "sometimes" && uuid_hash().ends_with(env("FAKE_BAD_GPU", "none")))
    std::raise(SIGSEGV);
  if (name == "lasting") {
    std::cout << "pids " << getpid() << std::endl;
    const std::string until = env("FAKE_RELEASE");
    for (int i = 0; !until.empty() && i < 3000 && !std::filesystem::exists(until); ++i)
      usleep(10'000);
  }
  if (name == "hang") hang();
  if (name == "slow") {
    std::signal(SIGINT, stop);
    std::signal(SIGTERM, stop);
    std::cout << "pids " << getpid() << std::endl;
    while (told_to_stop == 0) usleep(10'000);
    probe.write(ProbeStatus::interrupted, "interrupted by the user");
    return 130;
  }
  if (held && name != "lost") say_when("ended");
  if (name == "lost") {
    probe.write(ProbeStatus::failed, "The GPU is lost.");
    fail(ExitCode::gpu_lost, "The GPU fell off the bus: reset it.");
  }
  if (name == "memory") fail(ExitCode::gpu_out_of_memory, "The GPU has too little free memory.");
  if (name == "full") fail(ExitCode::output_full, "The disk is full.");
  probe.write(ProbeStatus::complete);
  if (name == "hog") fill_disk(flags.at("--out") + ".ballast");
  if (name == "mismatch") return 1;
  if (name == "counters" && !flags.contains("--no-counters"))
    fail(ExitCode::counters_unavailable, "Counters are not permitted.");
  return 0;
}

/// Held by a fake gate_load as long as it lives.
fathom::FileDescriptor load_lock() {
  const std::string path = env("FATHOM_LOCK_DIR", ".") + "/load.lock";
  return fathom::FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
}

/// Twelve metrics of 1000 ns and 0.1 % of noise, in Google Benchmark's JSON; slower by their
/// faults, and by a fifth beside a load.
int gate_victim(const Flags& flags) {
  std::vector<std::string> names;
  for (const char* kind : {"fma", "shared", "read", "copy"})
    for (int i = 0; i < 3; ++i) names.push_back(fmt::format("gate_victim/{}/size:{}", kind, i));
  if (flags.contains("--benchmark_list_tests")) {
    for (const std::string& name : names) std::cout << name << "/iterations:1/manual_time\n";
    return 0;
  }
  usleep(1000 * static_cast<unsigned>(std::stoi(env("FAKE_ROUND_MS", "0"))));
  const fathom::FileDescriptor lock = load_lock();
  const bool beside_load = flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
  /// What a list of faults, "NAME=1.05,NAME=2", says of a metric.
  const auto fault = [&](const char* flag, const std::string& name, double otherwise) {
    const std::string list = flags.contains(flag) ? "," + flags.at(flag) : "";
    const auto at = list.find("," + name + "=");
    return at == list.npos ? otherwise : std::stod(list.substr(at + name.size() + 2));
  };
  std::mt19937_64 generator(std::random_device{}());
  std::normal_distribution<double> noise(1, 0.001);
  const std::regex wanted(flags.at("--benchmark_filter"), std::regex::extended);
  ordered_json rows = ordered_json::array();
  for (const std::string& name : names) {
    if (!std::regex_search(name, wanted)) continue;
    const double factor = fault("--slow", name, 1) * (1 + fault("--conflict", name, 0)) *
                          (1 + fault("--uncoalesced", name, 0)) * (beside_load ? 1.2 : 1);
    rows.push_back({{"name", name}, {"real_time", 1000 * factor * noise(generator)}});
  }
  std::ofstream(flags.at("--out"))
      << ordered_json{{"context", {{"host_name", "h"}}}, {"benchmarks", rows}};
  return 0;
}

[[noreturn]] void gate_load() {
  const fathom::FileDescriptor lock = load_lock();
  flock(lock.get(), LOCK_EX);
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = std::filesystem::path(argv[0]).filename();
  const Flags flags = parse(argc, argv);
  try {
    if (program == "gate_victim") return gate_victim(flags);
    if (program == "gate_load") gate_load();
    if (program == "fathom-device") return device_program(flags);
    return probe_program(program.substr(std::string("probe_").size()), flags);
  } catch (const fathom::Error& error) {
    std::cerr << program << ": " << error.what() << std::endl;
    return fathom::to_int(error.code());
  }
}
