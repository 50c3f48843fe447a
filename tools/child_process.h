#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/error.h"
#include "results/files.h"

namespace fathom {

/// Collects SIGCHLD, and on demand SIGINT, SIGTERM and SIGHUP, instead of letting them act, as long
/// as it lives. One at a time; make it before the children it shall report.
class SignalInbox {
 public:
  enum class Interrupts { act, collect };
  explicit SignalInbox(Interrupts interrupts);
  ~SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  /// Sleeps until a signal comes, at most so long. Returns how many interrupts have come since the
  /// beginning.
  int interrupts(std::chrono::milliseconds longest = {});

 private:
  sigset_t collected_, previous_mask_;
  int interrupts_ = 0;
};

/// Why a process was told to stop.
enum class Stopped { no, time_limit, interrupt };

/// How a process ended: by exit status or by a signal.
struct ProcessEnd {
  int status = 0;  ///< exit status, where `signal` is 0
  int signal = 0;
  bool unkillable = false;  ///< it was still there seconds after SIGKILL
  Stopped stopped = Stopped::no;

  /// "exit status 3", "signal SIGSEGV (Segmentation fault)"
  std::string describe() const;
  bool is_exit(ExitCode code) const { return signal == 0 && status == to_int(code); }
};

/// What a process without threads starts.
struct ChildStart {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  int output = -1;  ///< descriptor that becomes standard output
  int errors = -1;  ///< descriptor that becomes standard error
  /// Variables beside those of this process, or instead of them.
  std::vector<std::pair<std::string, std::string>> environment{};
  /// CPUs that it and its children may run on; empty: those of this process. Of CPUs that the
  /// operating system does not allow here it takes none.
  std::vector<int> cpus{};
  /// In place of a program: what the child does, and its exit status. It throws nothing.
  std::function<int()> work{};
  /// Flags that get the number of the child's end of a socket. --progress-fd: the probe writes
  /// lines there. --start-fd: it writes an empty line once it is ready, and measures after
  /// release(). Starting CUDA takes longer than what is to be measured, and many can do it at once.
  std::vector<std::string> socket_flags{};
};

/// A child in a process group of its own, so that it can be ended with everything that it started.
/// It dies with this process, whatever kills this process; its destructor leaves no process of the
/// group behind, running or zombie, but one that SIGKILL did not end.
class ChildProcess {
 public:
  /// Throws Error(setup_incomplete) if the program cannot be started.
  explicit ChildProcess(ChildStart start);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// To the whole group.
  void signal(int number) const;
  /// How the child ended, once it has; ends and reaps the rest of its group then. `stopped`: why it
  /// was told to stop before that.
  std::optional<ProcessEnd> try_end(Stopped stopped = Stopped::no);
  /// Waits no longer for one that the kernel holds.
  void give_up(Stopped stopped);

  /// A whole line that has come by its socket; nothing while there is none.
  std::optional<std::string> next_line();
  /// Lets one that is held measure. Says how many others are held on the same GPU, so that they do
  /// not pass for a load.
  void release(std::size_t held_beside) const;

 private:
  void reap_group();

  pid_t pid_ = -1;
  FileDescriptor socket_;
  std::string begun_;  ///< of the next line
  std::optional<ProcessEnd> end_;
};
using Children = std::vector<ChildProcess*>;

struct Supervision {
  std::chrono::milliseconds limit;        ///< then SIGTERM
  std::chrono::milliseconds grace{5000};  ///< from the first signal to SIGKILL
  std::function<void()> look{};           ///< called every `look_every` at least; may be empty
  std::chrono::milliseconds look_every{250};
};

/// Waits until all children have ended. Passes the first interrupt on to them, kills them at the
/// second, and enforces the limit.
void supervise(const Children& children, SignalInbox& inbox, const Supervision& supervision);

/// The same of one.
ProcessEnd supervise(ChildProcess& child, SignalInbox& inbox, const Supervision& supervision);

/// Until each has sent a line or has ended, or an interrupt has come. Returns those that
/// have done neither.
Children wait_until_ready(Children children, SignalInbox& inbox, std::chrono::milliseconds limit);

/// As exec takes them: with a null pointer at the end.
std::vector<char*> pointers_to(std::vector<std::string>& words);

struct CapturedRun {
  std::string output, errors;
  ProcessEnd end;
};

/// Runs a short helper program to its end and returns what it wrote. Throws Error(setup_incomplete)
/// if it cannot be started.
CapturedRun run_and_capture(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments,
                            std::chrono::milliseconds limit);

/// The last line with text in it; empty if there is none.
std::string last_line(std::string_view text);

/// The same of a file, of which no more than the last 4 KiB are read: a log may be endless. Empty
/// where it cannot be read.
std::string last_line_of(const std::filesystem::path& log);

}  // namespace fathom
