#include "fleet/run/claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/output_file.h"
#include "results/parse_number.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Whether a summary is of this GPU. One that cannot be read is somebody else's.
bool is_of(const fs::path& file, const fleet::GpuSummary& gpu) {
  try {
    const auto there =
        fleet::parse_summary(read_file_up_to(file, document_size_limit), file.string());
    return there.host == gpu.host && there.uuid_hash == gpu.uuid_hash;
  } catch (const Error&) {
    return false;
  }
}

std::optional<int> number_before(const FleetFolder& folder, const fleet::GpuSummary& gpu) {
  std::optional<int> lowest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.gpu(gpu).parent_path(), none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(gpu.host + "-")) continue;
    const auto number = parse_number<int>(std::string_view(name).substr(gpu.host.size() + 1));
    if (number && *number >= 0 && (!lowest || number < lowest) &&
        is_of(entry.path() / fleet::summary_file, gpu))
      lowest = number;
  }
  return lowest;
}

/// Makes a file that is not there yet, which of several processes only one can; false where it is.
bool make_file(const fs::path& file, const std::string& text) {
  const FileDescriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (made.get() < 0 && errno == EEXIST) return false;
  if (made.get() < 0)
    fail(ExitCode::output_unwritable, "{} cannot be written ({})", file.string(),
         std::strerror(errno));
  if (write(made.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return true;
  unlink(file.c_str());
  fail(ExitCode::output_full, "{} cannot be written: make room there.", file.string());
}

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

std::optional<FileDescriptor> lock_file(const fs::path& file) {
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::nullopt;
  return lock;
}

std::optional<FileDescriptor> claim_folder(const FleetFolder& folder, GpuJob& job) {
  fleet::GpuSummary& gpu = job.summary;
  if (const auto before = number_before(folder, gpu)) {
    gpu.gpu = *before;
  } else {
    for (;; ++gpu.gpu) {
      const fs::path file = folder.gpu(gpu) / fleet::summary_file;
      make_folder(file.parent_path());
      if (make_file(file, to_text(gpu)) || is_of(file, gpu)) break;
    }
  }
  return lock_file(folder.gpu(gpu) / ".lock");
}

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
    if (!known && std::ranges::none_of(jobs, [&](const GpuJob& job) {
          return number_before(folder, job.summary).has_value();
        }))
      continue;
    if (!known) append_to_file(file, machine + "\n");
    if (!holders.empty())
      for (GpuJob& job : jobs) job.summary.machine = holders.front();
    return own;
  }
}

}  // namespace fathom
