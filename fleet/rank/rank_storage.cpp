#include "fleet/rank/rank_storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cerrno>

#include "results/atomic_file.h"
#include "results/document_io.h"
#include "results/error.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> documents_in(const fs::path& folder) {
  std::vector<fs::path> documents;
  std::error_code none;
  for (const auto& file : fs::directory_iterator(folder, none))
    if (file.path().extension() == ".json") documents.push_back(file.path());
  return documents;
}

/// Throws Error(gpu_busy) where another job has it. Storage without locks is no reason not to
/// measure.
FileDescriptor claim(const fs::path& root) {
  const fs::path path = root / ".lock";
  FileDescriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(
        ExitCode::gpu_busy,
        fmt::format("Another job of ranks measures into {} now: wait for its end, or choose "
                    "another folder with --out.",
                    root.string()));
  return lock;
}

}  // namespace

Agreed agree(const MpiJob& job, const fs::path& root) {
  std::array<char, 17> token{};
  ExitCode failure = ExitCode::ok;
  FileDescriptor claimed;
  if (job.rank() == 0) {
    new_run().copy(token.data(), token.size() - 1);
    try {
      make_folder(root);
      claimed = claim(root);
      write_file_atomically(root / ".fleet-storage", token.data());
    } catch (const Error& error) {
      fmt::print(stderr, "fathom: {}\n", error.what());
      token = {};
      failure = error.code();
    }
  }
  MPI_Bcast(token.data(), token.size(), MPI_CHAR, 0, MPI_COMM_WORLD);
  if (token.front() == 0) return {.failure = failure};
  Agreed agreed{.run = token.data(), .claim = std::move(claimed)};
  try {
    agreed.shares_storage = read_file_up_to(root / ".fleet-storage", 64) == agreed.run;
  } catch (const Error&) {
    agreed.shares_storage = false;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank() == 0) {
    std::error_code ignored;
    fs::remove(root / ".fleet-storage", ignored);
  }
  return agreed;
}

Parcel parcel_of(const std::vector<GpuJob>& jobs, const FleetFolder& folder, bool leader,
                 bool shared) {
  Parcel parcel;
  const auto add = [&](const fs::path& file) {
    std::error_code ignored;
    if (fs::exists(file, ignored))
      parcel.add(file.lexically_relative(folder.root).string(),
                 read_file_up_to(file, document_size_limit));
  };
  for (const GpuJob& job : jobs) {
    const fs::path own = folder.gpu(job.summary.host, job.summary.gpu);
    add(own / fleet::summary_file);
    if (shared) continue;
    for (const char* part : {"alone", "together", "suite"})
      for (const fs::path& document : documents_in(own / part)) add(document);
  }
  if (leader && !shared)
    for (const fs::path& document :
         documents_in(folder.links(jobs.front().summary.host, jobs.front().summary.gpu)))
      add(document);
  return parcel;
}

}  // namespace fathom
