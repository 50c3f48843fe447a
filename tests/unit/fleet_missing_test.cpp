#include <nlohmann/json.hpp>

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

TEST_CASE("Figures of 0, below 0, null or left out are missing, and their cards incomplete",
          "[fleet]") {
  HostFiles host(5);
  set_first(host.cards[1], 0);
  set_first(host.cards[2], -1);
  set_first(host.cards[3], nullptr);
  remove_first(host.cards[4]);
  const Fleet fleet = host.fleet();
  CHECK(fleet.problems.size() == 4);
  CHECK(named(fleet).empty());
  const char* why[] = {"", "0 B/s is no measurement", "-1 B/s is no measurement",
                       "none, and cards of its kind have one",
                       "none, and cards of its kind have one"};
  for (std::size_t i = 0; i < 5; ++i) {
    INFO(i);
    Json missing = Json::array();
    for (const char* when : {"alone", "together"})
      if (i > 0) missing.push_back({{"metric", "copy/best"}, {"when", when}, {"reason", why[i]}});
    const Json gpu = document_of(fleet).at("gpus").at(i);
    CHECK(gpu.at("missing") == missing);
    CHECK(gpu.at("status") == (i == 0 ? "complete" : "partial"));
    CHECK(gpu.at("exit_code") == (i == 0 ? 0 : 5));
  }
  const std::string page = report_of(fleet);
  CHECK_THAT(page, contains("4 missing or incomplete") && contains("| 4\u00A0TB/s |") &&
                       !contains("| 0\u00A0B/s |"));
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

TEST_CASE("No mismatch is a figure, and fewer of them than none is not", "[fleet]") {
  HostFiles host(4);
  CHECK(host.fleet().problems.empty());
  host.cards[1]["metrics"]["together"][2] = -1;
  const Fleet fleet = host.fleet();
  REQUIRE(fleet.problems.size() == 1);
  CHECK(fleet.problems.front().reason ==
        "missing: model/mismatches together (-1 patterns is no measurement)");
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

TEST_CASE("A gap that no fault makes is said as such", "[fleet]") {
  HostFiles host(8);
  set_first(host.cards[2], 4e8);
  const Fleet fleet = host.fleet();
  CHECK(named(fleet) == only_card_2);
  CHECK_THAT(report_of(fleet), contains("over 1,000 times worse in") &&
                                   contains("beyond anything measured: the figure itself is "
                                            "wrong") &&
                                   !contains("00.00 %"));
  CHECK(document_of(fleet).at("named").at(0).at("findings").at(0).at("beyond_measured") == true);
  // Half the speed is a fault.
  set_first(host.cards[2], 2e12);
  CHECK_THAT(report_of(host.fleet()), contains("% worse in") && !contains("beyond anything"));
}

TEST_CASE("Links that carry nothing are missing, and not the slowest", "[fleet]") {
  const HostFiles host(4);
  HostLinks links;
  links.host = "node";
  links.facts = {
      {"peer", "GPU to GPU", "one way", "B/s", Better::higher, 0.0, 450e9, "NVLink", ""}};
  links.kinds = {{"copy engine", "one way", "B/s"}};
  links.pairs = {{0, "0", "1", 390e9, 450e9}, {0, "1", "0", -5.0, 450e9}, {0, "0", "2", 0.0, 0.0}};
  host.write("links/node-0/links.json", to_text(links));
  const Fleet fleet = host.fleet();
  const auto problem = std::ranges::find(fleet.problems, "links of node", &Problem::what);
  REQUIRE(problem != fleet.problems.end());
  CHECK(problem->exit_code == 5);
  CHECK_THAT(problem->reason, contains("one way GPU to GPU (0 B/s is no measurement)") &&
                                  contains("GPU 1 to 0 (-5 B/s is no measurement)"));
  CHECK_THAT(report_of(fleet), contains("| 390\u00A0GB/s | 390\u00A0GB/s | 100.0 % |") &&
                                   contains("Not measured (one way): 0 B/s is no measurement"));
}
