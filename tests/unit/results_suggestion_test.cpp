#include "results/suggestion.h"
#include "tests/testing.h"

namespace fathom {
namespace {

const std::vector<std::string> probes{"bank_conflicts", "copy_bandwidth", "occupancy",
                                      "tail_effect", "warp_reduce"};

TEST_CASE("A misspelt word, or a part of it, finds the one that was meant", "[results]") {
  CHECK(closest_match("ocupancy", probes) == "occupancy");
  CHECK(closest_match("copy_bandwith", probes) == "copy_bandwidth");
  CHECK(closest_match("tail-effect", probes) == "tail_effect");
  CHECK(closest_match("rnu", {"run", "list", "report"}) == "run");
  CHECK(closest_match("reduce", probes) == "warp_reduce");
}

TEST_CASE("A word like no other finds nothing", "[results]") {
  CHECK_FALSE(closest_match("xyzzy", probes));
  CHECK_FALSE(closest_match("", probes));
  CHECK_FALSE(closest_match("--bogus", {"--out", "--suite"}));  // dashes are no likeness
  CHECK(did_you_mean("xyzzy", probes).empty());
  CHECK(did_you_mean("ocupancy", probes) == " Did you mean `occupancy`?");
}

}  // namespace
}  // namespace fathom
