#include "results/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include "results/error.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_write(const fs::path& path, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    throw Error(
        ExitCode::output_full,
        fmt::format("{} cannot be written, there is no room for it ({}): make room, or choose "
                    "another folder with --out.",
                    path.string(), std::strerror(error)));
  }
  throw Error(ExitCode::output_unwritable,
              fmt::format("{} cannot be written ({}): choose another place.", path.string(),
                          std::strerror(error)));
}

/// A file beside its target, which it replaces on commit; gone again if that is never reached.
class PendingFile {
 public:
  explicit PendingFile(const fs::path& target)
      : target_(target),
        name_(fmt::format("{}.{}-{:08x}.tmp", target.string(), getpid(), std::random_device()())),
        descriptor_(open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail_write(target_, errno);
  }
  ~PendingFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!committed_) unlink(name_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_write(target_, errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// The text is on the disk before the name points to it.
  void commit() {
    if (fsync(descriptor_) != 0 && errno != EINVAL) fail_write(target_, errno);
    if (close(std::exchange(descriptor_, -1)) != 0) fail_write(target_, errno);
    if (rename(name_.c_str(), target_.c_str()) != 0) fail_write(target_, errno);
    committed_ = true;
  }

 private:
  fs::path target_;
  std::string name_;
  int descriptor_;
  bool committed_ = false;
};

[[noreturn]] void fail_read(const fs::path& path, const std::string& why) {
  throw Error(ExitCode::bad_input,
              fmt::format("{} cannot be read ({}): give the path of a file that can be.",
                          path.string(), why));
}

}  // namespace

void write_file_atomically(const fs::path& path, std::string_view text) {
  PendingFile file(path);
  file.write(text);
  file.commit();
}

void require_writable_atomically(const fs::path& path) {
  if (std::error_code error; fs::is_directory(path, error)) fail_write(path, EISDIR);
  const PendingFile file(path);
}

std::string read_file_up_to(const fs::path& path, std::size_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail_read(path, "no such file");
  if (error) fail_read(path, error.message());
  if (fs::is_directory(status)) fail_read(path, "it is a folder");
  const auto refuse_size = [&] {
    throw Error(ExitCode::document_malformed,
                fmt::format("{}: is larger than {} MiB, larger than any file of its kind: give "
                            "another.",
                            path.string(), limit >> 20));
  };
  // A file that says so itself is not read at all.
  if (fs::is_regular_file(status) && fs::file_size(path, error) > limit && !error) refuse_size();
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_read(path, std::strerror(errno));
  std::string text;
  // Read in pieces and not by the size that the file claims: a pipe claims none, and others lie. A
  // small file's piece is no larger than it claims, since ten thousand are read in a row.
  constexpr std::uintmax_t largest_piece = 1 << 20;
  const std::uintmax_t claimed = fs::file_size(path, error);
  const std::size_t piece =
      error || claimed == 0 ? largest_piece : std::min(claimed + 1, largest_piece);
  while (file) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    file.read(text.data() + before, piece);
    text.resize(before + static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit) refuse_size();
  }
  if (file.bad()) fail_read(path, std::strerror(errno));
  return text;
}

}  // namespace fathom
