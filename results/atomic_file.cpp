#include "results/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <regex>
#include <system_error>
#include <vector>

#include "results/fail.h"
#include "results/gzip.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// A file beside its target, which it replaces on commit; gone again if that is never reached.
class PendingFile {
 public:
  explicit PendingFile(const fs::path& target) : target_(target) {
    do {  // anew where somebody took the file for abandoned before it was locked
      name_ = fmt::format("{}.{}-{:08x}.tmp", target.string(), getpid(), std::random_device()());
      file_ = FileDescriptor(open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      if (file_.get() < 0) fail_write(target_, errno);
      flock(file_.get(), LOCK_EX);  // until it is closed
    } while (access(name_.c_str(), F_OK) != 0);
  }
  ~PendingFile() { unlink(name_.c_str()); }  // which is there only before it was renamed
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// The text is on the disk before the name points to it.
  void replace_target(std::string_view text) {
    write_all(file_.get(), text, target_);
    if ((fsync(file_.get()) != 0 && errno != EINVAL) || rename(name_.c_str(), target_.c_str()) != 0)
      fail_write(target_, errno);
  }

 private:
  fs::path target_;
  std::string name_;
  FileDescriptor file_;
};

void sweep(const fs::path& target) {
  std::error_code none;
  const std::string name = target.filename().string();
  for (fs::directory_iterator place(folder_of(target), none);
       !none && place != fs::directory_iterator(); place.increment(none))
    if (is_unfinished(place->path().filename().string(), name)) remove_abandoned(place->path());
}

}  // namespace

std::filesystem::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void fail_write(const fs::path& path, int error) {
  fail(code_of_write(error), "{} cannot be written ({}): make room there, or choose another place.",
       path.string(), std::strerror(error));
}

ExitCode code_of_write(int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? ExitCode::output_full : ExitCode::output_unwritable;
}

void write_all(int descriptor, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_write(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  sweep(path);
  PendingFile(path).replace_target(text);
}

void require_writable_atomically(const fs::path& path) { const PendingFile file(path); }

FileDescriptor create_file(const fs::path& path) {
  // Removed first: a link would be followed, and of a file that somebody still writes to, as an
  // orphan of an earlier run, the text would be mixed into this one's.
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail_write(path, errno);
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) fail_write(path, errno);
  return file;
}

bool is_unfinished(const std::string& name, const std::string& target) {
  static const std::regex ending("\\.[0-9]+-[0-9a-f]{8}\\.tmp");
  return name.starts_with(target) && std::regex_match(name.substr(target.size()), ending);
}

void remove_abandoned(const fs::path& unfinished) {
  const FileDescriptor file(open(unfinished.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(unfinished.c_str());
}

std::string read_file_up_to(const fs::path& path, std::size_t limit) {
  const auto require_size = [&](std::size_t size) {
    if (size > limit)
      fail(ExitCode::document_malformed,
           "{}: is larger than {} MiB, larger than any file of its kind: give another.",
           path.string(), limit >> 20);
  };
  std::error_code none;
  // A file that says so itself is not read at all.
  if (fs::is_regular_file(path, none)) require_size(fs::file_size(path, none));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  // Not by the size that the file claims: a pipe claims none, and others lie.
  for (std::vector<char> piece(1 << 20); file;) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    require_size(text.size());
  }
  if (!file.eof())
    fail(ExitCode::bad_input, "{} cannot be read ({}): give the path of a file that can be.",
         path.string(), std::strerror(errno));
  return path.extension() == ".gz" ? gunzip(text, limit, path.string()) : text;
}

}  // namespace fathom
