#pragma once

#include "results/document.h"
#include "results/exit_codes.h"
#include "tests/testing.h"
#include "tools/child_process.h"
#include "tools/output_folder.h"

namespace fathom {

/// A folder of its own for one test, with a program folder of fakes in it (fake_program.cpp) and an
/// environment in which `fathom` sees nothing else: no GPU of this machine, no lock of another run.
class Sandbox {
 public:
  /// Fakes for the probes with these names, and of so many GPUs; 0: as the fakes have it, one.
  explicit Sandbox(std::initializer_list<std::string> probes, int gpus = 0);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Sets an environment variable until the end of the test.
  void set(const std::string& name, const std::string& value);

  /// `fathom` with these arguments, run to its end in the sandbox's folder.
  CapturedRun fathom(const std::vector<std::string>& arguments);

  /// An NVIDIA GPU on the machine's PCI bus; another class of device, if that is given.
  void add_pci_device(const std::string& slot, const std::string& of_class = "0x030200") const;

  /// A shell's command line in that folder, in which $F is `fathom`: "$F list <&-".
  CapturedRun shell(const std::string& command) const;

  /// `fathom run --out OUT` with further arguments.
  CapturedRun run(std::vector<std::string> arguments = {});

  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path out() const { return folder() / "out"; }
  Document result() const;
  std::string log_of(const std::string& probe) const;
  std::string report() const;

 private:
  TemporaryFolder folder_{"set TMPDIR"};
  std::vector<std::pair<std::string, std::optional<std::string>>> previous_;
};

/// `fathom`, or another program, in the background.
class Background {
 public:
  explicit Background(const std::vector<std::string>& arguments, int errors = -1)
      : Background(FATHOM_PROGRAM, arguments, errors) {}
  Background(const std::string& program, const std::vector<std::string>& arguments,
             int errors = -1);
  /// To that process.
  void signal(int number) const { child_.signal(number); }
  /// Its exit status, or minus the signal that ended it.
  int wait();
  std::string output() const;

 private:
  FileDescriptor output_;
  SignalInbox inbox_{SignalInbox::Interrupts::act};
  ChildProcess child_;
};

/// The words of a command line; '' is an empty one.
std::vector<std::string> words(const std::string& line);

/// A wrong command line, and what is said of it.
struct Mistake {
  std::string line, said;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
/// A Google Benchmark file of one benchmark that took so many nanoseconds.
std::string benchmark_file(const std::string& time = "1000",
                           const std::string& date = "2026-11-21T12:00:00+00:00",
                           const std::string& name = "BM_Sort");
std::string first_line(const std::string& text);

/// Waits until the file holds the text; false after ten seconds.
bool wait_for_text(const std::filesystem::path& path, const std::string& text);

/// The number in the line "began 123" of a held fake's log; -1 where there is none.
long long number_in(const std::filesystem::path& log, const std::string& word);

/// The process numbers of the line "pids ..." of a fake's log.
std::vector<int> pids_in(const std::filesystem::path& log);
bool alive(int pid);

/// The exit status, or minus the signal.
int code(const CapturedRun& run);

void check_part(const std::string& text, const std::string& part, bool wanted);
/// Fails the test for each of the parts that the text does not have.
template <class... Parts>
void has(const std::string& text, const Parts&... parts) {
  (check_part(text, parts, true), ...);
}

/// The same for each that it has.
template <class... Parts>
void lacks(const std::string& text, const Parts&... parts) {
  (check_part(text, parts, false), ...);
}

/// Processor time of all processes that were started here and have ended.
double children_cpu_s();

/// A run that ended as it was to: each member function checks one thing more.
class Ended {
 public:
  using Text = const std::string&;
  explicit Ended(CapturedRun run) : run_(std::move(run)) {}
  /// Standard output has each of these texts.
  template <class... Texts>
  const Ended& says(const Texts&... texts) const {
    return (check_part(run_.output, texts, true), ...), *this;
  }
  template <class... Texts>
  const Ended& never_says(const Texts&... texts) const {
    return (check_part(run_.output, texts, false), ...), *this;
  }
  /// Standard error has.
  template <class... Texts>
  const Ended& complains(const Texts&... texts) const {
    return (check_part(run_.errors, texts, true), ...), *this;
  }
  /// Standard output begins so.
  const Ended& starts(Text text) const { return holds(run_.output, StartsWith(text)); }
  const Ended& first_line(Text text) const { return starts(text + "\n"); }
  const Ended& no_output() const { return holds(run_.output, Catch::Matchers::Equals("")); }
  const Ended& no_errors() const { return holds(run_.errors, Catch::Matchers::Equals("")); }
  /// Standard error has one line.
  const Ended& one_line() const {
    INFO(run_.errors);
    CHECK(std::ranges::count(run_.errors, '\n') == 1);
    return *this;
  }
  /// And standard output has none.
  const Ended& is_one_sentence() const { return one_line().no_output(); }
  /// The sentence is of `fathom`.
  const Ended& by_fathom() const { return holds(run_.errors, StartsWith("fathom: ")); }
  operator const CapturedRun&() const { return run_; }

 private:
  const Ended& holds(Text text, const auto& matcher) const {
    CHECK_THAT(text, matcher);
    return *this;
  }
  CapturedRun run_;
};

/// Fails the test if the run ended with another code.
Ended expect(int expected, CapturedRun run);
Ended expect(ExitCode expected, CapturedRun run);

/// The summary of one probe; a failed test without it.
ProbeSummary summary_of(const Document& document, const std::string& probe);
/// The probes have so many entries.
void has_entries(const Document& document,
                 std::initializer_list<std::pair<std::string, std::size_t>> counts);
std::size_t entries_of(const Document& document, const std::string& probe);

}  // namespace fathom
