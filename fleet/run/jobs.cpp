#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "fleet/run/run.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/files.h"
#include "results/text.h"
#include "tools/output_folder.h"
#include "tools/programs.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// CPUs of the NUMA node that a PCI device is at, as the kernel lists them ("0-3,8"); empty where
/// it does not tell. FATHOM_PCI_DEVICES names another folder than /sys/bus/pci/devices.
std::vector<int> cpus_near(std::string pci_bus_id) {
  std::ranges::transform(pci_bus_id, pci_bus_id.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const char* folder = std::getenv("FATHOM_PCI_DEVICES");
  std::ifstream list(fs::path(folder ? folder : "/sys/bus/pci/devices") / pci_bus_id /
                     "local_cpulist");
  std::vector<int> cpus;
  for (std::string range; std::getline(list, range, ',');) {
    int first = 0, last = -1;
    if (std::sscanf(range.c_str(), "%d-%d", &first, &last) == 1) last = first;
    for (int cpu = first; cpu <= std::min(last, CPU_SETSIZE - 1); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

/// Whether a summary is of this GPU. One that cannot be read is somebody else's.
bool is_of(const fs::path& file, const fleet::GpuSummary& gpu) try {
  const auto there = fleet::parse_summary(read_file_up_to(file, document_size_limit), file);
  return there.host == gpu.host && there.uuid_hash == gpu.uuid_hash;
} catch (const Error&) {
  return false;
}

/// Makes a file that is not there yet, which of several processes only one can; false where it is.
bool make_file(const fs::path& file, const std::string& text) {
  const FileDescriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (made.get() < 0 && errno == EEXIST) return false;
  if (made.get() < 0) fail_write(file, errno);
  try {
    write_all(made.get(), text, file);
  } catch (const Error&) {
    unlink(file.c_str());  // else the GPU's next run takes it for another GPU's
    throw;
  }
  return true;
}

}  // namespace

fs::path gpu_folder(const fs::path& root, const fleet::GpuSummary& gpu) {
  return root / "gpus" / fmt::format("{}-{}", gpu.host, gpu.gpu);
}

std::string new_run() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::vector<VisibleGpu> query_gpus(const fs::path& programs) {
  std::vector<VisibleGpu> gpus;
  ask_device(programs, {"--gpus"}, [&](const nlohmann::ordered_json& answer) {
    for (const auto& gpu : answer.at("gpus")) {
      VisibleGpu& seen = gpus.emplace_back();
      seen = {gpu.at("name"), gpu.at("uuid"), gpu.at("uuid_hash"), gpu.at("pci_bus_id"), {}};
      const auto& given = gpu.at("health");
      for (const auto& [key, number] :
           {std::pair{"pcie_generation", &fleet::Health::pcie_generation},
            {"pcie_width", &fleet::Health::pcie_width},
            {"uncorrected_ecc_errors", &fleet::Health::uncorrected_ecc_errors},
            {"remapped_rows", &fleet::Health::remapped_rows},
            {"processes", &fleet::Health::other_processes}})
        if (given.contains(key) && !given[key].is_null())
          seen.health.*number = given[key].get<double>();
      seen.health.remapping_failed = given.at("remapping_failed");
      seen.health.remapping_pending = given.at("remapping_pending");
    }
  });
  return gpus;
}

GpuJob job_of(const std::optional<VisibleGpu>& gpu, const std::string& host, std::size_t number,
              std::optional<int> rank) {
  GpuJob job{.gpu = gpu, .place = number, .summary = {}};
  fleet::GpuSummary& s = job.summary;
  s.host = host;
  s.gpu = static_cast<int>(number);
  s.rank = rank;
  s.date = utc_time(std::chrono::system_clock::now());
  s.status = fleet::GpuStatus::failed;
  s.reason = "it was not measured";
  s.exit_code = to_int(ExitCode::incomplete);
  if (!gpu) {
    s.uuid_hash = fmt::format("replay of {}", name_of(s));
    s.source = Source::replay;
    return job;
  }
  s.gpu_name = gpu->name;
  s.uuid_hash = gpu->uuid_hash;
  s.health = gpu->health;
  return job;
}

void decide_counters(const FleetRunArguments& arguments, std::size_t gpus,
                     std::vector<GpuJob>& jobs) {
  if (arguments.replay) return;  // it repeats those of the recording
  if (gpus < 2 && !arguments.no_counters) return;
  std::vector<ProbeBinary> probes;
  std::string none_left = arguments.no_counters
                              ? "not asked for (--no-counters)"
                              : "its host has more GPUs than the suite has probes";
  try {
    if (!arguments.no_counters)
      probes = select_probes(find_probes(program_folder()), {}, *find_run_suite(arguments.suite));
  } catch (const Error& error) {
    none_left = fmt::format("it is not known which probes there are: {}", error.what());
  }
  for (GpuJob& job : jobs) {
    if (!job.gpu) continue;  // its summary says why
    for (std::size_t i = job.place; i < probes.size(); i += gpus)
      job.summary.counters_of.push_back(probes[i].name);
    if (job.summary.counters_of.empty()) job.summary.no_counters = none_left;
  }
}

ChildStart start_of(const GpuJob& job, const fs::path& program, int log,
                    std::vector<std::string> arguments) {
  ChildStart start{program, std::move(arguments), log, log};
  if (!job.gpu) return start;
  // Not where there is no other: a MIG device's UUID is written another way.
  if (!job.only_visible) start.environment = {{"CUDA_VISIBLE_DEVICES", job.gpu->uuid}};
  start.cpus = cpus_near(job.gpu->pci_bus_id);
  if (start.cpus.empty() && job.summary.rank) {
    // A launcher may have bound the rank to a single core, which is no place for a probe's threads.
    // The kernel leaves out those that a container or job may not use.
    start.cpus.resize(CPU_SETSIZE);
    std::iota(start.cpus.begin(), start.cpus.end(), 0);
  }
  return start;
}

std::optional<FileDescriptor> lock_file(const fs::path& file) {
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::nullopt;
  return lock;
}

std::optional<FileDescriptor> claim_folder(const fs::path& root, GpuJob& job) {
  fleet::GpuSummary& gpu = job.summary;
  make_folder(root / "gpus");
  // One process at a time chooses: none looks at a summary that another has not written yet.
  const FileDescriptor turn(
      open((root / "gpus/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  flock(turn.get(), LOCK_EX);
  for (;; ++gpu.gpu) {
    const fs::path folder = gpu_folder(root, gpu), file = folder / fleet::summary_file;
    make_folder(folder);
    if (make_file(file, to_text(gpu)) || is_of(file, gpu)) return lock_file(folder / ".lock");
  }
}

}  // namespace fathom
