#include "results/files.h"

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
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "results/fail.h"
#include "results/text.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

/// Not XDG_RUNTIME_DIR: that is one per user, and two users must see each other's lock.
std::string lock_path(const std::string& gpu_uuid_hash) {
  const char* folder = std::getenv("FATHOM_LOCK_DIR");
  return fmt::format("{}/fathom-gpu-{}.lock", folder ? folder : "/tmp", gpu_uuid_hash);
}

[[noreturn]] void refuse(const std::string& path) {
  fail(ExitCode::gpu_busy,
       "The GPU's lock file {} cannot be locked ({}): remove it, or give another folder in "
       "FATHOM_LOCK_DIR.",
       path, std::strerror(errno));
}

FileDescriptor open_lock_file(const std::string& path) {
  // First without O_CREAT: in a sticky folder the kernel may refuse to "create" another user's file
  // that is there already (fs.protected_regular). O_NOFOLLOW, since anyone may write to /tmp.
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW;
  int fd = open(path.c_str(), O_RDWR | flags);
  if (fd < 0 && errno == ENOENT) {
    fd = open(path.c_str(), O_RDWR | O_CREAT | flags, 0666);
    // For other users, against the umask. If it fails, they still lock a read-only descriptor.
    [[maybe_unused]] const int widened = fd < 0 ? -1 : fchmod(fd, 0666);
  }
  if (fd < 0 && errno == EACCES) fd = open(path.c_str(), O_RDONLY | flags);
  if (fd < 0) refuse(path);
  FileDescriptor file(fd);
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {  // anyone may make a pipe there
    errno = EINVAL;
    refuse(path);
  }
  return file;
}

/// Whether the lock is now held through `fd`; also true if its open file held it before.
bool try_lock(int fd, const std::string& path) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) refuse(path);
  }
  return true;
}

/// The process with its command's arguments, among them the folder, by which a user knows the run.
void write_holder(int fd) {
  std::ifstream file("/proc/self/cmdline");
  std::string command((std::istreambuf_iterator<char>(file)), {});
  std::ranges::replace(command, '\0', ' ');
  command.erase(command.find_last_not_of(' ') + 1);  // npos + 1 is 0
  const std::string text = fmt::format("{} ({}, since {})\n", getpid(), quotable(command, 200),
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
  const std::string holder = quotable(text.substr(0, text.find('\n')), buffer.size());
  return holder.empty() ? "another process" : fmt::format("process {} or a child of it", holder);
}

/// The parent's lock, if FATHOM_LOCK_FD names a descriptor that is this GPU's lock file and holds
/// it. Anything else (a stale variable, another GPU's lock) is no reason to skip the lock.
FileDescriptor inherited_lock(const std::string& path) {
  const char* text = std::getenv("FATHOM_LOCK_FD");
  const int fd = parse_number<int>(text ? text : "").value_or(-1);
  std::error_code none;
  const bool is_it = std::filesystem::equivalent(fmt::format("/proc/self/fd/{}", fd), path, none);
  return FileDescriptor(is_it && try_lock(fd, path) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1);
}

}  // namespace

FileDescriptor lock_gpu(const std::string& gpu_uuid_hash, std::chrono::seconds longest_wait,
                        const std::function<void(const std::string& holder)>& on_wait) {
  const std::string path = lock_path(gpu_uuid_hash);
  if (FileDescriptor inherited = inherited_lock(path); inherited.get() >= 0) return inherited;
  FileDescriptor lock = open_lock_file(path);
  const auto deadline = Clock::now() + longest_wait;
  bool told = false;
  while (!try_lock(lock.get(), path)) {
    if (Clock::now() >= deadline)
      fail(ExitCode::gpu_busy,
           "The GPU is in use by {}: end it, start again later, or wait for it with --wait.",
           describe_holder(lock.get()));
    if (!std::exchange(told, true) && on_wait) on_wait(describe_holder(lock.get()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  write_holder(lock.get());
  return lock;
}

std::string share_with_children(const FileDescriptor& lock) {
  fcntl(lock.get(), F_SETFD, 0);
  return std::to_string(lock.get());
}

}  // namespace fathom
