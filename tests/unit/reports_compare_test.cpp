// Two documents side by side: what differs, what is noise, what cannot be compared, what one lacks.

#include <ctime>
#include <nlohmann/json.hpp>

#include "reports/compare.h"
#include "reports/markdown.h"
#include "tests/testing.h"
#include "tests/unit/sample_document.h"

namespace fathom::reports {
namespace {

/// An entry whose interval reaches `half` of the value to either side.
Entry entry(const std::string& name, double value, double half = 0.001,
            Better better = Better::higher) {
  Entry e;
  e.name = name;
  e.probe = name.substr(0, name.find('/'));
  e.metric = {"bandwidth", "B/s", better, value};
  const double reach = half * std::abs(value);
  e.interval = Interval{value - reach, value + reach, 0.96, "median"};
  e.repeatability = 0.0005;
  return e;
}

Document document(std::vector<Entry> entries) {
  Document d = sample::empty_run();
  d.entries = std::move(entries);
  return d;
}

Comparison compared(const Document& a, const Document& b) {
  return compare(a, b, "a.json", "b.json");
}

/// The one figure of two documents with one entry each.
ComparedFigure compared(const Entry& a, const Entry& b) {
  const Comparison comparison = compared(document({a}), document({b}));
  REQUIRE(comparison.figures.size() == 1);
  return comparison.figures.front();
}

const ComparedFigure& figure(const Comparison& comparison, const std::string& name) {
  return named(comparison.figures, &ComparedFigure::name, name);
}

std::size_t count(const Comparison& comparison, Outcome outcome) {
  return static_cast<std::size_t>(
      std::ranges::count(comparison.figures, outcome, &ComparedFigure::outcome));
}

TEST_CASE("A document differs in nothing from itself", "[compare]") {
  const Document d = sample::document();
  const Comparison c = compared(d, d);
  CHECK(c.figures.size() > d.entries.size());
  CHECK(count(c, Outcome::not_compared) == 1);  // its output was wrong
  CHECK(count(c, Outcome::differs) == 0);
  CHECK(count(c, Outcome::same) >= 8);
  CHECK(c.machine.empty());
  CHECK(c.same_properties > 22);
  CHECK(c.claims.empty());
  CHECK(c.same_claims == d.claims.size());
  CHECK((c.only_a.empty() && c.only_b.empty()));
  CHECK_THAT(comparison_text(c), contains("0 differ"));
}

TEST_CASE("A figure that changed by more than its noise comes first", "[compare]") {
  const Document a = document({entry("p/x", 100), entry("p/y", 100), entry("p/z", 100, 0.02)});
  const Document b = document({entry("p/x", 100.1), entry("p/y", 97), entry("p/z", 98, 0.02)});
  for (const bool back : {false, true}) {  // the other way round the same is found
    const Comparison c = back ? compared(b, a) : compared(a, b);
    const ComparedFigure& first = c.figures.front();
    CHECK(first.name == "p/y");
    CHECK(first.outcome == Outcome::differs);
    CHECK(first.better_in_b() == back);
    CHECK(figure(c, "p/x").outcome == Outcome::same);
    CHECK(figure(c, "p/z").outcome == Outcome::within_noise);
    CHECK_THAT(first.ratio.value(), WithinRel(back ? 1 / 0.97 : 0.97, 1e-12));
    if (back) continue;
    CHECK_THAT(first.ratio_interval->low, WithinRel(97 * 0.999 / 100.1, 1e-12));
    CHECK_THAT(first.ratio_interval->high, WithinRel(97 * 1.001 / 99.9, 1e-12));
  }
}

TEST_CASE("What decides of two figures: their intervals, rounds and direction", "[compare]") {
  const auto seconds = [](double value) { return entry("p/x", value, 0.001, Better::lower); };
  CHECK(compared(seconds(10), seconds(9)).better_in_b());
  CHECK_FALSE(compared(seconds(10), seconds(11)).better_in_b());
  // Intervals that are apart by less than half a percent do not differ.
  for (const auto& [a, b, outcome] : {std::tuple{1000, 1004, Outcome::same},
                                      {1000, 1006, Outcome::differs},
                                      {1006, 1000, Outcome::differs}})
    CHECK(compared(entry("p/x", a, 1e-6), entry("p/x", b, 1e-6)).outcome == outcome);
  // A change no larger than the rounds of a run differ is noise.
  for (const bool shaky_a : {true, false}) {
    Entry a = entry("p/x", 100), b = entry("p/x", 103);
    CHECK(compared(a, b).outcome == Outcome::differs);
    (shaky_a ? a : b).repeatability = 0.04;
    CHECK(compared(a, b).outcome == Outcome::within_noise);
  }
  // Without confident intervals only equal values are decided.
  Entry a = entry("p/x", 100), b = entry("p/x", 200);
  a.interval->confidence = 0.75;
  CHECK(compared(a, b).outcome == Outcome::undecided);
  b.interval.reset();
  CHECK(compared(a, b).outcome == Outcome::undecided);
  b.metric.value = 100;
  CHECK(compared(a, b).outcome == Outcome::same);
}

TEST_CASE("Figures at and below zero are compared by their difference", "[compare]") {
  for (const auto& [a, b] :
       {std::pair{0.0, 0.0}, {-5.0, -5.0}, {0.0, 5.0}, {5.0, 0.0}, {-5.0, 5.0}, {-5.0, -4.0}}) {
    CAPTURE(a, b);
    const ComparedFigure changed = compared(entry("p/x", a), entry("p/x", b));
    CHECK(changed.outcome == (a == b ? Outcome::same : Outcome::differs));
    CHECK(changed.better_in_b() == (b > a));
    CHECK_FALSE(changed.ratio);
    CHECK_FALSE(changed.ratio_interval);
  }
  Entry wide = entry("p/x", 1);
  wide.interval->low = -1;  // no ratio has such an interval
  const ComparedFigure noise = compared(entry("p/x", 1.1), wide);
  CHECK(noise.ratio);
  CHECK_FALSE(noise.ratio_interval);
  CHECK(noise.outcome == Outcome::differs);
  wide.interval->high = 2;
  CHECK(compared(entry("p/x", 1.1), wide).outcome == Outcome::within_noise);
}

TEST_CASE("What must not be compared says why", "[compare]") {
  const auto refused = [](const char* why, auto change) {
    Entry b = entry("p/x", 50);
    change(b);
    const Comparison c = compared(document({entry("p/x", 100)}), document({b}));
    CHECK(c.figures.front().outcome == Outcome::not_compared);
    CHECK_THAT(comparison_text(c), contains(why));
  };
  refused("B/s in A, no unit in B", [](Entry& b) { b.metric.unit = ""; });
  refused("higher is better in A, lower in B", [](Entry& b) { b.metric.better = Better::lower; });
  refused("wrong output in B", [](Entry& b) { b.verdict.status = VerdictStatus::wrong_output; });
  refused("no value in B", [](Entry& b) { b.metric.value.reset(); });
  refused("a number that is not finite", [](Entry& b) { b.metric.value = std::nan(""); });
  refused("a number that is not finite",
          [](Entry& b) { b.interval->high = std::numeric_limits<double>::infinity(); });
}

TEST_CASE("What one side alone has is named by probe and kind", "[compare]") {
  Document a = sample::document(), b = a;
  std::erase_if(b.entries, [](const Entry& e) { return e.probe == "bank_conflicts"; });
  b.facts[1].value.reset();
  b.facts[1].reason = "no such level";
  b.facts[0].id = "dram.copy_bandwidth";
  b.claims.pop_back();
  const Comparison c = compared(a, b);
  REQUIRE(c.only_a.size() == 3);
  CHECK(c.only_a[0].names.size() == 3);
  CHECK(figure(c, "l1.latency").reason == "no value in B (no such level)");
  const std::string text = comparison_text(c);
  CHECK_THAT(text, contains("Only in A: 3 entries of bank_conflicts, 1 fact of "
                            "copy_bandwidth, 1 claim of warp_reduce.") &&
                       contains("Only in B: 1 fact of copy_bandwidth."));
}

TEST_CASE("Opponents' ratios, facts and claims are compared too", "[compare]") {
  Document a = sample::document(), b = a;
  Entry& copy = b.entries[1];
  REQUIRE(copy.opponents.size() == 1);
  copy.opponents[0].ratio = *copy.opponents[0].ratio * 0.9;
  copy.opponents[0].ratio_interval->low *= 0.9;
  copy.opponents[0].ratio_interval->high *= 0.9;
  b.facts[1].value = 40;
  b.facts[1].interval = Interval{39.9, 40.1, 0.96, "median"};
  b.claims[0].verdict = ClaimVerdict::confirmed;
  const Comparison c = compared(a, b);
  CHECK(figure(c, copy.name + " vs cudaMemcpyAsync").outcome == Outcome::differs);
  CHECK(figure(c, "l1.latency").outcome == Outcome::differs);
  CHECK(figure(c, "l1.latency").headline);
  CHECK_FALSE(figure(c, "l1.latency").better_in_b());
  REQUIRE(c.claims.size() == 1);
  CHECK(c.claims[0].a == "refuted");
  CHECK(c.claims[0].b == "confirmed");
  CHECK_THAT(comparison_text(c), contains("V1: A copy reaches"));
}

TEST_CASE("Steady differences come before noisy ones, which are marked", "[compare]") {
  Entry noisy = entry("p/a", 150);
  noisy.verdict.status = VerdictStatus::noisy;
  const Comparison c = compared(document({entry("p/a", 100), entry("p/b", 100)}),
                                document({noisy, entry("p/b", 102)}));
  CHECK(c.figures[0].name == "p/b");
  CHECK(c.figures[1].name == "p/a");
  CHECK_THAT(comparison_text(c), contains(" ~"));
  CHECK_THAT(comparison_markdown(c), contains(" \\~ |"));
  CHECK(nlohmann::json::parse(comparison_json(c)).at("figures").at(1).at("b").at("noisy") == true);
}

TEST_CASE("A fact is noisy by its own interval or by its entries", "[compare]") {
  Document a = sample::document(), b = a;
  CHECK(figure(compared(a, b), "l1.latency").noisy());  // 0.75 of 32.5 cycles
  a.facts[1].interval = b.facts[1].interval = Interval{32.45, 32.55, 0.96, "median"};
  CHECK_FALSE(figure(compared(a, b), "l1.latency").noisy());
  for (Entry& e : b.entries)
    if (e.name == b.facts[1].evidence.front()) e.verdict.status = VerdictStatus::noisy;
  CHECK(figure(compared(a, b), "l1.latency").noisy());
}

TEST_CASE("Machines differ in exact figures, also where four digits are equal", "[compare]") {
  const Document a = document({entry("p/x", 1)});
  Document b = a;
  b.fingerprint.driver = "590.10";
  b.fingerprint.memory_bytes = *a.fingerprint.memory_bytes + 4096;
  b.fingerprint.power_limit_w.reset();
  b.bounds[0].value = 4.9e12;
  b.bounds.push_back({"fp64", "FLOP/s", "", 1e12});
  const Comparison c = compared(a, b);
  std::string machine;
  for (const auto& row : c.machine) machine += row.name + ": " + row.a + ", " + row.b + "\n";
  CAPTURE(machine);
  CHECK(c.machine.size() == 5);
  CHECK_THAT(machine, StartsWith("Memory: 150,754,820,096 B, 150,754,824,192 B\n") &&
                          contains(": 700 W, unknown\nDriver: 580.65.06, 590.10\n") &&
                          contains(": 4.8 TB/s, 4.9 TB/s\n") && EndsWith(": unknown, 1 TFLOP/s\n"));
  CHECK(c.same_properties == compared(a, a).same_properties - 4);
}

TEST_CASE("A replay is marked, and no text becomes markup or moves the cursor", "[compare]") {
  Document a = document({entry("p/<b>|x\x1b[2J", 100)}), b = a;
  b.source = Source::replay;
  b.fingerprint.gpu_name = "<script>GPU";
  b.entries[0].metric.value = 50;
  b.entries[0].interval = Interval{50, 50, 0.96, "median"};
  const Comparison c = compared(a, b);
  CHECK_THAT(comparison_text(c),
             contains("\nREPLAY · B:") && !contains("\x1b") && !contains("REPLAY · A:"));
  const std::string markdown = comparison_markdown(c);
  CHECK_THAT(markdown, contains("# REPLAY · ") && contains("&lt;script&gt;GPU") &&
                           !contains("<script") && !contains("<b>|"));
}

TEST_CASE("100,000 entries take under two seconds, and less than ten screens", "[compare]") {
  std::vector<Entry> left, right;
  for (int i = 0; i < 100000; ++i) {
    const std::string name = "probe_" + std::to_string(i % 50) + "/case:" + std::to_string(i) +
                             "/with-a-name-of-some-length/as:entries-have/size:1GiB";
    left.push_back(entry(name, 1e12 + i));
    right.push_back(entry(name, 1.1e12 + i));
  }
  const Document a = document(left), b = document(right);
  const std::clock_t start = std::clock();
  const Comparison c = compared(a, b);
  const std::string text = comparison_text(c), markdown = comparison_markdown(c);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 2);  // it takes 0.75
  CHECK(count(c, Outcome::differs) == 100000);
  CHECK(std::ranges::count(text, '\n') < 200);
  CHECK(markdown.size() < 60000);
  for (const std::string& line : lines_of(text)) {
    CAPTURE(line);
    CHECK(width(line) <= 100);
  }
}

}  // namespace
}  // namespace fathom::reports
