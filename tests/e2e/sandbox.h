#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/document.h"
#include "tools/child_process.h"

namespace fathom {

/// A folder of its own for one test, with a program folder of fakes in it (fake_program.cpp) and an
/// environment in which `fathom` sees nothing else: no GPU of this machine, no lock of another run.
class Sandbox {
 public:
  /// Fakes for the probes with these names.
  explicit Sandbox(std::initializer_list<std::string> probes);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Sets an environment variable until the end of the test.
  void set(const std::string& name, const std::string& value);

  /// `fathom` with these arguments, run to its end in the sandbox's folder.
  CapturedRun fathom(const std::vector<std::string>& arguments);

  /// `fathom run --out OUT` with further arguments.
  CapturedRun run(std::vector<std::string> arguments = {});

  std::filesystem::path folder() const { return folder_; }
  std::filesystem::path out() const { return folder_ / "out"; }
  Document result() const;
  std::string report() const;

 private:
  std::filesystem::path folder_;
  std::vector<std::pair<std::string, std::optional<std::string>>> previous_;
};

/// `fathom` in the background.
class Background {
 public:
  explicit Background(const std::vector<std::string>& arguments, int errors = -1);
  /// To the `fathom` process.
  void signal(int number) const { child_.signal(number); }
  /// Its exit status, or minus the signal that ended it.
  int wait();
  std::string output() const;

 private:
  FileDescriptor output_;
  SignalInbox inbox_{SignalInbox::Interrupts::act};
  ChildProcess child_;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
std::string first_line(const std::string& text);

/// Waits until the file holds the text; false after ten seconds.
bool wait_for_text(const std::filesystem::path& path, const std::string& text);

/// Of the line "began 123" of a held fake's log; -1 where there is none.
long long number_in(const std::filesystem::path& log, const std::string& word);

/// The process numbers of the line "pids ..." of a fake's log.
std::vector<int> pids_in(const std::filesystem::path& log);
bool alive(int pid);

/// The exit status, or minus the signal.
int code(const CapturedRun& run);

/// The summary of one probe; a failed test without it.
ProbeSummary summary_of(const Document& document, const std::string& probe);
std::size_t entries_of(const Document& document, const std::string& probe);

}  // namespace fathom
