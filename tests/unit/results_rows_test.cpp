#include "results/findings.h"

#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

namespace {

const Quantities two{{"a", {{"x", "a"}}}, {"b", {{"x", "b"}}}};

std::vector<Entry> entries_of(double a, double b) {
  std::vector<Entry> entries{planted::entry("A", {{"x", "a"}}, a),
                             planted::entry("B", {{"x", "b"}}, b)};
  for (Entry& entry : entries) entry.metric.unit = "B/s";
  return entries;
}

ClaimRow row(Rule rule = Rule::all) {
  return {"X1", toyx, "s", "c", two, {{"a", 5}, {"b", 5}}, "{a} / {b}[, {a/b:.2f}]", rule};
}

}  // namespace

TEST_CASE("a rule decides by all of its checks, or case by case", "[results]") {
  CHECK(evaluate(row(), entries_of(5, 6)).verdict == ClaimVerdict::confirmed);
  CHECK(evaluate(row(), entries_of(5, 4)).verdict == ClaimVerdict::refuted);
  CHECK(evaluate(row(Rule::cases), entries_of(5, 4)).verdict == ClaimVerdict::conditional);
  CHECK(evaluate(row(Rule::cases), entries_of(3, 4)).verdict == ClaimVerdict::refuted);
  const auto one = [](double value) { return std::vector{entries_of(value, 0).front()}; };
  CHECK(evaluate(row(), one(5)).verdict == ClaimVerdict::not_measured);
  CHECK(evaluate(row(), one(4)).verdict == ClaimVerdict::refuted);  // whatever the other says
  CHECK(evaluate(row(Rule::cases), one(4)).verdict == ClaimVerdict::not_measured);
}

TEST_CASE("an effect refutes alone, and its controls make a condition", "[results]") {
  const auto verdict = [](std::vector<Entry> entries) {
    return evaluate(row(Rule::effect), entries).verdict;
  };
  CHECK(verdict(entries_of(5, 6)) == ClaimVerdict::confirmed);
  CHECK(verdict(entries_of(5, 4)) == ClaimVerdict::conditional);
  CHECK(verdict(entries_of(4, 6)) == ClaimVerdict::refuted);
  CHECK(verdict(entries_of(4, 4)) == ClaimVerdict::refuted);
  CHECK(verdict({entries_of(4, 0).front()}) == ClaimVerdict::refuted);
  CHECK(verdict({entries_of(5, 0).front()}) == ClaimVerdict::not_measured);
  CHECK(verdict({entries_of(0, 4).back()}) == ClaimVerdict::not_measured);
}

TEST_CASE("a sentence may say a figure in words, and begin behind what was left out", "[results]") {
  ClaimRow said = row();
  said.reading = {{"a", {{"x", "a"}}}, {"z", {{"x", "z"}}}};
  said.sentence = "[{z}][; it is {a:on|off}]";
  said.checks = {{"a", 1}};
  const auto tell = [&](double a) { return evaluate(said, entries_of(a, 0)).figure; };
  CHECK(tell(1) == "it is on");
  CHECK(tell(0) == "it is off");
}

TEST_CASE("a figure may be a ratio, or another one of a quantity's entry", "[results]") {
  std::vector<Entry> entries = entries_of(5, 10);
  entries[0].axes.push_back({"size", std::int64_t{7}});
  entries[0].extras = {{"blocks", 3}};
  entries[0].bound = Bound{20, "bus"};
  entries[0].opponents = {planted::opponent("cub", 4, 1.25)};
  planted::add_counter(entries[0], "sectors", 12);
  const Figures figures(two, entries);
  CHECK(figures["a/b"] == 0.5);
  CHECK(figures["a sectors/a size"] == 12.0 / 7);
  CHECK(std::isnan(figures["b sectors"]));
  CHECK(figures.range({"a", "b"}) == std::pair(5.0, 10.0));
  CHECK(std::isnan(figures.range({"a", "c"}).second));
  CHECK(figures.tell("{a/a bound:%}, {a/b:.1f%}, {a size}, {a blocks:.1f}, {a ratio:.2f} x the "
                     "{a opponent's} of {a opponent}[, {b opponent}]") ==
        "25 %, 50.0 %, 7 B, 3.0, 1.25 x the 4 B/s of cub");
}

TEST_CASE("a premise that fails makes the claim not apply", "[results]") {
  ClaimRow premised = row();
  premised.premise = {{"a/b", 2}};
  premised.unmet = "only {a/b:.1f} times";
  CHECK(evaluate(premised, entries_of(12, 6)).verdict == ClaimVerdict::confirmed);
  const Claim claim = evaluate(premised, entries_of(6, 6));
  CHECK(claim.verdict == ClaimVerdict::does_not_apply);
  CHECK(claim.figure == "6 B/s / 6 B/s, 1.00: only 1.0 times");
  CHECK(claim.evidence == std::vector<std::string>{"A", "B"});
}

TEST_CASE("a missing figure is said, and drops what is in brackets", "[results]") {
  const std::vector<Entry> one{entries_of(5, 0).front()};
  const Claim claim = evaluate(row(), one);
  CHECK(claim.figure == "its cases were left out of this run or failed; 5 B/s / (not measured)");
  const Claim none = evaluate(row(), {});
  CHECK(none.figure == "its cases were left out of this run or failed");
  CHECK(none.evidence.empty());
  Entry refused = one.front();
  Counter unread;
  unread.role = "sectors";
  unread.reason = "no permission";
  refused.counters = {unread};
  ClaimRow counted = row();
  counted.reading = {{"a", {{"x", "a"}}, Pick::first, counter_of("sectors")}, {"b", {}}};
  CHECK_THAT(evaluate(counted, std::vector{refused}).figure, contains("no permission"));
  counted = row();
  counted.checks = {{"a sectors", 1}};
  CHECK_THAT(evaluate(counted, std::vector{refused}).figure, contains("no permission"));
}

TEST_CASE("entries are picked, summed up and counted", "[results]") {
  std::vector<Entry> entries = entries_of(5, 8);
  entries.push_back(planted::entry("none", {{"x", "c"}}, 0));
  entries.back().metric.value.reset();
  const auto value = [&](Pick pick) { return Figures({{"q", {}, pick}}, entries)["q"]; };
  CHECK(value(Pick::first) == 5);
  CHECK(value(Pick::last) == 8);
  CHECK(value(Pick::best) == 8);
  CHECK(value(Pick::least) == 5);
  CHECK(value(Pick::most) == 8);
  CHECK(value(Pick::sum) == 13);
  CHECK(value(Pick::count) == 2);
  for (Entry& entry : entries) entry.metric.better = Better::lower;
  CHECK(value(Pick::best) == 5);
  CHECK(std::isnan(Figures({{"q", {{"x", "z"}}}}, entries)["q"]));
}

TEST_CASE("a fact is its entry's figure, or says why there is none", "[results]") {
  const FactRow wanted{{"l.bandwidth", "L", "bandwidth", "B/s"},
                       {{"x", "a"}},
                       "x is {x}[, best of {rivals}]",
                       "left out"};
  std::vector<Entry> entries = entries_of(5, 8);
  const Fact fact = evaluate(wanted, entries);
  CHECK(fact.value == 5);
  CHECK(fact.method == "x is a");
  CHECK(fact.evidence == std::vector<std::string>{"A"});
  const Fact missing = evaluate(wanted, {});
  CHECK(missing.reason == "left out");
  const auto answer = [&](const Fact& of, const std::string& sentence) {
    return Figures({}, entries, {of}).tell(sentence);
  };
  CHECK(answer(fact, "L moves {l.bandwidth} and {none}.") == "L moves 5 B/s and (not measured).");
  CHECK(answer(missing, "L moves {l.bandwidth} ({l.bandwidth reason}).").empty());
}

TEST_CASE("an answer marks what is noisy, and a claim leaves that to its row", "[results]") {
  std::vector<Entry> entries = entries_of(5, 8);
  entries[0].verdict.status = VerdictStatus::noisy;
  const FactRow from_a{{"l.bandwidth", "L", "bandwidth", "B/s"}, {{"x", "a"}}};
  const FactRow from_b{{"m.bandwidth", "M", "bandwidth", "B/s"}, {{"x", "b"}}};
  const Figures figures(two, entries, {evaluate(from_a, entries), evaluate(from_b, entries)});
  CHECK(figures.tell("{l.bandwidth:.0f} and {m.bandwidth:.0f}.") == "~5 and 8.");
  CHECK(figures.tell("{a:.0f} and {b:.0f}") == "~5 and 8");
  CHECK(figures.tell("{a:.0f}", false) == "5");
}

TEST_CASE("a fact is the median of its entries, and may turn out to be none", "[results]") {
  std::vector<Entry> entries = entries_of(5, 8);
  entries.push_back(planted::entry("C", {{"x", "c"}}, 9));
  FactRow row{{"l.bandwidth", "L", "bandwidth", "B/s"}, {}, "{measured} from {low} to {high}"};
  row.pick = Pick::median;
  const Fact fact = evaluate(row, entries);
  CHECK(fact.value == 8);
  CHECK(fact.method == "3 from 5 B/s to 9 B/s");
  CHECK(fact.evidence.size() == 3);
  const auto best = [&](std::span<const Entry> of) {
    return evaluate(FactRow{row.name, {}, "{x}, best[ of {rivals}]", "", Pick::best}, of);
  };
  CHECK(best(entries).method == "c, best of 3");
  CHECK(best(std::span(entries).first(1)).method == "a, best");
  row.pick = Pick::first;
  row.change = [](Fact& f, const Entry&) { f = unmeasured(f, "not counted"); };
  CHECK_FALSE(evaluate(row, entries).value);
  CHECK(evaluate(row, entries).reason == "not counted");
}
