// The report: no document breaks it, and replays say so everywhere. What recorded documents have in
// them is held against their pages (tests/golden).

#include "reports/report.h"

#include "reports/sections.h"
#include "tests/testing.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

Fact latency(const char* id, const char* subject, double cycles) {
  Fact f{id, subject, "latency", "cycles"};
  f.value = cycles;
  f.probe = "memory_latency";
  return f;
}

/// Every table's rows have as many borders as its head.
void check_tables(const std::string& page) {
  std::string before;
  for (const std::string& line : lines_of(page)) {
    CAPTURE(line);
    if (line.starts_with("|") && before.starts_with("|"))
      CHECK(std::ranges::count(line, '|') == std::ranges::count(before, '|'));
    before = line;
  }
}

TEST_CASE("The summary's figure of a probe is one that its first view shows", "[reports]") {
  Document d = sample::document();
  // Closer to its bound than any copy that the first view shows, but not what the answer is about.
  d.entries.push_back(sample::copy_entry("mix", 16, std::int64_t{1} << 30, 4.7e12, 0.001, 99));
  CHECK_THAT(terminal_summary(d, false),
             contains("4.28 TB/s  89.2 % of bound") && !contains("97.9 %"));
  // A view that shows nothing measured says nothing.
  d.probes.at(0).views.at(0).where = {{"type", {std::string("none such")}}};
  CHECK_THAT(terminal_summary(d, false), contains("97.9 % of bound"));
  std::erase_if(d.entries, [](const Entry& e) { return e.verdict.status != VerdictStatus::ok; });
  CHECK_THAT(page_of(d), contains("**No check failed; "));
}

TEST_CASE("Names cannot become markup", "[reports]") {
  const std::string hostile =
      "a|b `c` <script>x</script> & _d_ *e* \"f\" 'g' [h](i) $j$ \\ ü\nk\x1b]0;l\x07";
  Document d = sample::document();
  d.fingerprint.gpu_name = d.fingerprint.ecc = hostile;
  d.suite = d.seed = d.date = hostile;
  d.warnings = {hostile};
  d.bounds[0].name = d.bounds[0].source = hostile;
  for (Entry& entry : d.entries) {
    entry.name = entry.probe + "/" + hostile;
    entry.metric.name = entry.metric.unit = hostile;
    entry.axes[0] = {hostile, hostile};
    entry.bound->source = entry.expected->model = hostile;
    entry.verdict.reasons = {hostile};
    for (Opponent& opponent : entry.opponents) opponent.name = hostile;
    for (Counter& counter : entry.counters) counter.role = counter.metric = hostile;
    entry.telemetry.throttle_reasons = {hostile};
    entry.timing.mode = hostile;
  }
  for (ProbeSummary& probe : d.probes) {
    probe.question = probe.answer = probe.method = probe.status_reason = hostile;
    for (View& view : probe.views) {
      view.title = view.note = hostile;
      view.where.clear();
      view.columns = {hostile, "counter:" + hostile, "ratio:" + hostile, "extra:" + hostile,
                      "metric"};
    }
  }
  for (Claim& claim : d.claims) claim.id = claim.statement = claim.figure = hostile;
  for (Fact& fact : d.facts) {
    fact.subject = fact.quantity = fact.unit = fact.method = fact.probe = hostile;
    fact.evidence = {hostile};
    if (!fact.value) fact.reason = hostile;
    fact.published = Published{1, hostile};
    fact.bound = Bound{1e300, hostile};
    fact.counters = {sample::counter(hostile, "", hostile, 1, 1),
                     sample::missing_counter(hostile, hostile)};
  }
  const TestFolder folder;
  const std::string page = page_of(d) + file_text(write_report(d, folder.path()).atlas);
  check_tables(page);
  CHECK_THAT(page, !contains("<script>") && !contains(" _d_") && !contains(" *e*") &&
                       !contains("[h](i)") && !contains("$j$") && !contains('\x1b'));
  CHECK_THAT(terminal_summary(d, false), !contains("ü\nk") && !contains('\x1b'));
  CHECK_THAT(terminal_summary(d, true), !contains("\x1b]"));
}

TEST_CASE("Without an atlas facts stand in the report, marked if they cannot be", "[reports]") {
  // Without the facts' ids there are no levels, so that the report has them itself.
  Document d = sample::document();
  for (Fact& fact : d.facts) fact.id = "x." + fact.id;
  CHECK_THAT(page_of(d),
             contains("| L1: latency | 32.5 cycles ± 1.5 % | 33 cycles (-1.5 %) \\[1\\] |") &&
                 !contains("**better than its bound**"));
  d.facts[0].value = 4.81e12;
  d.facts[1].bound = Bound{32.6, "pipeline"};  // of a latency, the least there can be
  CHECK_THAT(page_of(d), contains("4.81 TB/s **better than its bound**") &&
                             contains("32.5 cycles ± 1.5 % **better than its bound**"));
  d.facts[1].better = Better::higher;
  CHECK_THAT(page_of(d), !contains("32.5 cycles ± 1.5 % **better"));
  d.facts.clear();
  CHECK_THAT(page_of(d), !contains("## Facts"));
}

TEST_CASE("A link to an entry holds whatever its name is", "[reports]") {
  Document d = sample::document();
  d.entries[0].name = "a b)](x|%";
  d.entries[0].verdict.status = VerdictStatus::failed;
  CHECK_THAT(page_of(d), contains("(index.html#view=entry&name=a%20b%29%5D%28x%7C%25)"));
}

TEST_CASE("Claims stand by author and GPU, and what is long ends early", "[reports]") {
  Document d = sample::document();
  d.claims.resize(3);
  d.claims[0].author = d.claims[2].author = "Ann";
  d.claims[0].gpu = d.claims[2].gpu = "a V100";
  const std::string figure =
      "1.5 TB/s (" + std::string(70, 'x') + ", y), 12,345 sectors, " + std::string(60, 'z');
  d.claims[0].figure = figure;
  d.claims[2].figure = "why not";
  const std::string page = page_of(d);
  CHECK_THAT(page, contains("**Ann, a V100: 1 refuted, 1 does not apply**") &&
                       contains("**1 claim: 1 confirmed**") &&
                       contains("xx, y), 12,345 sectors … |\n") && !contains("zz"));
  d.claims[0].verdict = ClaimVerdict::does_not_apply;
  CHECK_THAT(page_of(d), contains("**Ann, a V100: 2 do not apply**"));
  d.claims[0].verdict = ClaimVerdict::refuted;
  CHECK((page.find("V1:") < page.find("S3:") && page.find("S3:") < page.find("V5:")));
  // Whole: what is not decided, since why stands last, and what has no place to break.
  d.claims[0].figure = std::string(300, 'z');
  d.claims[2].figure = figure;
  CHECK_THAT(page_of(d), contains(std::string(300, 'z') + " |") && contains(figure + " |"));
}

TEST_CASE("Documents with hardly anything in them have a report", "[reports]") {
  for (const Document& d : {Document{}, sample::empty_run()}) {
    const std::string page = page_of(d);
    CHECK_THAT(page, contains("**Nothing was measured.**"));
    check_tables(page);
    CHECK_THAT(terminal_summary(d, true), contains("Nothing was measured."));
  }
  // Entries without figures, telemetry or a probe's summary are shown.
  Document d = sample::document();
  d.probes.clear();
  for (Entry& entry : d.entries) {
    entry.metric.value.reset();
    entry.interval.reset();
    entry.samples.clear();
    entry.telemetry = {};
    entry.telemetry.missing_reason = "NVML cannot be loaded";
  }
  d.entries[0].expected.reset();
  d.entries[1].bound.reset();
  check_tables(page_of(d));
  CHECK_THAT(page_of(d), contains("### copy_bandwidth") &&
                             contains("No entry has both a figure and a bound.") &&
                             contains("No telemetry of 11 entries: NVML cannot be loaded."));
  // Figures that are not finite are shown as such.
  d = sample::document();
  d.entries[0].metric.value = std::numeric_limits<double>::infinity();
  d.entries[1].metric.value = std::numeric_limits<double>::quiet_NaN();
  d.entries[2].expected->value = 0;
  d.entries[3].bound->value = 0;
  check_tables(page_of(d));
  CHECK_THAT(page_of(d), contains("not finite") && !contains("nan") && !contains(" inf"));
}

TEST_CASE("A folder that cannot be written is an error, a document of one level has no atlas",
          "[reports]") {
  Document d = sample::document();
  const TestFolder folder;
  const auto file = folder.write("file", "x");
  const Refusal refused = refusal_of([&] { write_report(d, file / "report"); });
  CHECK(refused.code == ExitCode::output_unwritable);
  CHECK_THAT(refused.text, contains("choose another place"));
  std::erase_if(d.facts, [](const Fact& f) { return f.id.starts_with("l1."); });
  CHECK(write_report(d, folder.path()).atlas.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "atlas.md"));
  CHECK_THAT(page_of(d), !contains("atlas.md"));
}

TEST_CASE("What is better than its bound cannot be, and is shown for that", "[reports]") {
  Document d = sample::document();
  d.facts.push_back(latency("texture.latency", "texture path", 88));
  d.facts.back().published = Published{39, "a paper"};
  d.facts.push_back(latency("atomic.latency", "shared memory, atomic add", 27));
  const auto atlas = [&] {
    const TestFolder folder;
    return file_text(write_report(d, folder.path()).atlas);
  };
  CHECK_THAT(atlas(), !contains("atomic add"));
  d.facts.back().bound = Bound{30, "pipeline"};
  d.facts.back().better = Better::lower;
  CHECK_THAT(atlas(), contains("27 cycles **better than its bound**"));
}

TEST_CASE("A figure that is the bound is not said twice", "[reports]") {
  std::vector<Fact> facts{latency("a.latency", "A", 4), latency("b.latency", "B", 8)};
  const auto table = [&] {
    reports::FactList list;
    for (const Fact& f : facts) list.push_back(&f);
    reports::Notes notes;
    return reports::fact_table(list, notes).markdown();
  };
  for (Fact& f : facts) {
    f.published = Published{0, "a paper"};  // by which nothing can deviate
    f.bound = Bound{1e6, "the schedulers"};
  }
  CHECK_THAT(table(), !contains("inf"));
  for (Fact& f : facts) f.published->value = 5;
  facts[1].bound = Bound{5, "a paper"};
  facts[1].better = Better::lower;
  CHECK_THAT(table(), contains("| A: latency | 4 cycles | 0.0 % of 1,000,000 cycles \\[1\\] | 5 "
                               "cycles (-20.0 %) \\[2\\] |") &&
                          contains("| B: latency | 8 cycles | 62.5 % of 5 cycles \\[2\\] | – |"));
}

}  // namespace
}  // namespace fathom
