#include "models/published.h"

#include "probes/claims.h"
#include "probes/instructions/instructions.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::models;

TEST_CASE("every published figure is whole", "[models]") {
  const std::set<std::string_view> units{"cycles", "B", "B/s", "B/clk", "GPCs", "TPCs"};
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, int> newest;
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
  for (const PublishedFigure& figure : published_figures()) {
    CAPTURE(figure.fact, figure.chip, figure.source);
    CHECK(figure.value > 0);
    CHECK(units.contains(figure.unit));
    CHECK(figure.fact.find('.') != std::string_view::npos);
    CHECK_FALSE(figure.chip.empty());
    CHECK(figure.major >= 7);
    CHECK(figure.source.size() > 20);
    CHECK((figure.date == 0 || (figure.date > 201700 && figure.date % 100 <= 12)));
    // A quantity has the same unit wherever it stands.
    const bool latency = figure.fact.find("latency") != std::string_view::npos;
    CHECK(latency == (figure.unit == "cycles"));
    const bool bandwidth = figure.fact.find("bandwidth") != std::string_view::npos;
    CHECK(bandwidth == (figure.unit == "B/s"));
    // Where two sources state one fact of a chip, the newer comes first, and none is there twice.
    const auto [at, first] =
        newest.try_emplace({figure.fact, figure.unit, figure.chip}, figure.date);
    if (!first) CHECK(figure.date <= at->second);
    at->second = figure.date;
    CHECK(seen.emplace(figure.fact, figure.chip, figure.source).second);
    // Guards against a slip of a power of ten or a unit, not against taste in methods.
    for (const PublishedFigure* other :
         find_published(figure.fact, figure.unit, figure.major, figure.minor, figure.chip)) {
      CAPTURE(other->source);
      CHECK(figure.value < 2.5 * other->value);
    }
  }
}

// What is cited beside an H200's and an H100's facts: the recordings (recording_conclude_test.cpp).
TEST_CASE("the nearest chip's figure comes first, and none of what nobody knows", "[models]") {
  for (const auto& [major, minor, gpu, chip] : {std::tuple{9, 0, "NVIDIA GH200 480GB", "GH200"},
                                                {8, 9, "NVIDIA L40S", "RTX 4090"},
                                                {8, 9, "NVIDIA L40", "L40"}})
    CHECK(find_published("l2.latency", "cycles", major, minor, gpu).at(0)->chip == chip);
  CHECK(find_published("l2.latency", "s", 9, 0, "NVIDIA H200").empty());
  CHECK(find_published("l2.latency", "cycles", 6, 1, "NVIDIA TITAN Xp").empty());
}

TEST_CASE("latencies and sizes are published of facts that probes state", "[models][probes]") {
  std::map<std::string, std::string> units;
  for (const auto& findings : {memory_latency::conclude({}), instructions::conclude({})}) {
    for (const Fact& fact : findings.facts) units[fact.id] = fact.unit;
  }
  for (const PublishedFigure& figure : published_figures()) {
    if (figure.unit != "cycles" && figure.unit != "B") continue;
    CAPTURE(figure.fact);
    CHECK(units[std::string(figure.fact)] == figure.unit);
  }
}
