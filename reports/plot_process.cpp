#include "reports/plot_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "reports/plot.h"

namespace fathom::plots {
namespace {

using Clock = std::chrono::steady_clock;

/// A file in memory: unlike a pipe it cannot fill up or break while the child is not looking.
class MemoryFile {
 public:
  MemoryFile() : number_(memfd_create("fathom-plot", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (number_ >= 0) ::close(number_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int get() const { return number_; }

  bool fill(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = ::write(number_, text.data() + at, text.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      at += static_cast<std::size_t>(written);
    }
    return lseek(number_, 0, SEEK_SET) == 0;
  }

  std::string text() const {
    const off_t size = lseek(number_, 0, SEEK_END);
    std::string all(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
    std::size_t at = 0;
    while (at < all.size()) {
      const ssize_t got = pread(number_, all.data() + at, all.size() - at, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      at += static_cast<std::size_t>(got);
    }
    all.resize(at);
    return all;
  }

 private:
  int number_;
};

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // Whatever signals the caller blocks or ignores, the child starts with none of that.
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// The wait status, or nothing at the time limit: the child is dead and reaped then too.
std::pair<bool, int> wait_for(pid_t child, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return {true, status};
    if (ended < 0 && errno != EINTR) return {true, -1};
    if (Clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {false, status};
}

}  // namespace

ProgramOutput run_gnuplot(const std::string& script, std::chrono::milliseconds limit,
                          const std::string& program) {
  const MemoryFile input, output, errors;
  if (input.get() < 0 || output.get() < 0 || errors.get() < 0 || !input.fill(script)) {
    return {"", fmt::format("cannot be given its script ({})", std::strerror(errno))};
  }
  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.actions, input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, errors.get(), STDERR_FILENO);
  std::string name = program, no_start_up_file = "-d", standard_input = "-";
  char* arguments[] = {name.data(), no_start_up_file.data(), standard_input.data(), nullptr};
  const char* path = std::getenv("PATH");
  std::string path_entry = fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path);
  std::string locale_entry = "LC_ALL=C";
  char* environment[] = {path_entry.data(), locale_entry.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawnp(&child, program.c_str(), &settings.actions, &settings.attributes,
                                 arguments, environment);
  if (error == ENOENT) return {"", "is not installed"};
  if (error != 0) return {"", fmt::format("cannot be started ({})", std::strerror(error))};

  const auto [in_time, status] = wait_for(child, limit);
  if (!in_time) {
    return {"",
            fmt::format("did not end within {} s", std::chrono::duration<double>(limit).count())};
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string why = errors.text();
    return {"", why.empty() ? "failed" : fmt::format("failed: {}", why.substr(0, 400))};
  }
  return {output.text(), ""};
}

}  // namespace fathom::plots

namespace fathom {

std::string gnuplot_problem() {
  const plots::ProgramOutput tried =
      plots::run_gnuplot("set print '-'\nset terminal svg\nprint 'ready'\n");
  if (tried.problem.empty() && tried.output.find("ready") != std::string::npos) return "";
  const std::string why = tried.problem.empty() ? "does not answer" : tried.problem;
  const std::string line = why.substr(0, why.find('\n'));
  return fmt::format("There are no pictures because gnuplot {}; install the package gnuplot-nox.",
                     line);
}

}  // namespace fathom
