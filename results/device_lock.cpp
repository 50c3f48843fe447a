#include "results/device_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "results/clean_text.h"
#include "results/fail.h"
#include "results/parse_number.h"
#include "results/utc_time.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

/// Not XDG_RUNTIME_DIR: that is one per user, and two users must see each other's lock.
std::string lock_path(const std::string& gpu_uuid_hash) {
  const char* folder = std::getenv("FATHOM_LOCK_DIR");
  return fmt::format("{}/fathom-gpu-{}.lock", folder ? folder : "/tmp", gpu_uuid_hash);
}

FileDescriptor open_lock_file(const std::string& path) {
  // First without O_CREAT: in a sticky folder the kernel may refuse to "create" another user's file
  // that is there already (fs.protected_regular). O_NOFOLLOW, since anyone may write to /tmp.
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW;
  int fd = open(path.c_str(), O_RDWR | flags);
  if (fd < 0 && errno == ENOENT) {
    fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | flags, 0666);
    if (fd >= 0) {
      // For other users, against the umask. If it fails, they still lock a read-only descriptor.
      [[maybe_unused]] const int widened = fchmod(fd, 0666);
    } else if (errno == EEXIST) {
      fd = open(path.c_str(), O_RDWR | flags);  // another process was faster
    }
  }
  if (fd < 0 && errno == EACCES) fd = open(path.c_str(), O_RDONLY | flags);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    const std::string why = fd < 0 ? std::strerror(errno) : "it is not a regular file";
    if (fd >= 0) close(fd);
    fail(ExitCode::gpu_busy,
         "The GPU's lock file {} cannot be opened ({}): remove it, or give another folder in "
         "FATHOM_LOCK_DIR.",
         path, why);
  }
  return FileDescriptor(fd);
}

/// Whether the lock is now held through `fd`; also true if its open file held it before.
bool try_lock(int fd, const std::string& path) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR)
      fail(ExitCode::gpu_busy,
           "The GPU's lock file {} cannot be locked ({}): give another folder in FATHOM_LOCK_DIR.",
           path, std::strerror(errno));
  }
  return true;
}

std::string own_command() {
  std::ifstream file("/proc/self/cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::ranges::replace(text, '\0', ' ');
  text.erase(text.find_last_not_of(' ') + 1);  // npos + 1 is 0
  return quotable(text, 200);
}

void write_holder(int fd) {
  const std::string text = fmt::format("{} ({}, since {})\n", getpid(), own_command(),
                                       utc_time(std::chrono::system_clock::now()));
  // The lock holds without this text too: it only lets others name the holder.
  if (ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(fd, text.data(), text.size(), 0);
  }
}

/// Who holds the lock, as a phrase. A child of the process that is named may outlive it and go on
/// holding the lock.
std::string describe_holder(int fd) {
  std::array<char, 512> buffer{};
  const ssize_t bytes = pread(fd, buffer.data(), buffer.size(), 0);
  const std::string_view text(buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.empty() ? "another process"
                      : fmt::format("process {} or a child of it", quotable(line, 512));
}

/// The parent's lock, if FATHOM_LOCK_FD names a descriptor that is this GPU's lock file and holds
/// it. Anything else (a stale variable, another GPU's lock) is no reason to skip the lock.
std::optional<FileDescriptor> inherited_lock(const std::string& path) {
  const char* text = std::getenv("FATHOM_LOCK_FD");
  if (!text) return std::nullopt;
  const int fd = parse_number<int>(text).value_or(-1);
  std::error_code none;
  if (!std::filesystem::equivalent(fmt::format("/proc/self/fd/{}", fd), path, none) ||
      !try_lock(fd, path))
    return std::nullopt;
  return FileDescriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

}  // namespace

DeviceLock::DeviceLock(const std::string& gpu_uuid_hash, IfHeld if_held, std::chrono::seconds limit,
                       const std::function<void(const std::string& holder)>& on_wait) {
  const std::string path = lock_path(gpu_uuid_hash);
  if (auto inherited = inherited_lock(path)) {
    fd_ = std::move(*inherited);
    return;
  }
  fd_ = open_lock_file(path);
  const int fd = fd_.get();
  const auto deadline = Clock::now() + limit;
  bool told = false;
  while (!try_lock(fd, path)) {
    if (if_held == IfHeld::fail)
      fail(ExitCode::gpu_busy, "The GPU is in use by {}: wait for it or start with --wait.",
           describe_holder(fd));
    if (Clock::now() >= deadline)
      fail(ExitCode::gpu_busy,
           "The GPU is still in use by {} after {} s of waiting: end it or start again later.",
           describe_holder(fd), limit.count());
    if (!std::exchange(told, true) && on_wait) on_wait(describe_holder(fd));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  write_holder(fd);
}

std::string DeviceLock::share_with_children() {
  const int fd = fd_.get();
  fcntl(fd, F_SETFD, 0);
  return std::to_string(fd);
}

}  // namespace fathom
