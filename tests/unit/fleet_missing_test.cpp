// Figures that are missing or no measurement's, and links, in a fleet's report.

#include <nlohmann/json.hpp>

#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_cards.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::fleet;
using Json = nlohmann::ordered_json;

namespace {

/// gpu.json files of one host, of cards without a fault, as another program might have changed
/// them.
struct HostFiles : TestFolder {
  explicit HostFiles(std::size_t count) {
    for (std::size_t number = 0; number < count; ++number) {
      GpuSummary card = planted_card(number);
      card.host = "node";
      card.gpu = static_cast<int>(number);
      card.date = "2026-01-31T12:00:00Z";
      card.suite = "quick";
      card.names.push_back({"model/mismatches", "patterns", Better::lower});
      const double own = 1 + 0.001 * static_cast<double>(number % 5);  // cards differ
      card.figures = {{4e12 * own, 3.9e12 * own, 0.001, {}},
                      {1e-6 / own, 1.1e-6 / own, 0.001, {}},
                      {{}, 0.0, {}, {}}};
      cards.push_back(Json::parse(to_text(card)));
    }
  }
  Fleet fleet() const {
    for (std::size_t i = 0; i < cards.size(); ++i)
      write("gpus/node-" + std::to_string(i) + "/gpu.json", cards[i].dump());
    return read_fleet(path(), {});
  }

  std::vector<Json> cards;
};

void set_first(Json& card, const Json& value) {
  for (const char* state : {"alone", "together"}) card["metrics"][state][0] = value;
}

void remove_first(Json& card) {
  for (auto& [name, column] : card["metrics"].items()) column.erase(0);
}

Json document_of(const Fleet& fleet) {
  return Json::parse(fleet_document(fleet, find_outliers(fleet, {})));
}

const std::vector<std::string> only_card_2{"node GPU 2"};

}  // namespace

TEST_CASE("A report of figures that no measurement gives, and of gaps that no fault makes",
          "[fleet]") {
  HostFiles host(12);
  set_first(host.cards[1], 0);
  set_first(host.cards[2], -1);
  set_first(host.cards[3], nullptr);
  remove_first(host.cards[4]);
  host.cards[5]["metrics"]["together"][2] = -1;  // no mismatch is a figure, fewer are none
  set_first(host.cards[6], 4e8);
  set_first(host.cards[7], 2e12);  // half the speed is a fault
  HostLinks links;
  links.host = "node";
  links.facts = {
      {"peer", "GPU to GPU", "one way", "B/s", Better::higher, 0.0, 450e9, "NVLink", ""}};
  links.kinds = {{"copy engine", "one way", "B/s"}};
  links.pairs = {{0, "0", "1", 390e9, 450e9}, {0, "1", "0", -5.0, 450e9}, {0, "0", "2", 0.0, 0.0}};
  host.write("links/node-0/links.json", to_text(links));
  const Fleet fleet = host.fleet();
  std::string all = report_of(fleet);
  const Json document = document_of(fleet);
  for (const Json& problem : document.at("problems")) all += problem.dump() + "\n";
  for (const Json& gpu : document.at("gpus"))
    all += gpu.at("status").dump() + gpu.at("exit_code").dump() + gpu.at("missing").dump() + "\n";
  for (const Json& card : document.at("named"))
    all += card.at("findings").at(0).at("beyond_measured").dump() + "\n";
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/fleet_missing.txt", all);
}

TEST_CASE("A name without any figure is told where no other card has one either", "[fleet]") {
  HostFiles host(4);
  for (Json& card : host.cards) set_first(card, nullptr);
  const Fleet fleet = host.fleet();
  REQUIRE(fleet.problems.size() == 4);
  CHECK(fleet.problems[2].reason == "missing: copy/best (no figure)");
}

TEST_CASE("Figures of 0 move no median, and name no card without a fault", "[fleet]") {
  HostFiles host(8);
  for (const int i : {0, 1, 3, 4}) set_first(host.cards[i], i % 2 ? Json(0) : Json(-4e12));
  CHECK(named(host.fleet()).empty());
  // One that is slower is named all the same, whatever its noise and telemetry, which nothing can
  // have and explains nothing.
  Json& slow = host.cards[2];
  set_first(slow, 3e12);
  CHECK(named(host.fleet()) == only_card_2);
  for (Json& card : host.cards) card["health"]["pcie_width"] = 16;
  slow["metrics"]["noise"][0] = -1;
  slow["health"]["pcie_width"] = 0;
  slow["health"]["uncorrected_ecc_errors"] = -7;
  CHECK(named(host.fleet()) == only_card_2);
  CHECK_THAT(report_of(host.fleet()), contains("nothing in the telemetry"));
}

TEST_CASE("What a card was not to measure is not missing", "[fleet]") {
  // Where one card a host collects a probe's counters, the others have none of these cases.
  HostFiles shared(8);
  for (int i = 0; i < 8; ++i) {
    Json& card = shared.cards[i];
    card["counters_of"] = Json::array({i % 4 == 0 ? "model" : "copy"});
    if (i % 4 != 0)
      for (auto& [name, column] : card["metrics"].items()) column.erase(2);
  }
  CHECK(shared.fleet().problems.empty());
  // Another suite, or a run without a part, has other figures.
  HostFiles other(8);
  for (const int i : {0, 1}) remove_first(other.cards[i]);
  other.cards[0]["suite"] = "brief";
  other.cards[1]["elapsed_s"]["alone"] = 1.5;
  CHECK(other.fleet().problems.empty());
  // A card that was refused counters has told so.
  HostFiles refused(8);
  Json& card = refused.cards[3];
  remove_first(card);
  card["exit_code"] = 18;
  card["reason"] = "hardware counters are not permitted";
  const Fleet fleet = refused.fleet();
  REQUIRE(fleet.problems.size() == 1);
  CHECK(fleet.problems.front().exit_code == 18);
  CHECK(fleet.problems.front().reason == "hardware counters are not permitted");
}

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
