#include <csignal>

#include "tests/testing.h"
#include "tools/run_outcome.h"

namespace fathom {
namespace {

using namespace std::chrono_literals;

Document part(ProbeStatus status, int entries) {
  Document document;
  document.probes.emplace_back();
  document.probes.back().status = status;
  document.entries.resize(static_cast<std::size_t>(entries));
  return document;
}

SupervisedEnd exited(int status) { return {{status, 0, false}, Stopped::no}; }

TEST_CASE("A probe that ended well is complete", "[tools]") {
  const auto outcome = judge_probe(exited(0), part(ProbeStatus::complete, 3), "fine", 10s);
  CHECK(outcome.status == ProbeStatus::complete);
  CHECK(outcome.cause == ExitCode::ok);
  CHECK(outcome.reason.empty());
}

TEST_CASE("A failed check or missing counters leave the results complete", "[tools]") {
  for (const int code : {1, 16, 18}) {
    const auto outcome = judge_probe(exited(code), part(ProbeStatus::complete, 3), "", 10s);
    CHECK(outcome.status == ProbeStatus::complete);
    CHECK(to_int(outcome.cause) == code);
  }
}

TEST_CASE("A probe that ended by a signal crashed, and says which and its last words", "[tools]") {
  const auto outcome =
      judge_probe({{0, SIGSEGV, false}, Stopped::no}, part(ProbeStatus::partial, 3), "case 4", 10s);
  CHECK(outcome.status == ProbeStatus::crashed);
  CHECK(outcome.cause == ExitCode::probe_crashed);
  CHECK_THAT(outcome.reason, contains("SIGSEGV") && contains("case 4"));
}

TEST_CASE("A probe that claims success without its results crashed", "[tools]") {
  CHECK(judge_probe(exited(0), std::nullopt, "", 10s).cause == ExitCode::probe_crashed);
  CHECK(judge_probe(exited(0), part(ProbeStatus::partial, 1), "", 10s).status ==
        ProbeStatus::crashed);
  CHECK(judge_probe(exited(77), std::nullopt, "", 10s).cause == ExitCode::probe_crashed);
}

TEST_CASE("A probe at its time limit timed out, however it ended then", "[tools]") {
  for (const ProcessEnd end :
       {ProcessEnd{130, 0}, ProcessEnd{0, SIGTERM}, ProcessEnd{0, SIGKILL}}) {
    const auto outcome =
        judge_probe({end, Stopped::time_limit}, part(ProbeStatus::partial, 1), "", 10s);
    CHECK(outcome.status == ProbeStatus::timed_out);
    CHECK(outcome.cause == ExitCode::probe_timed_out);
  }
  const auto stuck = judge_probe({{0, SIGKILL, true}, Stopped::time_limit}, std::nullopt, "", 10s);
  CHECK(stuck.cause == ExitCode::gpu_lost);
}

TEST_CASE("A probe that was ready when the interrupt came is complete", "[tools]") {
  CHECK(judge_probe({{0, 0, false}, Stopped::interrupt}, part(ProbeStatus::complete, 1), "", 10s)
            .status == ProbeStatus::complete);
  CHECK(
      judge_probe({{130, 0, false}, Stopped::interrupt}, part(ProbeStatus::interrupted, 1), "", 10s)
          .cause == ExitCode::interrupted);
}

TEST_CASE("A probe's own sentence is the reason where it has one", "[tools]") {
  const auto outcome =
      judge_probe(exited(22), part(ProbeStatus::failed, 2), "The GPU is lost.", 10s);
  CHECK(outcome.status == ProbeStatus::partial);
  CHECK(outcome.reason == "The GPU is lost.");
  CHECK(outcome.cause == ExitCode::gpu_lost);
  CHECK(judge_probe(exited(22), std::nullopt, "", 10s).status == ProbeStatus::failed);
}

TEST_CASE("The run's exit code is its single cause, or says that there are several", "[tools]") {
  using enum ExitCode;
  CHECK(combined_exit_code({}) == ok);
  CHECK(combined_exit_code({ok, ok}) == ok);
  CHECK(combined_exit_code({ok, probe_crashed, probe_crashed}) == probe_crashed);
  CHECK(combined_exit_code({probe_crashed, probe_timed_out}) == incomplete);
  CHECK(combined_exit_code({probe_crashed, interrupted}) == interrupted);
}

}  // namespace
}  // namespace fathom
