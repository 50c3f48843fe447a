// Whether a card is normal for its model: documents made from a recording, with scaled figures.

#include "reports/card_check.h"
#include "sample_document.h"
#include "studies/cards/simulation.h"
#include "tests/golden/golden.h"
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
  e.telemetry = sample::small_document().entries[0].telemetry;
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

TEST_CASE("A card is normal, low by how much and why, or nothing is known of it", "[card]") {
  std::string all;
  const auto add = [&](const char* what, const Document& own, const std::vector<Document>& others) {
    const CardCheck check = check_card(own, others);
    all += fmt::format("{}: {}\n", what, card_sentence(check));
    CHECK(card_sentence(check).starts_with(to_string(check.state)));
  };
  add("like ten others", run_of("own", 4.29e12), cards(ten));
  add("slower by a tenth", run_of("own", 3.87e12), cards(ten));
  add("faster", run_of("own", 4.8e12), cards(ten));
  std::vector<Document> with_a_slow_one = cards(ten);
  with_a_slow_one[0] = run_of("card0", 2e12);
  add("one of the others far slower", run_of("own", 3.87e12), with_a_slow_one);
  add("slower by less than one per cent", run_of("own", 4.27e12), cards({4.3e12, 4.3e12, 4.3e12}));
  add("slower", run_of("own", 4.1e12), cards(ten));
  Document noisy = run_of("own", 4.1e12);
  noisy.entries[0].repeatability = 0.03;
  add("slower, and as noisy", noisy, cards(ten));

  // What is better lower is low where it is higher.
  std::vector<Document> times = cards(ten);
  for (const double time : {3.87e12, 4.73e12}) {
    times.push_back(run_of("own", time));
    for (Document& d : times) d.entries[0].metric.better = Better::lower;
    add("a time", times.back(), times);
  }

  // Fewer than three other cards say nothing.
  const Document own = run_of("own", 1e12);
  std::vector<Document> three = cards({4.3e12, 4.3e12});
  add("no other card", own, {});
  add("two other cards", own, three);
  three.push_back(run_of("third", 4.3e12));
  add("three other cards", own, three);
  const auto add_third = [&](const char* what, auto change) {
    std::vector<Document> others = three;
    change(others.back());
    add(what, own, others);
  };
  add_third("the third is another run of one", [&](Document& d) { d = three[0]; });
  add_third("a run of this card", [](Document& d) { d = run_of("own", 4.3e12); });
  add_third("a replay", [](Document& d) { d.source = Source::replay; });
  add_third("another model", [](Document& d) { d.fingerprint.gpu_name = "NVIDIA Other"; });
  add_third("a part of a card", [](Document& d) { d.fingerprint.mig = "enabled"; });
  add_third("another suite", [](Document& d) { d.suite = "another"; });
  add_third("no identity", [](Document& d) { d.fingerprint.gpu_uuid_hash.clear(); });
  add_third("no figure", [](Document& d) {
    d.entries[0].metric.value = std::numeric_limits<double>::quiet_NaN();
    d.entries[0].interval.reset();
  });
  add_third("no entry", [](Document& d) { d.entries.clear(); });
  add_third("a failed check",
            [](Document& d) { d.entries[0].verdict.status = VerdictStatus::wrong_output; });

  const auto add_cause = [&](const char* what, auto change) {
    Document slow = run_of("own", 3.87e12);
    change(slow.fingerprint, slow.entries[0].telemetry);
    add(what, slow, cards(ten));
  };
  add_cause("a low clock", [](Fingerprint&, Telemetry& t) {
    t.sm_clock_hz = {1400e6, 1410e6, 1980e6};
    t.throttle_reasons = {"sw power cap"};
  });
  add_cause("a low memory clock", [](Fingerprint&, Telemetry& t) {
    t.memory_clock_hz = {2600e6, 2600e6, 2600e6};
  });
  add_cause("a hot card", [](Fingerprint&, Telemetry& t) { t.temperature_c = {80, 84, 86}; });
  add_cause("others on the card", [](Fingerprint&, Telemetry& t) { t.other_processes = 2; });
  add_cause("less power", [](Fingerprint& f, Telemetry&) { f.power_limit_w = 500; });
  add_cause("another memory", [](Fingerprint& f, Telemetry&) { f.ecc = "off"; });
  add_cause("a narrow link", [](Fingerprint& f, Telemetry&) { f.pcie_link = "generation 5, x4"; });
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/card_checks.txt", all);
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
