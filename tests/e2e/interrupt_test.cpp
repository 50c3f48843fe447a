// Ctrl-C, a cancelled CI job, a closed terminal, a full disk.

#include <pty.h>
#include <sys/stat.h>

#include "sandbox.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

/// The log of a probe, once its processes are in it.
fs::path once_up(const Sandbox& box, const std::string& probe) {
  const auto log = box.out() / "logs" / (probe + ".log");
  REQUIRE(wait_for_text(log, "pids"));
  return log;
}

TEST_CASE("An interrupted run keeps what was measured and says what is missing", "[e2e]") {
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const bool together = GENERATE(false, true);
  CAPTURE(number, together);
  Sandbox box({"first", "slow", "zero"});
  Background run(box.words_of_run(together ? start_together : ""));
  const auto log = once_up(box, "slow");
  run.signal(number);
  CHECK(run.wait() == to_int(ExitCode::interrupted));
  INFO(run.output());
  const Document document = box.result();
  has_entries(document, {{"first", 2}, {"slow", 2}, {"zero", 0}});
  CHECK(summary_of(document, "slow").status == ProbeStatus::interrupted);
  CHECK(summary_of(document, "zero").status == ProbeStatus::interrupted);
  has(box.report(), "not started", "interrupted");
  has(last_line(run.output()), "index.html");
  for (const int pid : pids_in(log)) CHECK_FALSE(alive(pid));
}

TEST_CASE("Ctrl-C while probes become ready leaves none of them", "[e2e]") {
  Sandbox box({"first", "late"});
  Background run(box.words_of_run(start_together));
  const auto log = once_up(box, "late");
  run.signal(SIGINT);
  CHECK(run.wait() == to_int(ExitCode::interrupted));
  for (const char* probe : {"first", "late"}) {
    CHECK(summary_of(box.result(), probe).status == ProbeStatus::interrupted);
    has(summary_of(box.result(), probe).status_reason, "not started");
  }
  const auto pids = pids_in(log);
  REQUIRE(pids.size() == 2);
  for (const int pid : pids) CHECK_FALSE(alive(pid));
}

TEST_CASE("A second Ctrl-C does not wait for a deaf probe", "[e2e]") {
  Sandbox box({"hang"});
  Background run(box.words_of_run());
  const auto log = once_up(box, "hang");
  const auto start = Clock::now();
  run.signal(SIGINT);
  std::this_thread::sleep_for(200ms);
  run.signal(SIGINT);
  CHECK(run.wait() == to_int(ExitCode::interrupted));
  CHECK(Clock::now() - start < 4s);  // less than the grace that one interrupt gives
  CHECK(entries_of(box.result(), "hang") == 2);
  for (const int pid : pids_in(log)) CHECK_FALSE(alive(pid));
}

TEST_CASE("A killed run takes its probe with it", "[e2e]") {
  Sandbox box({"slow"});
  Background run(box.words_of_run());
  const auto log = once_up(box, "slow");
  run.signal(SIGKILL);
  CHECK(run.wait() == -SIGKILL);
  for (const int pid : pids_in(log)) {
    for (int i = 0; i < 500 && alive(pid); ++i) std::this_thread::sleep_for(10ms);
    CHECK_FALSE(alive(pid));
  }
}

TEST_CASE("On a terminal a run shows its progress, on one line that it clears", "[e2e]") {
  int master = -1, slave = -1;
  REQUIRE(openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
  const FileDescriptor screen(master);
  FileDescriptor terminal(slave);
  Sandbox box({"first", "second"});
  Background run(box.words_of_run(), terminal.get());
  CHECK(run.wait() == 0);
  std::array<char, 65536> text;
  const ssize_t size = read(screen.get(), text.data(), text.size());
  REQUIRE(size > 0);
  const std::string shown(text.data(), static_cast<std::size_t>(size));
  has(shown, "[1/2] first: 0 of 2", "[2/2] second: 1 of 2, about ");
  CHECK(shown.ends_with("\r\033[K"));
  CHECK(shown.find('\n') == std::string::npos);
}

TEST_CASE("An interrupt ends every command with one code", "[e2e]") {
  const int number = GENERATE(SIGTERM, SIGINT, SIGHUP);
  CAPTURE(number);
  Sandbox box({"first"});
  // It waits for a writer for as long as nobody comes.
  const fs::path fifo = box.folder() / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const char* command : {"report ", "check --baseline none ", "predict shared --patterns "}) {
    Background waiting(words(command + fifo.string()));
    std::this_thread::sleep_for(300ms);
    waiting.signal(number);
    CHECK(waiting.wait() == to_int(ExitCode::interrupted));
  }
}

/// `fathom run` into "disk/out" on a file system of `size`, in a mount namespace of its own, which
/// has to find it full; what it left is in "kept" then.
CapturedRun run_on_small_disk(const Sandbox& box, const std::string& size) {
  fs::create_directories(box.folder() / "disk");
  const std::string inside =
      "cd \"$1\" && mount -t tmpfs -o size=" + size + " none disk || exit 99; " + FATHOM_PROGRAM +
      " run --out disk/out; status=$?; rm -f disk/out/parts/*.ballast; cp -r disk/out kept; "
      "exit $status";
  const std::string unshare =
      geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount";
  const CapturedRun run = run_and_capture(
      "/bin/sh",
      {"-c", unshare + " true || exit 99; exec " + unshare + " sh -c '" + inside + "' sh \"$1\"",
       "sh", box.folder()},
      60s);
  if (code(run) == 99) SKIP("this user cannot mount a small file system");
  return expect(ExitCode::output_full, run);
}

TEST_CASE("A full disk is refused before anything is measured", "[e2e]") {
  Sandbox box({"first"});
  has(run_on_small_disk(box, "4m").errors, "disk/out cannot be written (No space");
  CHECK_FALSE(fs::exists(box.folder() / "kept" / "logs" / "first.log"));
}

TEST_CASE("A disk that becomes full during the run costs no results", "[e2e]") {
  Sandbox box({"first", "hog"});
  has(run_on_small_disk(box, "20m").errors, "what was measured is in ");
  for (const char* probe : {"first", "hog"}) {
    const Document part =
        read_document(box.folder() / "kept" / "parts" / (std::string(probe) + ".json"));
    CHECK(entries_of(part, probe) == 2);
  }
}

}  // namespace
}  // namespace fathom
