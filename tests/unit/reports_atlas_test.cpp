// The page of the memory hierarchy: what the recorded one (tests/golden) does not have in it.

#include "reports/facts_table.h"
#include "reports/report.h"
#include "tests/testing.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

Fact fact(const char* id, const char* subject, const char* quantity, double value) {
  return sample::fact(id, subject, quantity, value, "cycles", "memory_latency");
}

}  // namespace

TEST_CASE("A document that names one level has no atlas", "[reports]") {
  Document d = sample::document();
  const TestFolder folder;
  std::erase_if(d.facts, [](const Fact& f) { return f.id.starts_with("l1."); });
  const ReportPaths paths = write_report(d, folder.path());
  CHECK(paths.atlas.empty());
  CHECK_FALSE(std::filesystem::exists(folder.path() / "atlas.md"));
  CHECK_THAT(file_text(paths.readme), !contains("atlas.md"));
}

TEST_CASE("What is better than its bound cannot be, and is shown for that", "[reports]") {
  Document d = sample::document();
  d.facts.push_back(fact("texture.latency", "texture path", "latency", 88));
  d.facts.back().published = Published{39, "a paper"};
  d.facts.push_back(fact("atomic.latency", "shared memory, atomic add", "latency", 27));
  const auto atlas = [&] {
    const TestFolder folder;
    return file_text(write_report(d, folder.path()).atlas);
  };
  CHECK_THAT(atlas(), !contains("atomic add"));
  d.facts.back().bound = Bound{30, "pipeline"};
  d.facts.back().better = Better::lower;
  CHECK_THAT(atlas(), contains("27 cycles **better than its bound**"));
}

TEST_CASE("A figure that is the bound is not said twice, a bound out of sight not once",
          "[reports]") {
  std::vector<Fact> facts{fact("a.latency", "A", "latency", 4),
                          fact("b.latency", "B", "latency", 8)};
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
  CHECK_THAT(table(), !contains("Of its bound") && !contains("inf"));
  for (Fact& f : facts) f.published->value = 5;
  facts[1].bound = Bound{5, "a paper"};
  facts[1].better = Better::lower;
  CHECK_THAT(table(),
             contains("| A: latency | 4 cycles | 0.0 % of 1,000,000 \\[2\\] | 5 (-20.0 %) |") &&
                 contains("| B: latency | 8 cycles | 62.5 % of 5 \\[1\\] | – |"));
}

}  // namespace fathom
