#include <csignal>

#include "probes/copy_bandwidth/cases.h"
#include "results/verdict.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::copy_bandwidth;

// How a process ended, what is known then, and why nothing is.
TEST_CASE("a misaligned access is refused or not, or why that is not known is said",
          "[probes][copy_bandwidth]") {
  const auto exited = [](int code) { return code << 8; };
  for (const auto& [status, faults, why] :
       {std::tuple{exited(to_int(ExitCode::check_failed)), 1.0, ""},
        {exited(to_int(ExitCode::ok)), 0.0, ""},
        {exited(to_int(ExitCode::gpu_busy)), -1.0, "exit code 17"},
        {exited(127), -1.0, "exit code 127"},
        {SIGALRM, -1.0, "signal 14"},
        {SIGKILL, -1.0, "signal 9"}}) {
    CAPTURE(status);
    Entry entry;
    entry.metric = {"faults", "launches", Better::higher, std::nullopt};
    entry.expected = Expectation{1, 0, "a model"};
    const std::string reason = report_access(status, entry);
    CHECK(reason.ends_with(why));
    CHECK(reason.empty() == (faults >= 0));
    if (!reason.empty()) report_no_access(reason, entry);
    judge_entry(entry);
    CHECK(entry.verdict.status == (faults == 0 ? VerdictStatus::unexpected : VerdictStatus::ok));
    CHECK(entry.metric.value == (faults < 0 ? std::nullopt : std::optional(faults)));
    if (reason.empty()) {
      CHECK(entry.extras.at("faults") == faults);
      continue;
    }
    CHECK_FALSE(entry.extras.contains("faults"));
    CHECK(entry.counters.at(0).reason == reason);
    CHECK_THAT(fmt::format("{}", fmt::join(entry.verdict.unchecked, " ")), contains(why));
  }
}

TEST_CASE("no second process makes the access where none may, or where a fault ends others",
          "[probes][copy_bandwidth]") {
  CHECK(why_no_access("default", nullptr).empty());
  CHECK(why_no_access("default", "").empty());
  CHECK_THAT(why_no_access("exclusive process", nullptr), contains("exclusive process"));
  CHECK_THAT(why_no_access("default", "/tmp/mps"), contains("MPS"));
}
