#include "models/published.h"

#include "probes/claims.h"
#include "probes/instructions/instructions.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

std::vector<const PublishedFigure*> on_h200(std::string_view fact, std::string_view unit) {
  return find_published(fact, unit, 9, 0, "NVIDIA H200");
}

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

TEST_CASE("the nearest chip's figure comes first", "[models]") {
  const auto l2 = on_h200("l2.bandwidth", "B/s");
  REQUIRE(l2.size() >= 3);
  CHECK(l2[0]->chip == "H200");  // measured on the same product
  CHECK(l2[1]->chip != "H200");
  CHECK_THAT(cited(*l2[0], "NVIDIA H200"), !contains(" on "));
  const auto latency = on_h200("l2.latency", "cycles");
  REQUIRE(latency.size() >= 3);
  CHECK(latency[0]->chip == "GH200");  // nobody has it of an H200
  CHECK(cited(*latency[0], "NVIDIA H200").ends_with(", on GH200"));
  const auto h100 = find_published("l2.latency", "cycles", 9, 0, "NVIDIA H100 80GB HBM3");
  CHECK(h100[0]->chip == "H100 SXM");
  CHECK(h100.size() == latency.size());
  CHECK(find_published("l2.latency", "cycles", 9, 0, "NVIDIA GH200 480GB")[0]->chip == "GH200");
  CHECK(find_published("l2.latency", "cycles", 8, 9, "NVIDIA L40S")[0]->chip == "RTX 4090");
  CHECK(find_published("l2.latency", "cycles", 8, 9, "NVIDIA L40")[0]->chip == "L40");
}

TEST_CASE("an instruction's latency may come from another architecture", "[models]") {
  const auto popc = on_h200("popc.latency", "cycles");
  REQUIRE(popc.size() == 1);
  CHECK(popc[0]->value == 10);
  CHECK(cited(*popc[0], "NVIDIA H200").ends_with(", on V100"));
  const auto ffma = on_h200("ffma.latency", "cycles");
  REQUIRE(ffma.size() == 2);
  CHECK(ffma[0]->chip == "H100 SXM");
  CHECK(ffma[1]->value == 4);
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

TEST_CASE("nothing is published of what nobody knows", "[models]") {
  CHECK(on_h200("l2.latency", "s").empty());  // another unit
  CHECK(on_h200("l2.colour", "cycles").empty());
  CHECK(on_h200("", "").empty());
  CHECK(find_published("l2.latency", "cycles", 6, 1, "NVIDIA TITAN Xp").empty());
  CHECK(find_published("l2.bandwidth", "B/s", 12, 1, "").empty());
}

}  // namespace
}  // namespace fathom::models
