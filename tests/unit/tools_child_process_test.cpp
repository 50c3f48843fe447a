#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "test_folder.h"
#include "tests/testing.h"
#include "tools/child_process.h"

namespace fathom {
namespace {

using namespace std::chrono_literals;

CapturedRun shell(const std::string& script, std::chrono::milliseconds limit = 20s) {
  return run_and_capture("/bin/sh", {"-c", script}, limit);
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

TEST_CASE("A child at its limit is ended with all that it started", "[tools]") {
  // The shell and its child both ignore SIGTERM; the background one would outlive its parent.
  const auto start = std::chrono::steady_clock::now();
  const auto run = shell("trap '' TERM; sleep 60 & echo $!; sleep 60", 200ms);
  CHECK(std::chrono::steady_clock::now() - start < 15s);
  CHECK(run.end.stopped == Stopped::time_limit);
  CHECK(run.end.signal == SIGKILL);
  const pid_t grandchild = std::stoi(run.output);
  CHECK(kill(grandchild, 0) == -1);
  CHECK_FALSE(has_children());
}

TEST_CASE("A child that ends by itself leaves no grandchild behind", "[tools]") {
  const auto run = shell("sleep 60 >/dev/null 2>&1 & echo $!");
  CHECK(run.end.stopped == Stopped::no);
  CHECK(kill(std::stoi(run.output), 0) == -1);
  CHECK_FALSE(has_children());
}

TEST_CASE("A program that is not there, or is none, cannot be started", "[tools]") {
  const TestFolder folder;
  const auto none = folder.write("no-program", "neither a script nor an ELF");
  std::filesystem::permissions(none, std::filesystem::perms::owner_all);
  for (const std::filesystem::path& program : {std::filesystem::path("/nonexistent/program"), none})
    CHECK_THROWS_WITH(run_and_capture(program, {}, 1s), contains("Cannot start"));
  CHECK_FALSE(has_children());
}

TEST_CASE("Lines of progress arrive one by one", "[tools]") {
  std::vector<std::string> lines;
  SignalInbox inbox(SignalInbox::Interrupts::act);
  ChildStart start{"/bin/sh",
                   {"-c", "printf 'one\\ntw' >&$1; sleep 0.1; echo o >&$1"},
                   STDOUT_FILENO,
                   STDERR_FILENO};
  start.socket_flags = {"--progress-fd"};
  ChildProcess child(start);
  const auto look = [&] {
    while (const auto line = child.next_line()) lines.push_back(*line);
  };
  supervise(child, inbox, {.limit = 20s, .look = look});
  CHECK(lines == std::vector<std::string>{"one", "two"});
}

TEST_CASE("Of a log the last line with text in it, however long it is", "[tools]") {
  const TestFolder folder;
  CHECK(last_line_of(folder.write("blank.txt", "  \n")).empty());
  const auto log = folder.write("log.txt", "one\ntwo\n \n\n");
  CHECK(last_line_of(log) == "two");
  std::ofstream(log, std::ios::app) << std::string(10000, 'x') << " last words";
  CHECK(last_line_of(log).size() == 4096);
  CHECK_THAT(last_line_of(log), Catch::Matchers::EndsWith("x last words"));
  CHECK(last_line_of(folder.path()).empty());
  CHECK(last_line_of(folder / "none").empty());
}

}  // namespace
}  // namespace fathom
