#include <csignal>

#include "probes/copy_bandwidth/cases.h"
#include "results/verdict.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::copy_bandwidth;

namespace {

Entry judged(const AccessOutcome& outcome) {
  Entry entry;
  entry.metric = {"faults", "launches", Better::higher, std::nullopt};
  entry.expected = Expectation{1, 0, "a model"};
  report(outcome, entry);
  judge_entry(entry);
  return entry;
}

int exited(ExitCode code) { return to_int(code) << 8; }

}  // namespace

TEST_CASE("an access that was made is refused or not", "[probes][copy_bandwidth]") {
  for (const auto& [code, faults] : {std::pair{ExitCode::check_failed, 1.0}, {ExitCode::ok, 0.0}}) {
    const Entry entry = judged(outcome_of(exited(code)));
    CHECK(entry.metric.value == faults);
    CHECK(entry.extras.at("faults") == faults);
    CHECK(entry.counters.empty());
    CHECK(entry.verdict.status == (faults == 1 ? VerdictStatus::ok : VerdictStatus::unexpected));
  }
}

TEST_CASE("an access that could not be made has no value, fails nothing and says why",
          "[probes][copy_bandwidth]") {
  for (const auto& [outcome, why] :
       {std::pair{outcome_of(exited(ExitCode::gpu_busy)), "ended with exit code 17"},
        {outcome_of(127 << 8), "ended with exit code 127"},
        {outcome_of(SIGALRM), "did not end within 60 s"},
        {outcome_of(SIGKILL), "was ended by signal 9"},
        {outcome_of(-1), "not known"},
        {AccessOutcome{{}, "could not be started"}, "could not be started"}}) {
    const Entry entry = judged(outcome);
    CAPTURE(why);
    CHECK_FALSE(entry.metric.value);
    CHECK(entry.samples.empty());
    CHECK(entry.extras.empty());
    CHECK(entry.verdict.status == VerdictStatus::ok);
    REQUIRE(entry.counters.size() == 1);
    CHECK_FALSE(entry.counters[0].value);
    CHECK_THAT(entry.counters[0].reason, contains(why));
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
