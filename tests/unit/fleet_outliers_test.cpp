#include "results/document_io.h"
#include "studies/fleet/simulation.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_cards.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::fleet;

namespace {

/// Cards with one bandwidth and one time, `noise` apart.
class Cards {
 public:
  explicit Cards(double noise, int count = 0, int slow = 0, double slower = 0) : noise_(noise) {
    for (int i = 0; i < count; ++i) add(i == slow ? slower : 0);
  }

  GpuSummary& add(double slower = 0) {
    GpuSummary card = planted_card(cards_.size());
    card.settings = {{"driver", "1"}, {"power limit", "700 W"}};
    card.health.sm_clock_hz = 2e9;
    card.health.temperature_c = 60;
    card.health.power_limit_w = 700;
    card.figures[0].together = 4e12 * (1 - slower) * noisy();
    card.figures[1].together = 1e-6 * noisy();
    for (auto& figure : card.figures) figure.sm_clock_hz = 2e9;
    cards_.push_back(card);
    return cards_.back();
  }
  GpuSummary& at(std::size_t i) { return cards_.at(i); }
  Fleet fleet() const { return fleet_of(cards_); }

 private:
  double noisy() { return 1 + std::normal_distribution<double>(0, noise_)(random_); }
  double noise_;
  std::mt19937 random_{1};
  std::vector<GpuSummary> cards_;
};

/// A line for each card that is named, with its metrics and the likely cause of the first.
std::string told(const Fleet& fleet, const OutlierOptions& options = {}) {
  std::string text;
  for (const CardScore& card : find_outliers(fleet, options).cards) {
    if (card.findings.empty()) continue;
    text += "  " + name_of(fleet.gpus[card.gpu]) + ":";
    for (const Finding& f : card.findings)
      text += fmt::format(" {} {};", fleet.metrics[f.metric].name,
                          kind_of(f, fleet.gpus[card.gpu].figures.at(f.metric)));
    text += " " + cause_text(card.findings.front()) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("Slow cards are named with metric and cause, and no others", "[fleet]") {
  std::string all;
  const auto add = [&](const char* what, const Fleet& fleet, const OutlierOptions& options = {}) {
    all += what + ("\n" + told(fleet, options));
  };
  const Fleet forty = Cards(0.002, 40, 17, 0.03).fleet();
  add("one of 40 is slower by 3 %", forty);
  const Finding finding = find_outliers(forty, {}).cards.front().findings.front();
  CHECK(finding.gap == Approx(0.03).margin(0.008));
  CHECK(finding.score > finding.limit);
  add("one of 4 by 5 %", Cards(0.001, 4, 2, 0.05).fleet());
  add("one of 2: two cards name none", Cards(0.001, 2, 1, 0.2).fleet());
  add("a better one", Cards(0.001, 20, 3, -0.1).fleet());
  const Fleet exact = Cards(0.00001, 200, 5, 0.005).fleet();
  add("a gap that is nobody's trouble, however exact the metric", exact);
  add("unless it is asked for", exact, {.least_gap = 0.002, .card_noise = 0.0005});

  const auto with_counters = [](int hosts) {
    Cards planted(0.001);
    for (int i = 0; i < 4 * hosts; ++i) {
      GpuSummary& card = planted.add();
      if (i % 4 != 2) continue;
      card.names.push_back({"model/time", "s", Better::lower});
      card.figures.emplace_back().together = i == 2 ? 2e-6 : 1e-6;
    }
    return planted.fleet();
  };
  add("a metric of one card a host, of ten hosts", with_counters(10));
  add("of two hosts", with_counters(2));

  Cards loses(0.001);
  for (int i = 0; i < 24; ++i) {
    GpuSummary& card = loses.add();
    card.figures[0].alone = 4e12;
    card.figures[0].together = i == 4 ? 3.6e12 : 3.9e12;
  }
  add("one loses 10 % together, the others 2.5 %", loses.fleet());

  // Cards are held against those of their model and settings.
  const auto with_less_power = [](int cards) {
    Cards planted(0.001);
    for (int i = 0; i < 24; ++i) {
      GpuSummary& card = planted.add(i < cards ? 0.2 : 0);
      if (i >= cards) continue;
      card.settings["power limit"] = "500 W";
      card.health.power_limit_w = 500;
    }
    return planted.fleet();
  };
  for (const int cards : {12, 2}) {  // enough to be a kind of their own, or not
    const Fleet fleet = with_less_power(cards);
    add(fmt::format("{} of 24 have less power, in {} groups", cards, groups_of(fleet).size())
            .c_str(),
        fleet);
    const auto settings = differing_settings(fleet);
    REQUIRE(settings.size() == 1);
    CHECK((settings.front().name == "power limit" && settings.front().values.size() == 2));
  }

  const auto add_cause = [&](const char* what, auto change) {
    Cards planted(0.001);
    for (int i = 0; i < 30; ++i) {
      GpuSummary& card = planted.add(i == 9 ? 0.05 : 0);
      card.health.uncorrected_ecc_errors = 0;
      card.health.other_processes = 0;
      card.health.pcie_width = 16;
      card.health.pcie_generation = 5;
      card.health.memory_clock_hz = 3.2e9;
      if (i == 9) change(card);
    }
    add(what, planted.fleet());
  };
  using Card = GpuSummary&;
  add_cause("no cause", [](Card) {});
  add_cause("a low clock", [](Card c) { c.figures[0].sm_clock_hz = 1.8e9; });
  add_cause("held down", [](Card c) { c.health.throttle_reasons = {"hw_slowdown"}; });
  add_cause("hot", [](Card c) { c.health.temperature_c = 88; });
  add_cause("faulty memory", [](Card c) { c.health.uncorrected_ecc_errors = 2; });
  add_cause("no spare rows", [](Card c) { c.health.remapping_failed = true; });
  add_cause("a narrow link", [](Card c) { c.health.pcie_width = 8; });
  add_cause("a slow link", [](Card c) { c.health.pcie_generation = 4; });
  add_cause("a low memory clock", [](Card c) { c.health.memory_clock_hz = 2.6e9; });
  add_cause("less power", [](Card c) { c.health.power_limit_w = 500; });
  add_cause("others on the card", [](Card c) { c.health.other_processes = 1; });
  add_cause("another driver", [](Card c) { c.settings["driver"] = "2"; });
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/fleet_outliers.txt", all);
}

TEST_CASE("What too few cards have does not raise the bar for what all have", "[fleet]") {
  Cards cards(0.002, 16, 5, 0.03);
  const Outliers plain = find_outliers(cards.fleet(), {});
  for (int i = 0; i < 2; ++i) {  // counted on the first card of each host only
    GpuSummary& first = cards.at(8 * i);
    for (int m = 0; m < 100; ++m) {
      first.names.push_back({"model_validation/" + std::to_string(m), "patterns", Better::lower});
      first.figures.emplace_back();
      first.figures.back().together = i + 1.0;
    }
  }
  const Outliers with = find_outliers(cards.fleet(), {});
  REQUIRE(plain.cards.front().gpu == 5);
  CHECK(with.cards.front().worst.limit == plain.cards.front().worst.limit);
  CHECK(with.cards.front().worst.score == plain.cards.front().worst.score);
  CHECK(with.distributions.size() == plain.distributions.size());
}

TEST_CASE("Planted faults are found in a simulated fleet, and hardly another card", "[fleet]") {
  GpuSummary recorded;
  const auto file = std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200/result.json";
  add_document(recorded, read_document(file), Phase::together);
  const SimulatedFleet options{.gpus = 2000, .planted = 40, .seed = 7};
  std::vector<GpuSummary> cards;
  const auto planted = planted_faults(options);
  for (std::size_t i = 0; i < options.gpus; ++i)
    cards.push_back(simulated_gpu(recorded, options, planted, i));
  const Fleet fleet = fleet_of(std::move(cards));
  const Outliers outliers = find_outliers(fleet, {});
  const Recall recall = recall_of(fleet, outliers, options);
  CHECK(recall.planted == 40);
  CHECK(recall.found == 40);
  CHECK(recall.false_names <= 2);  // one in 1,000
  CHECK(recall.causes_right == recall.causes);
  CHECK(recall.causes == 32);  // all but the unexplained
  CHECK(fleet.hosts() == 250);

  TestFolder folder;
  const auto paths = write_fleet_report(fleet, outliers, folder.path(), {"node0007"});
  CHECK(paths.size() == 2);
  CHECK(std::filesystem::file_size(paths.front()) < 500'000);
  // A host that is not there costs its page only.
  CHECK(write_fleet_report(fleet, outliers, folder.path(), {"nowhere"}).size() == 1);
  CHECK_THAT(fleet_summary(fleet, outliers), contains("REPLAY"));
}

TEST_CASE("Hosts with names alike have a page each, and a terminal gets no control characters",
          "[fleet]") {
  GpuSummary card;
  card.status = GpuStatus::failed;
  card.reason = "it said \x1b[31m and\nwent";
  card.host = "node.1";
  GpuSummary other = card;
  other.host = "node-1";
  const Fleet fleet = fleet_of({card, other});
  TestFolder folder;
  const auto outliers = find_outliers(fleet, {});
  const auto paths = write_fleet_report(fleet, outliers, folder.path(), {});
  REQUIRE(paths.size() == 3);
  CHECK(paths[1] != paths[2]);
  const std::string text = fleet_summary(fleet, outliers);
  CHECK_THAT(text, !contains('\x1b'));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("Distributions of several kinds of cards are told apart", "[fleet]") {
  Cards cards(0.005);
  for (int i = 0; i < 8; ++i) cards.add();
  CHECK_THAT(report_of(cards.fleet()), contains("**By spread,"));
  for (int i = 0; i < 8; ++i) cards.add().settings["power limit"] = "500 W";
  CHECK_THAT(report_of(cards.fleet()),
             contains("**GPU (driver 1, power limit 700 W): By spread,") &&
                 contains("**GPU (driver 1, power limit 500 W): By spread,"));
}
