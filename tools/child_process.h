#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/files.h"

namespace fathom {

/// Collects SIGCHLD, and on demand SIGINT, SIGTERM and SIGHUP, on a descriptor instead of letting
/// them act, as long as it lives. One at a time; make it before the children it shall report.
class SignalInbox {
 public:
  enum class Interrupts { act, collect };
  explicit SignalInbox(Interrupts interrupts);
  ~SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  int descriptor() const { return descriptor_.get(); }
  /// Reads what has arrived; `interrupts()` then counts every interrupt since the beginning.
  void drain();
  int interrupts() const { return interrupts_; }

 private:
  sigset_t previous_mask_;
  FileDescriptor descriptor_;
  int interrupts_ = 0;
};

/// How a process ended: by exit status or by a signal.
struct ProcessEnd {
  int status = 0;  ///< exit status, where `signal` is 0
  int signal = 0;
  bool unkillable = false;  ///< it was still there seconds after SIGKILL

  /// "exit status 3", "signal SIGSEGV (Segmentation fault)"
  std::string describe() const;
};

/// What a process without threads starts.
struct ChildStart {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  int output = -1;               ///< descriptor that becomes standard output
  int errors = -1;               ///< descriptor that becomes standard error
  std::vector<int> kept_open{};  ///< further descriptors that stay open under their numbers
  /// Variables beside those of this process, or instead of them.
  std::vector<std::pair<std::string, std::string>> environment{};
  /// CPUs that it and its children may run on; empty: those of this process. Of CPUs that the
  /// operating system does not allow here it takes none.
  std::vector<int> cpus{};
  /// In place of a program: what the child does, and its exit status. It throws nothing.
  std::function<int()> work{};
};

/// A child in a process group of its own, so that it can be ended with everything that it started.
/// It dies with this process, whatever kills this process; its destructor leaves no process of the
/// group behind, running or zombie.
class ChildProcess {
 public:
  /// Throws Error(setup_incomplete) if the program cannot be started.
  explicit ChildProcess(const ChildStart& start);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// To the whole group.
  void signal(int number) const;
  /// How the child ended, once it has; ends and reaps the rest of its group then.
  std::optional<ProcessEnd> try_end();

 private:
  void reap_group();

  pid_t pid_ = -1;
  std::optional<ProcessEnd> end_;
};

/// Why a child was told to stop.
enum class Stopped { no, time_limit, interrupt };

struct Supervision {
  std::chrono::milliseconds limit;             ///< then SIGTERM
  std::chrono::milliseconds grace{5000};       ///< from the first signal to SIGKILL
  int lines_from = -1;                         ///< descriptor read line by line, non-blocking
  std::function<void(std::string_view)> line;  ///< called with each of those lines
  std::function<void()> tick{};                ///< called every 20 ms or so; may be empty
};

struct SupervisedEnd {
  ProcessEnd end;
  Stopped stopped = Stopped::no;
};

/// Waits until the child has ended. Passes the first interrupt on to it, kills it at the second,
/// and enforces the limit.
SupervisedEnd supervise(ChildProcess& child, SignalInbox& inbox, const Supervision& supervision);

/// The same of several children, which are told and killed together.
std::vector<SupervisedEnd> supervise_all(const std::vector<std::unique_ptr<ChildProcess>>& children,
                                         SignalInbox& inbox, const Supervision& supervision);

/// As of one, but also ends, with nothing, once the socket `word` of a child that was not told to
/// stop has something to read. The rest of the limit is the caller's to give it then.
std::optional<SupervisedEnd> supervise_until_word(ChildProcess& child, SignalInbox& inbox,
                                                  const Supervision& supervision, int word);

/// A probe that is started and made ready, and measures once it is released: starting CUDA takes
/// longer than what is to be measured, and many can do it at the same time. It sends a word when it
/// is ready, and another when it has measured, since ending takes a while, too.
class HeldRun {
 public:
  enum class Start { held, at_once };
  /// `start` with --start-fd added; one that begins at once has none, and sends no words. Throws
  /// Error(setup_incomplete).
  explicit HeldRun(ChildStart start, Start when = Start::held);

  /// To be had by who waits for its end.
  std::unique_ptr<ChildProcess>& child() { return child_; }
  const std::unique_ptr<ChildProcess>& child() const { return child_; }
  /// The socket on which it sends its words; -1: none.
  int words() const { return gate_.get(); }
  /// Says with it how many others are held on the same GPU, so that they do not pass for a load.
  void release(std::size_t held_beside) const;

 private:
  FileDescriptor gate_;
  std::unique_ptr<ChildProcess> child_;
};

/// Until each has sent its next word or has ended, or an interrupt has come. Returns those that
/// have done neither.
std::vector<const HeldRun*> wait_for_words(const std::vector<const HeldRun*>& runs,
                                           SignalInbox& inbox, std::chrono::milliseconds limit);

struct CapturedRun {
  std::string output, errors;
  SupervisedEnd end;
};

/// Runs a short helper program to its end and returns what it wrote. Throws Error(setup_incomplete)
/// if it cannot be started.
CapturedRun run_and_capture(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments,
                            std::chrono::milliseconds limit);

/// Several at once, with the same arguments.
std::vector<CapturedRun> run_all_and_capture(const std::vector<std::filesystem::path>& programs,
                                             const std::vector<std::string>& arguments,
                                             std::chrono::milliseconds limit);

/// The last line with text in it; empty if there is none.
std::string last_line(std::string_view text);

/// The same of a file, of which no more than the last 4 KiB are read: a log may be endless. Empty
/// where it cannot be read.
std::string last_line_of(const std::filesystem::path& log);

}  // namespace fathom
