#include "fleet/run/claim_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <charconv>
#include <cstring>

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

/// "host-7" -> 7
std::optional<int> number_in(const std::string& name, const std::string& host) {
  if (!name.starts_with(host + "-")) return std::nullopt;
  int number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + host.size() + 1, end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 0 ? std::optional(number)
                                                                  : std::nullopt;
}

std::optional<int> number_before(const FleetFolder& folder, const fleet::GpuSummary& gpu) {
  std::optional<int> lowest;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.gpu(gpu.host, 0).parent_path(), none)) {
    const auto number = number_in(entry.path().filename(), gpu.host);
    if (number && (!lowest || number < lowest) && is_of(entry.path() / fleet::summary_file, gpu))
      lowest = number;
  }
  return lowest;
}

}  // namespace

bool make_file(const fs::path& file, const std::string& text) {
  const FileDescriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (made.get() < 0 && errno == EEXIST) return false;
  if (made.get() < 0)
    throw Error(ExitCode::output_unwritable,
                fmt::format("{} cannot be written ({})", file.string(), std::strerror(errno)));
  if (write(made.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return true;
  unlink(file.c_str());
  throw Error(ExitCode::output_full,
              fmt::format("{} cannot be written: make room there.", file.string()));
}

std::optional<FileDescriptor> lock_file(const fs::path& file) {
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::nullopt;
  return lock;
}

bool was_measured(const FleetFolder& folder, const GpuJob& job) {
  return number_before(folder, job.summary).has_value();
}

std::optional<FileDescriptor> claim_folder(const FleetFolder& folder, GpuJob& job) {
  fleet::GpuSummary& gpu = job.summary;
  if (const auto before = number_before(folder, gpu)) {
    gpu.gpu = *before;
  } else {
    for (;; ++gpu.gpu) {
      const fs::path file = folder.gpu(gpu.host, gpu.gpu) / fleet::summary_file;
      make_folder(file.parent_path());
      if (make_file(file, to_text(gpu)) || is_of(file, gpu)) break;
    }
  }
  return lock_file(folder.gpu(gpu.host, gpu.gpu) / ".lock");
}

}  // namespace fathom
