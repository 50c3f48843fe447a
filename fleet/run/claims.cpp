#include "fleet/run/claims.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/parse_number.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

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
    make_folder(folder.gpu(gpu).parent_path());
    // Of several processes only one can make a folder.
    bool made = false;
    while (!(made = fs::create_directory(folder.gpu(gpu))) &&
           !is_of(folder.gpu(gpu) / fleet::summary_file, gpu))
      ++gpu.gpu;
    if (made) write_file_atomically(folder.gpu(gpu) / fleet::summary_file, to_text(gpu));
  }
  return lock_file(folder.gpu(gpu) / ".lock");
}

}  // namespace fathom
