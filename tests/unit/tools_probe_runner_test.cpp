// What a run makes of its probes, and how it says where it is.

#include <csignal>

#include "reports/recordings.h"
#include "tests/testing.h"
#include "tools/commands.h"
#include "tools/programs.h"

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

TEST_CASE("A probe is judged by how it ended and what it left", "[tools]") {
  using enum ProbeStatus;
  using enum Stopped;
  struct Ended {
    ProcessEnd end;
    Stopped stopped;
    std::optional<Document> left;
    ProbeStatus status;
    ExitCode cause;
    const char* reason = "";
  };
  const auto at = GENERATE(values<Ended>({
      {{0}, no, part(complete, 3), complete, ExitCode::ok},
      // A failed check or missing counters leave the results complete.
      {{1}, no, part(complete, 3), complete, ExitCode::check_failed},
      {{16}, no, part(complete, 3), complete, ExitCode::gpu_out_of_memory},
      {{18}, no, part(complete, 3), complete, ExitCode::counters_unavailable},
      {{0, SIGSEGV}, no, part(partial, 3), crashed, ExitCode::probe_crashed, "SIGSEGV"},
      {{0, SIGSEGV}, no, part(partial, 3), crashed, ExitCode::probe_crashed, "its last words"},
      // Success without results, and an exit code that is none of ours.
      {{0}, no, std::nullopt, crashed, ExitCode::probe_crashed},
      {{0}, no, part(partial, 1), crashed, ExitCode::probe_crashed},
      {{77}, no, std::nullopt, crashed, ExitCode::probe_crashed},
      // Nor do probes end as other programs of ours do.
      {{4}, no, part(complete, 3), crashed, ExitCode::probe_crashed},
      {{23}, no, part(complete, 3), crashed, ExitCode::probe_crashed},
      {{130}, time_limit, part(partial, 1), timed_out, ExitCode::probe_timed_out},
      {{0, SIGKILL}, time_limit, part(partial, 1), timed_out, ExitCode::probe_timed_out},
      {{0, SIGKILL, true}, time_limit, std::nullopt, timed_out, ExitCode::gpu_lost},
      // Ready when the interrupt came.
      {{0}, interrupt, part(complete, 1), complete, ExitCode::ok},
      {{130}, interrupt, part(interrupted, 1), interrupted, ExitCode::interrupted},
      // Its own sentence is the reason where it has one.
      {{22}, no, part(failed, 2), partial, ExitCode::gpu_lost, "its last words"},
      {{22}, no, std::nullopt, failed, ExitCode::gpu_lost},
  }));
  ProcessEnd end = at.end;
  end.stopped = at.stopped;
  const auto outcome = judge_probe(end, at.left, "its last words", 10s);
  CAPTURE(at.end.status, at.end.signal, outcome.reason);
  CHECK(outcome.status == at.status);
  CHECK(outcome.cause == at.cause);
  CHECK(outcome.reason.empty() == (at.status == complete));
  CHECK_THAT(outcome.reason, contains(at.reason));
  if (at.end.status == 22) CHECK(outcome.reason == "its last words");
}

TEST_CASE("The run's exit code is its single cause, or says that there are several", "[tools]") {
  using enum ExitCode;
  CHECK(combined_exit_code({}) == ok);
  CHECK(combined_exit_code({ok, ok}) == ok);
  CHECK(combined_exit_code({ok, probe_crashed, probe_crashed}) == probe_crashed);
  CHECK(combined_exit_code({probe_crashed, probe_timed_out}) == incomplete);
  CHECK(combined_exit_code({probe_crashed, interrupted}) == interrupted);
}

TEST_CASE("A GPU's name becomes part of a folder's name", "[tools]") {
  CHECK(reports::gpu_slug("NVIDIA GeForce RTX 4090") == "geforce-rtx-4090");
  CHECK(reports::gpu_slug("NVIDIA A100-SXM4-80GB (MIG 1g.10gb)") == "a100-sxm4-80gb-mig-1g-10gb");
  CHECK(reports::gpu_slug("") == "gpu");
}

}  // namespace
}  // namespace fathom
