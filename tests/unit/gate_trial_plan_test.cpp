#include "studies/gate/trials/plan.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gate;

namespace {

std::vector<std::string> victim() {
  std::vector<std::string> names;
  for (const char* kind : {"fma", "shared", "read", "copy"})
    for (int i = 0; i < 8; ++i) names.push_back(std::string("v/") + kind + "/" + std::to_string(i));
  return names;
}

TrialOptions options(TrialKind kind) {
  return {.kind = kind,
          .seed = 3,
          .sizes = {0.0025, 0.01, 0.03, 0.05},
          .patterns = {LoadPattern::once, LoadPattern::head}};
}

}  // namespace

TEST_CASE("Every size of slowdown is planted equally often, in other metrics each time", "[gate]") {
  std::map<double, int> sizes;
  std::map<std::string, int> metrics;
  for (std::size_t index = 0; index < 40; ++index) {
    const TrialPlan plan = plan_trial(options(TrialKind::slowed), victim(), index);
    CHECK(plan.planted.size() == 10);  // a third
    CHECK_FALSE(plan.load);
    for (const Planted& planted : plan.planted) {
      ++sizes[planted.size];
      ++metrics[planted.metric];
    }
  }
  CHECK(sizes == std::map<double, int>{{0.0025, 100}, {0.01, 100}, {0.03, 100}, {0.05, 100}});
  CHECK(metrics.size() == 32);
  for (const auto& [name, times] : metrics) CHECK(times < 30);
}

TEST_CASE("The same seed plants the same flags, another one something else", "[gate]") {
  const auto flags = [](std::uint64_t seed, std::size_t index) {
    TrialOptions all = options(TrialKind::slowed);
    all.seed = seed;
    return victim_flags(plan_trial(all, victim(), index).planted);
  };
  CHECK(flags(3, 5) == flags(3, 5));
  CHECK(flags(3, 5) != flags(4, 5));
  CHECK(flags(3, 5) != flags(3, 6));
  CHECK(victim_flags({{"v/a", "slow", 0.03}, {"v/b", "slow", 0.0025}, {"v/c", "conflict", 0.01}}) ==
        " --conflict 'v/c=0.01' --slow 'v/a=1.03,v/b=1.0025'");
}

TEST_CASE("A metric has one real fault, and one that it can have", "[gate]") {
  std::set<std::string> metrics;
  for (const Planted& planted : plan_trial(options(TrialKind::faults), victim(), 1).planted) {
    CHECK(metrics.insert(planted.metric).second);
    CHECK_THAT(planted.metric, !contains("/fma/"));
  }
  CHECK_THROWS_AS(plan_trial(options(TrialKind::faults), {"v/fma/1"}, 0), Error);
  CHECK_THROWS_AS(load_pattern(""), Error);
}
