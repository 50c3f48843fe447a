// The page of the memory hierarchy.

#include "reports/facts_table.h"
#include "reports/hierarchy.h"
#include "reports/report.h"
#include "tests/testing.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

Fact fact(const char* id, const char* subject, const char* quantity, double value, const char* unit,
          const char* probe = "memory_latency") {
  return sample::fact(id, subject, quantity, value, unit, probe);
}

/// The sample's facts, and some of parts that are no levels.
Document atlas_document() {
  Document d = sample::document();
  d.facts.push_back(fact("l2.size", "L2", "size", 60.0 * (1 << 20), "B"));
  d.facts.push_back(fact("dram.bytes_per_clock", "DRAM", "bytes per clock and SM", 17, "B/clk"));
  d.facts.push_back(fact("l1.latency_time", "L1", "latency in time", 16.4e-9, "s"));
  for (const char* name : {"gpcs", "tpcs", "partitions"}) {
    d.facts.push_back(
        sample::fact(std::string("topology.") + name, "topology", name, 2, "", "topology"));
  }
  d.facts.push_back(fact("ffma.latency", "FFMA", "latency", 4, "cycles", "instructions"));
  d.facts.push_back(fact("dfma.latency", "DFMA", "latency", 8, "cycles", "instructions"));
  return d;
}

std::string atlas_of(const Document& document) {
  const TestFolder folder;
  return file_text(write_report(document, folder.path()).atlas);
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

TEST_CASE("Levels stand nearest first, facts by probe, those of levels first", "[reports]") {
  const std::string page = atlas_of(atlas_document());
  CHECK_THAT(page, contains("| L1 | – | 32.5 cycles (16.4 ns) | – |\n"
                            "| L2 | 60 MiB of the GPU | – | – |\n"
                            "| DRAM | – | – | 4.28 TB/s (17 B/clk an SM) |\n"));
  std::size_t at = 0;
  for (const char* next : {"### Memory latency\n", "### Copy bandwidth\n", "### Bank conflicts\n",
                           "### Topology\n", "### Instructions\n", "| FFMA: latency |"}) {
    CAPTURE(next);
    at = page.find(next, at);
    REQUIRE(at != std::string::npos);
  }
}

TEST_CASE("A page shows the facts that people quote, and links to the others", "[reports]") {
  Document d = atlas_document();
  const auto section = [&](const std::string& probe) {
    const std::string page = atlas_of(d);
    const std::size_t at = page.find("### " + probe + "\n");
    REQUIRE(at != std::string::npos);
    return page.substr(at, page.find("<a id=", at) - at);
  };
  // A level's, and what is published; not the atomic addition, and not what is missing.
  d.facts.push_back(fact("atomic.latency", "shared memory, atomic add", "latency", 27, "cycles"));
  d.facts.push_back(fact("texture.latency", "texture path", "latency", 88, "cycles"));
  d.facts.back().published = Published{39, "a paper"};
  CHECK_THAT(section("Memory latency"),
             contains("**4 of 5 facts**") && contains("| L2: size | 60 MiB |") &&
                 contains("| texture path: latency | 88 cycles |") && !contains("atomic add") &&
                 contains("[All 5 facts](index.html#view=facts&q=memory_latency)"));
  // What is better than its bound cannot be, and is shown for that.
  d.facts[d.facts.size() - 2].bound = Bound{30, "pipeline"};
  d.facts[d.facts.size() - 2].better = Better::lower;
  CHECK_THAT(section("Memory latency"),
             contains("27 cycles **better than its bound**") && !contains("[All"));
  // A probe that has neither shows its first twelve facts.
  for (int i = 0; i < 20; ++i)
    d.facts.push_back(sample::fact("op" + std::to_string(i), "OP" + std::to_string(i), "latency", 4,
                                   "cycles", "instructions"));
  CHECK_THAT(section("Instructions"), contains("**12 of 22 facts**") &&
                                          contains("| OP9: latency |") &&
                                          !contains("| OP10: latency |"));
  // Too many for a page.
  for (Fact& f : d.facts)
    if (f.probe == "memory_latency") f.published = Published{1, "a paper"};
  for (int i = 0; i < 40; ++i) d.facts.push_back(d.facts[d.facts.size() - 1]);
  for (std::size_t i = d.facts.size() - 40; i < d.facts.size(); ++i) {
    d.facts[i].probe = "memory_latency";
    d.facts[i].published = Published{1, "a paper"};
  }
  CHECK_THAT(section("Memory latency"),
             contains("[All 45 facts](index.html#view=facts&q=memory_latency)") &&
                 !contains("| L2: size |"));
}

TEST_CASE("A source is spelled out once, in the header where all rows share it", "[reports]") {
  std::vector<Fact> facts{fact("a.latency", "A", "latency", 4, "cycles"),
                          fact("b.latency", "B", "latency", 8, "cycles"),
                          fact("c.latency", "C", "latency", 8, "cycles")};
  reports::FactList list;
  for (Fact& f : facts) {
    f.published = Published{5, "a paper"};
    f.bound = Bound{100, "the schedulers"};
    list.push_back(&f);
  }
  reports::Notes same;
  const std::string shared = reports::fact_table(list, same).markdown();
  CHECK_THAT(shared, contains("| Of its bound \\[1\\] | Published (off by) \\[2\\] |") &&
                         contains("| A: latency | 4 cycles | 4.0 % of 100 | 5 (-20.0 %) |"));
  facts[0].published->source = "another";
  // A published figure that is the bound is not said twice.
  for (Fact& f : facts) f.bound->value = 1e6;
  facts[1].bound = Bound{5, "a paper"};
  facts[1].better = Better::lower;
  reports::Notes apart;
  const std::string own = reports::fact_table(list, apart).markdown();
  CHECK_THAT(own, contains("| A: latency | 4 cycles | 0.0 % of 1,000,000 \\[1\\] | "
                           "5 (-20.0 %) \\[2\\] |") &&
                      contains("| B: latency | 8 cycles | 62.5 % of 5 \\[3\\] | – |"));
  CHECK(apart.list() ==
        std::vector<std::string>{"\\[1\\] the schedulers", "\\[2\\] another", "\\[3\\] a paper"});
  // A bound that no row comes near is no column.
  facts[1].bound = Bound{1e6, "the schedulers"};
  facts[1].better = Better::higher;
  reports::Notes few;
  CHECK_THAT(reports::fact_table(list, few).markdown(), !contains("Of its bound"));
}

TEST_CASE("Beside a published figure stands by how much this one deviates", "[reports]") {
  Fact fact = sample::facts()[1];
  fact.published->value = 25;
  CHECK(*reports::deviation(fact) == 0.3);
  fact.published->value = 0;
  CHECK_FALSE(reports::deviation(fact));
  fact.published.reset();
  CHECK_FALSE(reports::deviation(fact));
}

}  // namespace fathom
