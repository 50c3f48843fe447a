#include "results/document_io.h"
#include "studies/fleet/simulation.h"
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

std::string cause_of(const Cards& planted) {
  const Fleet fleet = planted.fleet();
  const Outliers outliers = find_outliers(fleet, {});
  REQUIRE_FALSE(outliers.cards.front().findings.empty());
  const auto& causes = outliers.cards.front().findings.front().causes;
  return causes.empty() ? "" : causes.front();
}

}  // namespace

TEST_CASE("The one slow card is named, with the metric and the gap, a better one never",
          "[fleet]") {
  const Fleet fleet = Cards(0.002, 40, 17, 0.03).fleet();
  const Outliers outliers = find_outliers(fleet, {});
  CHECK(named(fleet) == std::vector<std::string>{"host2 GPU 1"});
  const Finding& finding = outliers.cards.front().findings.front();
  CHECK(fleet.metrics[finding.metric].name == "copy/best");
  CHECK(finding.gap == Approx(0.03).margin(0.008));
  CHECK(finding.score > finding.limit);
  CHECK(named(Cards(0.001, 4, 2, 0.05).fleet()) == std::vector<std::string>{"host0 GPU 2"});
  // Two cards name none.
  CHECK(named(Cards(0.001, 2, 1, 0.2).fleet()).empty());
  CHECK(named(Cards(0.001, 20, 3, -0.1).fleet()).empty());
  // Nor do gaps that are nobody's trouble, however exact the metric.
  const Fleet exact = Cards(0.00001, 200, 5, 0.005).fleet();
  CHECK(named(exact).empty());
  CHECK(find_outliers(exact, {.least_gap = 0.002, .card_noise = 0.0005}).named() == 1);
}

TEST_CASE("Of a metric that one card a host has, these are held against each other", "[fleet]") {
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
  CHECK(named(with_counters(10)) == std::vector<std::string>{"host0 GPU 2"});
  CHECK(named(with_counters(2)).empty());
}

TEST_CASE("A card that loses more than others together is named for that", "[fleet]") {
  Cards planted(0.001);
  for (int i = 0; i < 24; ++i) {
    GpuSummary& card = planted.add();
    card.figures[0].alone = 4e12;
    card.figures[0].together = i == 4 ? 3.6e12 : 3.9e12;
  }
  const Fleet fleet = planted.fleet();
  const Outliers outliers = find_outliers(fleet, {});
  REQUIRE(named(fleet) == std::vector<std::string>{"host0 GPU 4"});
  CHECK(std::ranges::any_of(outliers.cards.front().findings, [](const Finding& finding) {
    return finding.compared == Compared::loss && std::abs(finding.gap - 0.0833) < 0.01;
  }));
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

TEST_CASE("Cards are held against those of their model and settings", "[fleet]") {
  const auto with_less_power = [](int cards) {
    Cards planted(0.001);
    for (int i = 0; i < 24; ++i) {
      GpuSummary& card = planted.add(i < cards ? 0.2 : 0);
      if (i >= cards) continue;
      card.settings["power limit"] = "500 W";
      card.health.power_limit_w = 500;
    }
    return planted;
  };
  const Fleet halves = with_less_power(12).fleet();  // enough to be a kind of their own
  CHECK(groups_of(halves).size() == 2);
  CHECK(named(halves).empty());
  const auto settings = differing_settings(halves);
  REQUIRE(settings.size() == 1);
  CHECK(settings.front().name == "power limit");
  CHECK(settings.front().values.size() == 2);
  const Cards few = with_less_power(2);
  CHECK(groups_of(few.fleet()).size() == 1);
  CHECK(named(few.fleet()).size() == 2);
  CHECK_THAT(cause_of(few), contains("power limit 500 W"));
}

TEST_CASE("The telemetry's likeliest cause comes first", "[fleet]") {
  const auto check = [](const char* cause, auto change) {
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
    const std::string found = cause_of(planted);
    CHECK_THAT(found, contains(cause));
    CHECK(found.empty() == (*cause == 0));
  };
  using Card = GpuSummary&;
  check("", [](Card) {});
  check("SM clock 1.8 GHz, the others' 2 GHz", [](Card c) { c.figures[0].sm_clock_hz = 1.8e9; });
  check("hw_slowdown", [](Card c) { c.health.throttle_reasons = {"hw_slowdown"}; });
  check("88", [](Card c) { c.health.temperature_c = 88; });
  check("ECC errors", [](Card c) { c.health.uncorrected_ecc_errors = 2; });
  check("remapping", [](Card c) { c.health.remapping_failed = true; });
  check("PCIe lanes 8, the others' 16", [](Card c) { c.health.pcie_width = 8; });
  check("PCIe generation 4, the others' 5", [](Card c) { c.health.pcie_generation = 4; });
  check("memory clock 2.6 GHz, the others' 3.2 GHz",
        [](Card c) { c.health.memory_clock_hz = 2.6e9; });
  check("power limit 500 W, the others' 700 W", [](Card c) { c.health.power_limit_w = 500; });
  check("other processes", [](Card c) { c.health.other_processes = 1; });
  check("driver 2, the others' 1", [](Card c) { c.settings["driver"] = "2"; });
}

TEST_CASE("Planted faults are found in a simulated fleet, and hardly another card", "[fleet]") {
  GpuSummary recorded;
  const auto file = std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings/h200/result.json";
  add_document(recorded, read_document(file), Phase::together);
  const SimulatedFleet options{.gpus = 2000, .planted = 40, .seed = 7};
  std::vector<GpuSummary> cards;
  for (std::size_t i = 0; i < options.gpus; ++i)
    cards.push_back(simulated_gpu(recorded, options, i));
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
  CHECK(paths.hosts.size() == 1);
  CHECK(std::filesystem::file_size(paths.readme) < 500'000);
  // A host that is not there costs its page only.
  CHECK(write_fleet_report(fleet, outliers, folder.path(), {"nowhere"}).hosts.empty());
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
  REQUIRE(paths.hosts.size() == 2);
  CHECK(paths.hosts[0] != paths.hosts[1]);
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
