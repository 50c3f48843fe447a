// Whether a card is normal for its model: documents made from a recording, with scaled figures.

#include "reports/card_check.h"
#include "sample_document.h"
#include "studies/cards/simulation.h"
#include "tests/testing.h"

namespace fathom::reports {
namespace {

/// A run of the card `card` whose one copy moves `bandwidth`.
Document run_of(const std::string& card, double bandwidth) {
  Document d = sample::empty_run();
  d.fingerprint.gpu_uuid_hash = card;
  d.probes.emplace_back().name = "copy";
  Entry e;
  e.name = "copy/size:4GiB";
  e.probe = "copy";
  e.metric = {"bandwidth", "B/s", Better::higher, bandwidth};
  e.interval = Interval{bandwidth * 0.9995, bandwidth * 1.0005, 0.95, "median"};
  e.telemetry = sample::telemetry();
  d.entries = {e};
  return d;
}

std::vector<Document> cards(const std::vector<double>& bandwidths) {
  std::vector<Document> recorded;
  for (const double bandwidth : bandwidths)
    recorded.push_back(run_of("card" + std::to_string(recorded.size()), bandwidth));
  return recorded;
}

const std::vector<double> ten{4.30e12, 4.31e12, 4.29e12, 4.30e12, 4.32e12,
                              4.28e12, 4.30e12, 4.31e12, 4.29e12, 4.30e12};

TEST_CASE("A card like the others is normal, a slow one low, by how much", "[card]") {
  const CardCheck normal = check_card(run_of("own", 4.29e12), cards(ten));
  CHECK(normal.state == CardState::normal);
  CHECK(normal.cards == 10);
  CHECK_THAT(card_sentence(normal), StartsWith("normal: 1 figure"));

  const CardCheck low = check_card(run_of("own", 3.87e12), cards(ten));
  REQUIRE(low.state == CardState::low);
  REQUIRE(low.figures.size() == 1);
  CHECK_THAT(low.figures[0].gap, WithinRel(0.1, 1e-6));
  CHECK(low.figures[0].limit < 4.28e12);
  CHECK(low.figures[0].limit > 3.87e12);
  CHECK_THAT(card_sentence(low), StartsWith("low: copy 3.87 TB/s is 10 % worse than the 4.3 TB/s"));
  CHECK_THAT(card_sentence(low), contains("no cause"));
  CHECK(check_card(run_of("own", 4.8e12), cards(ten)).state == CardState::normal);
}

TEST_CASE("What is better lower is low where it is higher", "[card]") {
  Document quick = run_of("own", 3.87e12), slow = run_of("own", 4.73e12);
  std::vector<Document> recorded = cards(ten);
  for (Document& d : recorded) d.entries[0].metric.better = Better::lower;
  quick.entries[0].metric.better = slow.entries[0].metric.better = Better::lower;
  CHECK(check_card(quick, recorded).state == CardState::normal);
  const CardCheck low = check_card(slow, recorded);
  REQUIRE(low.state == CardState::low);
  CHECK_THAT(low.figures[0].gap, WithinRel(0.1, 1e-6));
  CHECK(low.figures[0].limit > low.figures[0].usual);
}

TEST_CASE("Fewer than three other cards say nothing", "[card]") {
  const Document own = run_of("own", 1e12);
  std::vector<Document> recorded = cards({4.3e12, 4.3e12});
  CHECK(check_card(own, {}).state == CardState::unknown);
  CHECK(check_card(own, recorded).state == CardState::unknown);
  CHECK_THAT(card_sentence(check_card(own, recorded)), StartsWith("unknown: 2 other cards"));
  recorded.push_back(run_of("third", 4.3e12));
  CHECK(check_card(own, recorded).state != CardState::unknown);
  const auto check_third = [&](const char* what, auto change) {
    CAPTURE(what);
    std::vector<Document> with = recorded;
    change(with.back());
    const CardCheck check = check_card(own, with);
    CHECK(check.state == CardState::unknown);
    if (with.back().entries.empty())
      CHECK_THAT(card_sentence(check), StartsWith("unknown: no figure of this"));
  };
  check_third("another run of one", [&](Document& d) { d = recorded[0]; });
  check_third("a run of this card", [](Document& d) { d = run_of("own", 4.3e12); });
  check_third("a replay", [](Document& d) { d.source = Source::replay; });
  check_third("another model", [](Document& d) { d.fingerprint.gpu_name = "NVIDIA Other"; });
  check_third("a part of a card", [](Document& d) { d.fingerprint.mig = "enabled"; });
  check_third("another suite", [](Document& d) { d.suite = "another"; });
  check_third("no identity", [](Document& d) { d.fingerprint.gpu_uuid_hash.clear(); });
  check_third("no figure", [](Document& d) {
    d.entries[0].metric.value = std::numeric_limits<double>::quiet_NaN();
    d.entries[0].interval.reset();
  });
  check_third("no entry", [](Document& d) { d.entries.clear(); });
  check_third("a failed check",
              [](Document& d) { d.entries[0].verdict.status = VerdictStatus::wrong_output; });
}

TEST_CASE("The likely cause stands beside what is low", "[card]") {
  const auto check_cause = [](const char* said, auto change) {
    Document own = run_of("own", 3.87e12);
    change(own, own.entries[0].telemetry);
    CHECK_THAT(card_sentence(check_card(own, cards(ten))), contains(said));
  };
  check_cause("SM clock 1.41 GHz, usually 1.98 GHz; clocks held down by sw power cap",
              [](Document&, Telemetry& t) {
                t.sm_clock_hz = {1400e6, 1410e6, 1980e6};
                t.throttle_reasons = {"sw power cap"};
              });
  check_cause("memory clock 2.6 GHz", [](Document&, Telemetry& t) {
    t.memory_clock_hz = {2600e6, 2600e6, 2600e6};
  });
  check_cause("temperature 84", [](Document&, Telemetry& t) { t.temperature_c = {80, 84, 86}; });
  check_cause("2 other processes", [](Document&, Telemetry& t) { t.other_processes = 2; });
  check_cause("power limit 500 W",
              [](Document& d, Telemetry&) { d.fingerprint.power_limit_w = 500; });
  check_cause("ECC off", [](Document& d, Telemetry&) { d.fingerprint.ecc = "off"; });
  check_cause("PCIe generation 5, x4",
              [](Document& d, Telemetry&) { d.fingerprint.pcie_link = "generation 5, x4"; });
}

TEST_CASE("Noise, equal cards and one slow recorded card do not mislead", "[card]") {
  Document own = run_of("own", 4.1e12);
  CHECK(check_card(own, cards(ten)).state == CardState::low);
  own.entries[0].repeatability = 0.03;
  CHECK(check_card(own, cards(ten)).state == CardState::normal);
  std::vector<double> values = ten;
  values[0] = 2e12;
  CHECK(check_card(run_of("own", 3.87e12), cards(values)).state == CardState::low);
  // Less than one per cent.
  CHECK(check_card(run_of("own", 4.27e12), cards({4.3e12, 4.3e12, 4.3e12})).state ==
        CardState::normal);
}

TEST_CASE("The limits hold their level for normal cards", "[card]") {
  for (const std::size_t n : {3, 4, 5, 9, 10, 19, 20, 30}) {
    CAPTURE(n);
    CHECK_THAT(cards::false_alarm(n, card_limit(n), 100'000, 11),
               WithinRel(card_false_alarm, 0.15));
  }
  // Planted slow cards are found, and normal ones let go.
  cards::SimulatedCards options;
  options.trials = 300;
  options.spread = 0.003;
  options.recorded = 10;
  const Document recording = run_of("card", 4.3e12);
  CHECK(cards::simulate_cards(recording, options).low <= 3);
  options.gap = 0.05;
  CHECK(cards::simulate_cards(recording, options).found >= 290);
}

TEST_CASE("DRAM, L2 and links come before the probes, and each type of a ladder counts", "[card]") {
  const auto atlas = [](const std::string& card, double factor) {
    Document d = run_of(card, 4.3e12);
    for (const char* id : {"l1.bandwidth", "l2.latency", "dram.bandwidth"}) {
      Fact& fact = d.facts.emplace_back();
      fact.id = id;
      fact.unit = std::string(id) == "l2.latency" ? "cycles" : "B/s";
      fact.value = 280 * factor;
    }
    for (const auto& [type, value] :
         {std::pair{"fp16", 700e12}, {"fp16", 500e12}, {"fp32", 5e13}}) {
      Entry& rung = d.entries.emplace_back();
      rung.name = std::string("ladder/") + type + std::to_string(d.entries.size());
      rung.probe = "ladder";
      rung.axes = {{"part", std::string("ladder")}, {"type", std::string(type)}};
      rung.metric = {"throughput", "FLOP/s", Better::higher, value};
    }
    return d;
  };
  const std::vector<Document> recorded{atlas("a", 1), atlas("b", 1.0001), atlas("c", 0.9999)};
  std::set<std::string> names;
  for (const CardFigure& figure : check_card(atlas("own", 1), recorded).figures)
    CHECK(names.insert(figure.name).second);
  CHECK(names == std::set<std::string>{"copy", "dram.bandwidth", "l2.latency", "ladder fp16",
                                       "ladder fp32"});
  const CardCheck slower = check_card(atlas("own", 0.8), recorded);
  REQUIRE(slower.state == CardState::low);
  CHECK(slower.figures[0].name == "dram.bandwidth");
  CHECK_FALSE(slower.figures[1].low);
  const CardCheck later = check_card(atlas("own", 1.25), recorded);
  REQUIRE(later.state == CardState::low);
  CHECK(later.figures[0].name == "l2.latency");
}

}  // namespace
}  // namespace fathom::reports
