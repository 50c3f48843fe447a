// Two documents side by side: what differs, what is noise, what cannot be compared, what one lacks.

#include <ctime>
#include <nlohmann/json.hpp>

#include "reports/compare.h"
#include "reports/markdown.h"
#include "tests/golden/golden.h"
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
  CHECK(c.same_properties > 22);
  CHECK(c.same_claims == d.claims.size());
  CHECK((c.machine.empty() && c.claims.empty() && c.only_a.empty() && c.only_b.empty()));
  CHECK_THAT(comparison_text(c), contains("0 differ"));
}

TEST_CASE("What two entries say of each other, and what must not be compared", "[compare]") {
  std::string all;
  const auto add = [&](const std::string& what, const std::vector<Entry>& a,
                       const std::vector<Entry>& b) {
    all += what + "\n";
    for (const ComparedFigure& f : compared(document(a), document(b)).figures) {
      all += fmt::format("  {}: {}{}", f.name, to_string(f.outcome), f.noisy() ? ", noisy" : "");
      if (f.outcome == Outcome::not_compared)
        all += " (" + f.reason + ")";
      else if (f.a->value != f.b->value)
        all += f.better_in_b() ? ", better in B" : ", worse in B";
      if (f.ratio) all += fmt::format(", {:.6g} of A", *f.ratio);
      if (const auto& i = f.ratio_interval)
        all += fmt::format(" ({:.6g} to {:.6g})", i->low, i->high);
      all += "\n";
    }
  };
  const std::vector before{entry("p/x", 100), entry("p/y", 100), entry("p/z", 100, 0.02)},
      after{entry("p/x", 100.1), entry("p/y", 97), entry("p/z", 98, 0.02)};
  add("what changed by more than its noise comes first", before, after);
  add("the other way round the same is found", after, before);
  Entry noisy = entry("p/a", 150);
  noisy.verdict.status = VerdictStatus::noisy;
  add("steady differences come before noisy ones", {entry("p/a", 100), entry("p/b", 100)},
      {noisy, entry("p/b", 102)});
  const auto seconds = [](double value) { return entry("p/x", value, 0.001, Better::lower); };
  add("a time is better where it is shorter", {seconds(10)}, {seconds(9)});
  add("and worse where it is longer", {seconds(10)}, {seconds(11)});
  const auto exact = [](double value) { return std::vector{entry("p/x", value, 1e-6)}; };
  add("intervals apart by less than half a percent", exact(1000), exact(1004));
  add("by more", exact(1000), exact(1006));
  add("by more, the other way round", exact(1006), exact(1000));
  const Entry steady = entry("p/x", 100), faster = entry("p/x", 103);
  Entry shaky = steady, shaky_faster = faster;
  shaky.repeatability = shaky_faster.repeatability = 0.04;
  add("a change of 3 %", {steady}, {faster});
  add("where the rounds of A differ by more", {shaky}, {faster});
  add("where the rounds of B differ by more", {steady}, {shaky_faster});
  Entry unsure = entry("p/x", 100), without = entry("p/x", 200);
  unsure.interval->confidence = 0.75;
  add("an interval that says little", {unsure}, {without});
  without.interval.reset();
  add("and none", {unsure}, {without});
  without.metric.value = 100;
  add("equal values all the same", {unsure}, {without});
  for (const auto& [a, b] : {std::pair{0, 0}, {-5, -5}, {0, 5}, {5, 0}, {-5, 5}, {-5, -4}})
    add(fmt::format("{} and {}, which have no ratio", a, b), {entry("p/x", a)}, {entry("p/x", b)});
  Entry wide = entry("p/x", 1);
  wide.interval->low = -1;  // no ratio has such an interval
  add("an interval from below zero", {entry("p/x", 1.1)}, {wide});
  wide.interval->high = 2;
  add("one that holds the other value", {entry("p/x", 1.1)}, {wide});
  const auto refused = [&](const char* what, auto change) {
    Entry b = entry("p/x", 50);
    change(b);
    add(what, {entry("p/x", 100)}, {b});
  };
  refused("no unit", [](Entry& b) { b.metric.unit = ""; });
  refused("another direction", [](Entry& b) { b.metric.better = Better::lower; });
  refused("a wrong output", [](Entry& b) { b.verdict.status = VerdictStatus::wrong_output; });
  refused("no value", [](Entry& b) { b.metric.value.reset(); });
  refused("a value that is none", [](Entry& b) { b.metric.value = std::nan(""); });
  refused("an interval without end",
          [](Entry& b) { b.interval->high = std::numeric_limits<double>::infinity(); });
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/compared_entries.txt", all);
}

TEST_CASE("Differences between whole documents, and what only one has", "[compare]") {
  const Document a = sample::document();
  std::string all;
  const auto add = [&](const char* what, auto change) {
    Document b = a;
    change(b);
    all += what + ("\n" + comparison_text(compared(a, b)) + "\n");
  };
  add("one side alone", [](Document& b) {
    std::erase_if(b.entries, [](const Entry& e) { return e.probe == "bank_conflicts"; });
    b.facts[1].value.reset();
    b.facts[1].reason = "no such level";
    b.facts[0].id = "dram.copy_bandwidth";
    b.claims.pop_back();
  });
  add("an opponent, a fact and a claim", [](Document& b) {
    Opponent& opponent = b.entries[1].opponents.at(0);
    *opponent.ratio *= 0.9;
    opponent.ratio_interval->low *= 0.9;
    opponent.ratio_interval->high *= 0.9;
    b.facts[1].value = 40;
    b.facts[1].interval = Interval{39.9, 40.1, 0.96, "median"};
    b.claims[0].verdict = ClaimVerdict::confirmed;
  });
  add("another machine", [](Document& b) {
    b.fingerprint.driver = "590.10";
    *b.fingerprint.memory_bytes *= 2;
    b.fingerprint.power_limit_w.reset();
    b.bounds[0].value = 4.9e12;
    b.bounds.push_back({"fp64", "FLOP/s", "", 1e12});
  });
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/compared_documents.txt", all);
}

TEST_CASE("A noisy figure is marked, a fact's by its own interval or by its entries", "[compare]") {
  Document a = sample::document(), b = a;
  const auto latency = [&] {
    const Comparison c = compared(a, b);
    return named(c.figures, &ComparedFigure::name, "l1.latency").noisy();
  };
  CHECK(latency());  // 0.75 of 32.5 cycles
  a.facts[1].interval = b.facts[1].interval = Interval{32.45, 32.55, 0.96, "median"};
  CHECK_FALSE(latency());
  named(b.entries, &Entry::name, b.facts[1].evidence.front()).verdict.status = VerdictStatus::noisy;
  CHECK(latency());
  b = document({entry("p/a", 150)});
  b.entries[0].verdict.status = VerdictStatus::noisy;
  const Comparison c = compared(document({entry("p/a", 100)}), b);
  CHECK_THAT(comparison_text(c), contains(" ~"));
  CHECK_THAT(comparison_markdown(c), contains(" \\~ |"));
  CHECK(nlohmann::json::parse(comparison_json(c)).at("figures").at(0).at("b").at("noisy") == true);
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
