#include "fleet/run/claims.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

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

/// The lowest number that an earlier run gave this GPU.
std::optional<int> number_before(const fs::path& root, const fleet::GpuSummary& gpu) {
  std::optional<int> lowest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root, none)) {
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
  if (made.get() < 0) fail_write(file, errno);
  try {
    write_all(made.get(), text, file);
  } catch (const Error&) {
    unlink(file.c_str());
    throw;
  }
  return true;
}

}  // namespace

std::optional<FileDescriptor> lock_file(const fs::path& file) {
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::nullopt;
  return lock;
}

std::optional<FileDescriptor> claim_folder(const fs::path& root, GpuJob& job) {
  fleet::GpuSummary& gpu = job.summary;
  const fs::path gpus = gpu_folder(root, gpu).parent_path();
  make_folder(gpus);
  // One process at a time chooses: none looks at a summary that another has not written yet.
  const FileDescriptor turn(open((gpus / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  flock(turn.get(), LOCK_EX);
  for (gpu.gpu = number_before(gpus, gpu).value_or(gpu.gpu);; ++gpu.gpu) {
    const fs::path folder = gpu_folder(root, gpu), file = folder / fleet::summary_file;
    make_folder(folder);
    if (make_file(file, to_text(gpu)) || is_of(file, gpu)) return lock_file(folder / ".lock");
  }
}

}  // namespace fathom
