#include "fleet/run/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "results/output_file.h"
#include "fleet/run/claim_folder.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Whose a name is: a line for each start of the machine, as far as it was measured after it. Who
/// makes the file writes into it at once: what is empty still is waited for, as long as storage
/// that hosts share may take to show it.
std::vector<std::string> holders_of(const fs::path& file) {
  constexpr auto moment = 50ms, patience = 2000ms;
  std::vector<std::string> machines;
  for (auto waited = 0ms; machines.empty() && waited < patience; waited += moment) {
    if (waited > 0ms) std::this_thread::sleep_for(moment);
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) machines.push_back(line);
  }
  return machines;
}

}  // namespace

std::string machine_id() {
  if (const char* given = std::getenv("FATHOM_MACHINE"); given && *given)
    return std::string(given).substr(0, std::strcspn(given, "\n"));
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string claim_host_name(const FleetFolder& folder, const std::string& name,
                            const std::string& machine, std::vector<GpuJob>& jobs) {
  if (machine.empty()) return name;
  std::string own = name;
  for (int i = 2;; own = fmt::format("{}-{}", name, i++)) {
    for (GpuJob& job : jobs) job.summary.host = own, job.summary.machine = machine;
    const fs::path file = folder.host_name(own);
    make_folder(file.parent_path());
    if (make_file(file, machine + "\n")) return own;
    const std::vector<std::string> holders = holders_of(file);
    const bool known = std::ranges::find(holders, machine) != holders.end();
    if (!known &&
        std::ranges::none_of(jobs, [&](const GpuJob& job) { return was_measured(folder, job); }))
      continue;
    if (!known) append_to_file(file, machine + "\n");
    if (!holders.empty())
      for (GpuJob& job : jobs) job.summary.machine = holders.front();
    return own;
  }
}

}  // namespace fathom
