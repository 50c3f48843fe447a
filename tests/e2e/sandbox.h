#pragma once

// What the tests of programs share: tests/testing.h, processes, documents, and a sandbox.

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "results/document_io.h"
#include "results/error.h"
#include "tests/testing.h"
#include "tools/child_process.h"
#include "tools/programs.h"

namespace fathom {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

inline void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The flags with which a run's probes start together.
inline const std::string start_together = " --no-counters --start-together";

/// The words of a command line; '' is an empty one.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> all(std::istream_iterator<std::string>(text), {});
  std::ranges::replace(all, std::string("''"), std::string());
  return all;
}

/// A folder of its own for one test, with a program folder of fakes in it (fake_program.cpp) and an
/// environment in which `fathom` sees nothing else: no GPU of this machine, no lock of another run.
class Sandbox : public Environment {
 public:
  /// Fakes for the probes with these names, and of so many GPUs; 0: as the fakes have it, one.
  explicit Sandbox(const std::vector<std::string>& probes, int gpus = 0) {
    const fs::path programs = folder() / "bin";
    for (const fs::path& made : {programs, folder() / "pci"}) fs::create_directories(made);
    fs::create_symlink(FATHOM_FAKE_PROGRAM, programs / "fathom-device");
    for (const auto& probe : probes)
      fs::create_symlink(FATHOM_FAKE_PROGRAM, programs / ("probe_" + probe));
    set("FATHOM_BIN_DIR", programs);
    set("FATHOM_LOCK_DIR", folder());
    set("FATHOM_PCI_DEVICES", folder() / "pci");
    if (gpus > 0) set("FAKE_GPUS", std::to_string(gpus));
  }

  /// A shell's command line in the sandbox's folder, in which $F is `fathom`: "$F list <&-".
  CapturedRun shell(const std::string& command, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"-c", "cd \"$1\"; F=$2; shift 2; " + command, "sh", folder(),
                                 FATHOM_PROGRAM};
    all.insert(all.end(), more.begin(), more.end());
    return run_and_capture("/bin/bash", all, 100s);
  }
  /// `fathom` with these arguments, run to its end there.
  CapturedRun fathom(const std::vector<std::string>& arguments) const {
    return shell("exec \"$F\" \"$@\"", arguments);
  }
  /// The same with the words of a line.
  CapturedRun call(const std::string& line) const { return fathom(words(line)); }
  /// The words of `fathom run --out OUT` with further ones.
  std::vector<std::string> words_of_run(const std::string& flags = "") const {
    return words("run --out " + out().string() + " " + flags);
  }

  fs::path folder() const { return folder_.path(); }
  fs::path out() const { return folder() / "out"; }
  Document result() const { return read_document(out() / "result.json"); }
  std::string report() const { return file_text(out() / "report" / "README.md"); }

 private:
  TemporaryFolder folder_{"set TMPDIR"};
};

/// `fathom`, or another program, in the background.
class Background {
 public:
  explicit Background(const std::vector<std::string>& arguments, int errors = -1)
      : Background(FATHOM_PROGRAM, arguments, errors) {}
  Background(const std::string& program, const std::vector<std::string>& arguments, int errors = -1)
      : output_(memfd_create("output", MFD_CLOEXEC)),
        child_({program, arguments, output_.get(), errors < 0 ? output_.get() : errors, {}}) {}
  /// To that process.
  void signal(int number) const { child_.signal(number); }
  /// Its exit status, or minus the signal that ended it.
  int wait() {
    const auto ended = supervise(child_, inbox_, {.limit = 90s});
    return ended.signal != 0 ? -ended.signal : ended.status;
  }
  std::string output() const { return file_text(fmt::format("/proc/self/fd/{}", output_.get())); }

 private:
  FileDescriptor output_;
  SignalInbox inbox_{SignalInbox::Interrupts::act};
  ChildProcess child_;
};

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Waits until the file holds the text; false after ten seconds.
inline bool wait_for_text(const fs::path& path, const std::string& text) {
  for (int i = 0; i < 1000; ++i) {
    if (file_text(path).find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// The numbers behind the word in a fake's log, "pids 12 13".
inline std::vector<long long> numbers_in(const fs::path& log, const std::string& word) {
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(word + " ")) continue;
    std::istringstream numbers(line.substr(word.size()));
    return {std::istream_iterator<long long>(numbers), {}};
  }
  return {};
}
/// The one number, "began 123"; -1 where there is none.
inline long long number_in(const fs::path& log, const std::string& word) {
  const auto numbers = numbers_in(log, word);
  return numbers.empty() ? -1 : numbers.front();
}
inline std::vector<pid_t> pids_in(const fs::path& log) {
  const auto numbers = numbers_in(log, "pids");
  return {numbers.begin(), numbers.end()};
}

inline bool alive(pid_t pid) {
  waitpid(pid, nullptr, WNOHANG);  // an orphan's zombie comes to this process, and is not alive
  return kill(pid, 0) == 0;
}

/// Processor time of all processes that were started here and have ended.
inline double children_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// The exit status, or minus the signal.
inline int code(const CapturedRun& run) {
  const ProcessEnd& end = run.end;
  return end.signal != 0 ? -end.signal : end.status;
}

/// Fails the test for each of the parts that the text does not have.
void has(const std::string& text, const auto&... parts) {
  const auto check = [&](const std::string& part) { CHECK_THAT(text, contains(part)); };
  (check(parts), ...);
}
/// The same for each that it has.
void lacks(const std::string& text, const auto&... parts) {
  const auto check = [&](const std::string& part) { CHECK_THAT(text, !contains(part)); };
  (check(parts), ...);
}

/// A run that ended as it was to: each member function checks one thing more.
class Ended {
 public:
  explicit Ended(CapturedRun run) : run_(std::move(run)) {}
  /// Standard error has each of these texts.
  const Ended& complains(const auto&... texts) const { return has(run_.errors, texts...), *this; }
  /// Standard output begins with this line.
  const Ended& first_line(const std::string& text) const {
    CHECK_THAT(run_.output, StartsWith(text + "\n"));
    return *this;
  }
  /// Standard error has so many.
  const Ended& error_lines(int wanted) const {
    INFO(run_.errors);
    CHECK(std::ranges::count(run_.errors, '\n') == wanted);
    return *this;
  }
  operator const CapturedRun&() const { return run_; }

 private:
  CapturedRun run_;
};

/// Fails the test if the run ended with another code.
inline Ended expect(int expected, CapturedRun run) {
  INFO(run.output << run.errors);
  REQUIRE(code(run) == expected);
  return Ended(std::move(run));
}
inline Ended expect(ExitCode expected, CapturedRun run) {
  return expect(to_int(expected), std::move(run));
}

/// The summary of one probe; a failed test without it.
inline ProbeSummary summary_of(const Document& document, const std::string& probe) {
  const auto found = std::ranges::find(document.probes, probe, &ProbeSummary::name);
  REQUIRE(found != document.probes.end());
  return *found;
}

inline std::size_t entries_of(const Document& document, const std::string& probe) {
  return static_cast<std::size_t>(std::ranges::count(document.entries, probe, &Entry::probe));
}
/// The probes have so many entries.
inline void has_entries(const Document& document,
                        std::initializer_list<std::pair<std::string, std::size_t>> counts) {
  for (const auto& [probe, count] : counts) {
    CAPTURE(probe);
    CHECK(entries_of(document, probe) == count);
  }
}

}  // namespace fathom
