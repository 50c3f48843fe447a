#include "studies/gate/victim/faults.h"
#include "studies/gate/victim/kernels.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gate_victim;

namespace {

const std::map<std::string, Possible> metrics{{"v/fma", {}}, {"v/shared", {.conflict = true}}};

std::string refusal(const OptionValues& values) {
  const Refusal refused = refusal_of([&] { faults_of(values, metrics); });
  CHECK((refused.text.empty() || refused.code == ExitCode::bad_input));
  return refused.text;
}

}  // namespace

TEST_CASE("Several metrics get faults at once, and more work to 0.05 %", "[gate]") {
  const Faults faults = faults_of({{"slow", std::string("v/fma=1.0025,v/shared=1.5")},
                                   {"conflict", std::string("v/shared=0.01")}},
                                  metrics);
  CHECK(slowed(10'000, faults, "v/fma") == 10'025);
  CHECK(slowed(10'000, faults, "v/shared") == 15'000);
  CHECK(slowed(10'000, faults, "v/else") == 10'000);
  CHECK(share_of(faults.conflict, "v/shared") == 0.01);
  CHECK(share_of(faults.conflict, "v/fma") == 0);
  for (const double factor : {1.0025, 1.004, 1.005, 1.01, 1.015, 1.02, 1.03, 1.05}) {
    Faults one;
    one.slow["v/fma"] = factor;
    for (const int work : {1000, 2000, 8192, 10'000})
      CHECK(std::abs(slowed(work, one, "v/fma") / (work * factor) - 1) <= 0.0005);
  }
}

TEST_CASE("A fault that a metric cannot have, or that is no number, is refused", "[gate]") {
  for (const char* bad : {"v/fma=0.9", "v/fma=nan", "v/fma=inf", "v/fma=1.0x", "v/fma=", "v/fma=3"})
    CHECK_THAT(refusal({{"slow", std::string(bad)}}), contains("wants a number"));
  for (const auto& [flag, fault, said] : {std::tuple{"slow", "v/fma", "not METRIC=NUMBER"},
                                          {"slow", "v/none=1.1", "no such metric"},
                                          {"slow", "v/fma=1.1,v/fma=1.2", "twice"},
                                          {"conflict", "v/fma=0.1", "cannot have"}})
    CHECK_THAT(refusal({{flag, std::string(fault)}}), contains(said));
}

TEST_CASE("A chain's end tells how many steps were taken", "[gate]") {
  // Far from the beginning too, where a chain that converges would tell nothing.
  for (const Chain chain : {Chain::fma, Chain::dfma, Chain::imad, Chain::shuffle})
    for (const int turns : {10'000, 10'300})
      for (int other = turns - 3; other < turns; ++other)
        CHECK(chain_end(chain, turns) != chain_end(chain, other));
  CHECK(chase_end(128, 10'000) != chase_end(128, 10'001));
  CHECK(shared_chase_end(3, 10'000) != shared_chase_end(3, 10'001));
  // Steps 0 to 9 in turn over four sets: 8, 9, 6 and 7 are the last of each.
  for (int set = 0; set < 4; ++set) CHECK(atomics_end(10, 4, set) == (set < 2 ? 8 + set : 4 + set));
  CHECK(atomics_end(10, 1, 0) == 9);
}
