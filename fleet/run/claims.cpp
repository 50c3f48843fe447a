#include "fleet/run/claims.h"

#include <fcntl.h>
#include <sys/file.h>

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

}  // namespace

std::optional<FileDescriptor> lock_file(const fs::path& file) {
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::nullopt;
  return lock;
}

std::optional<FileDescriptor> claim_folder(const fs::path& root, GpuJob& job) {
  fleet::GpuSummary& gpu = job.summary;
  make_folder(gpu_folder(root, gpu).parent_path());
  for (gpu.gpu = 0;; ++gpu.gpu) {
    const fs::path folder = gpu_folder(root, gpu), file = folder / fleet::summary_file;
    std::error_code error;
    if (fs::create_directory(folder, error)) {  // which of several processes only one can
      write_file_atomically(file, to_text(gpu));
      break;
    }
    if (error) fail_write(folder, error.value());
    if (is_of(file, gpu)) break;
  }
  return lock_file(gpu_folder(root, gpu) / ".lock");
}

}  // namespace fathom
