#include <fmt/format.h>

#include <chrono>
#include <random>

#include "results/exit_codes.h"
#include "results/utc_time.h"
#include "fleet/run/measure.h"

namespace fathom {

namespace fs = std::filesystem;

fs::path FleetFolder::gpu(const std::string& host, int number) const {
  return root / "gpus" / fmt::format("{}-{}", host, number);
}
fs::path FleetFolder::links(const std::string& host, int number) const {
  return root / "links" / fmt::format("{}-{}", host, number);
}
fs::path FleetFolder::host_name(const std::string& host) const { return root / "hosts" / host; }
fs::path FleetFolder::rank_note(int rank) const {
  return root / "ranks" / fmt::format("{}.note", rank);
}

std::string new_run() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

GpuJob job_of(const VisibleGpu& gpu, const std::string& host, int number, int slot,
              std::optional<int> rank) {
  GpuJob job = replay_job(host, number, slot, rank);
  job.gpu = gpu;
  fleet::GpuSummary& s = job.summary;
  s.source = Source::measured;
  s.gpu_name = gpu.name;
  s.uuid_hash = gpu.uuid_hash;
  s.health.pcie_generation = gpu.pcie_generation;
  s.health.pcie_width = gpu.pcie_width;
  s.health.uncorrected_ecc_errors = gpu.uncorrected_ecc_errors;
  s.health.remapped_rows = gpu.remapped_rows;
  s.health.remapping_failed = gpu.remapping_failed;
  s.health.remapping_pending = gpu.remapping_pending;
  s.health.other_processes = gpu.processes;
  return job;
}

GpuJob replay_job(const std::string& host, int number, int slot, std::optional<int> rank) {
  GpuJob job;
  job.slot = slot;
  fleet::GpuSummary& s = job.summary;
  s.host = host;
  s.gpu = number;
  s.rank = rank;
  s.uuid_hash = fmt::format("replay of {}", name_of(s));
  s.source = Source::replay;
  s.date = utc_time(std::chrono::system_clock::now());
  s.status = fleet::GpuStatus::failed;
  s.reason = "it was not measured";
  s.exit_code = to_int(ExitCode::incomplete);
  return job;
}

}  // namespace fathom
