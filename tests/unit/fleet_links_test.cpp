#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_cards.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::fleet;

namespace {

/// The links of the recording with two GPUs.
Document recorded_links() {
  Document document = read_document(FATHOM_SOURCE_DIR "/recordings/h200/atlas/result.json");
  const auto other = [](const auto& part) { return part.probe != "links"; };
  std::erase_if(document.entries, other);
  std::erase_if(document.facts, other);
  std::erase_if(document.claims, other);
  std::erase_if(document.probes, [](const ProbeSummary& p) { return p.name != "links"; });
  return document;
}

std::string report_of_hosts(const std::vector<Document>& hosts) {
  Fleet fleet;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    fleet.links.push_back(links_of("host" + std::to_string(i), hosts[i]));
  fleet.finish();
  return fleet::report_of(fleet);
}

}  // namespace

TEST_CASE("One slow pair of many is named, though no host's median shows it", "[fleet]") {
  const Document good = recorded_links();
  REQUIRE(good.entries.size() > 100);
  CHECK_THAT(report_of_hosts({good, good, good}), !contains("Slower than the median pair"));
  Document bad = good;
  const auto slow =
      std::ranges::find(bad.entries, "links/peer/copy engine/one way/1to0", &Entry::name);
  REQUIRE(slow != bad.entries.end());
  *slow->metric.value /= 2;
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/fleet_links.txt",
               report_of_hosts({good, bad, good}));
}

TEST_CASE("Links that were summed up are reported as their document is", "[fleet]") {
  const Document document = recorded_links();
  TestFolder whole, summed_up;
  whole.write("links/a/result.json", to_text(document));
  summed_up.write("links/a/result.json", "{ not read");
  summed_up.write("links/a/links.json", to_text(links_of("a", document)));
  const auto facts = [](const TestFolder& folder) {
    const Fleet fleet = read_fleet(folder.path(), {});
    REQUIRE(fleet.links.size() == 1);
    CHECK(fleet.problems.empty());
    return fleet.links.front();
  };
  CHECK(facts(whole).facts == facts(summed_up).facts);
  CHECK(facts(whole).kinds == facts(summed_up).kinds);
  CHECK(to_text(facts(whole)) == to_text(facts(summed_up)));
  CHECK(to_text(facts(whole)).size() < to_text(document).size() / 20);
  std::string text = to_text(links_of("a", document));
  text.replace(text.find("\"kind\":0"), 8, "\"kind\":9");
  CHECK_THROWS_AS(parse_links(text, "links.json"), Error);
}

TEST_CASE("A whole document in place of a summary is none of a later run's", "[fleet]") {
  TestFolder folder;
  folder.write("links/a/links.json", to_text(recorded_links()));
  CHECK(read_fleet(folder.path(), {}).links.size() == 1);
  const Fleet own = read_fleet(folder.path(), {.gpus = {}, .hosts = {}, .run = "this"});
  CHECK(own.links.empty());
  CHECK(own.problems.empty());
}
