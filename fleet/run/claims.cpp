#include "fleet/run/claims.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/error.h"
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
  for (gpu.gpu = 0;; ++gpu.gpu) {
    const fs::path folder = gpu_folder(root, gpu), file = folder / fleet::summary_file;
    make_folder(folder);
    if (is_of(file, gpu) || make_file(file, to_text(gpu))) return lock_file(folder / ".lock");
  }
}

}  // namespace fathom
