// The page of the memory hierarchy.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <sstream>
#include <string>

#include "reports/facts_table.h"
#include "reports/hierarchy.h"
#include "reports/plot.h"
#include "reports/report.h"
#include "tests/unit/report_folder.h"
#include "tests/unit/sample_document.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;

Fact fact(std::string id, std::string subject, std::string quantity, double value, std::string unit,
          std::string probe = "memory_latency") {
  Fact f;
  f.id = std::move(id);
  f.subject = std::move(subject);
  f.quantity = std::move(quantity);
  f.value = value;
  f.unit = std::move(unit);
  f.probe = std::move(probe);
  return f;
}

/// The sample's facts, and some of parts that are no levels.
Document atlas_document() {
  Document d = sample::document();
  d.facts.push_back(fact("l2.size", "L2", "size", 60.0 * (1 << 20), "B"));
  d.facts.push_back(fact("l1.latency_time", "L1", "latency in time", 16.4e-9, "s"));
  for (const char* name : {"gpcs", "tpcs", "partitions"}) {
    d.facts.push_back(fact(std::string("topology.") + name, "topology", name, 2, "", "topology"));
  }
  d.facts.push_back(fact("ffma.latency", "FFMA", "latency", 4, "cycles", "instructions"));
  d.facts.push_back(fact("dfma.latency", "DFMA", "latency", 8, "cycles", "instructions"));
  return d;
}

std::string atlas_of(const Document& document, bool pictures = false) {
  const ReportFolder folder;
  if (pictures) return file_text(write_report(document, folder.path()).atlas);
  const EmptyPath no_gnuplot;
  return file_text(write_report(document, folder.path()).atlas);
}

}  // namespace

TEST_CASE("A document that names two levels has an atlas, and the report leads to it",
          "[reports]") {
  Document d = sample::document();
  const ReportFolder folder;
  const EmptyPath no_gnuplot;
  ReportPaths paths = write_report(d, folder.path());
  CHECK(paths.atlas == folder.path() / "atlas.md");
  const std::string readme = file_text(paths.readme);
  CHECK(readme.find("](atlas.md)") < readme.find("## Verdict"));
  CHECK_THAT(file_text(paths.atlas), ContainsSubstring("](README.md)"));

  const ReportFolder other;
  std::erase_if(d.facts, [](const Fact& f) { return reports::part_of(f) == "l1"; });
  paths = write_report(d, other.path());
  CHECK(paths.atlas.empty());
  CHECK_FALSE(std::filesystem::exists(other.path() / "atlas.md"));
  CHECK_THAT(file_text(paths.readme), !ContainsSubstring("atlas.md"));
}

TEST_CASE("The levels stand nearest first, with size, latency and bandwidth", "[reports]") {
  const std::string page = atlas_of(atlas_document());
  CHECK_THAT(page, ContainsSubstring("| L1 | – | 32.5 cycles | 16.4 ns | – |\n"
                                     "| L2 | 60 MiB | – | – | – |\n"
                                     "| DRAM | – | – | – | 4.28 TB/s |\n"));
}

TEST_CASE("Facts stand by part: levels, then others, small ones together", "[reports]") {
  const std::string page = atlas_of(atlas_document());
  std::size_t at = 0;
  for (const char* heading : {"### L1\n", "### Distributed shared memory\n", "### L2\n",
                              "### DRAM\n", "### Topology\n", "### Instructions\n"}) {
    CAPTURE(heading);
    const std::size_t found = page.find(heading, at);
    CHECK(found != std::string::npos);
    at = found;
  }
  CHECK_THAT(page, !ContainsSubstring("### FFMA"));
  CHECK(page.find("| FFMA latency |") > at);
  CHECK(page.find("| DFMA latency |") > at);
  CHECK_THAT(page,
             ContainsSubstring("Distributed shared memory latency is missing: the chip has no "
                               "thread-block clusters"));
}

TEST_CASE("Beside a published figure stands by how much this one deviates", "[reports]") {
  Document d = atlas_document();
  CHECK_THAT(atlas_of(d), ContainsSubstring("33 cycles (Dissecting Hopper via microbenchmarking, "
                                            "H800) | -1.52 % |"));
  d.facts[1].published->value = 25;
  CHECK_THAT(atlas_of(d), ContainsSubstring("| +30 % |"));
  CHECK(*reports::deviation(d.facts[1]) == 0.3);
  d.facts[1].published->value = 0;
  CHECK_FALSE(reports::deviation(d.facts[1]));
  d.facts[1].published.reset();
  CHECK_FALSE(reports::deviation(d.facts[1]));
}

TEST_CASE("Views for the overview are on the atlas, and drawn once", "[reports]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const ReportFolder folder;
  const ReportPaths paths = write_report(atlas_document(), folder.path());
  CHECK(paths.pictures.size() == 8);  // as without the page
  const std::string page = file_text(paths.atlas);
  CHECK_THAT(page, ContainsSubstring("\"hierarchy-light.svg\"") &&
                       ContainsSubstring("\"copy_bandwidth-copy-bandwidth-by-size-light.svg\"") &&
                       !ContainsSubstring("bank_conflicts-cycles"));
  CHECK(page.find("hierarchy-light.svg") < page.find("## Copy bandwidth by size"));
  CHECK(page.find("## Copy bandwidth by size") < page.find("## Facts"));
}

TEST_CASE("The atlas of a replay says so at every heading and caption", "[reports]") {
  Document d = atlas_document();
  CHECK_THAT(atlas_of(d, true), !ContainsSubstring("REPLAY"));
  d.source = Source::replay;
  std::istringstream page(atlas_of(d, true));
  int marked = 0;
  for (std::string line; std::getline(page, line);) {
    const bool head = line.starts_with("#") || line.starts_with("<summary>") ||
                      line.find("<img") != std::string::npos;
    if (!head) continue;
    CHECK_THAT(line, ContainsSubstring("REPLAY"));
    ++marked;
  }
  CHECK(marked > 10);
}

TEST_CASE("Without gnuplot the atlas has its tables and says why", "[reports]") {
  const std::string page = atlas_of(atlas_document());
  CHECK_THAT(page, ContainsSubstring("There are no pictures") && !ContainsSubstring("<img") &&
                       ContainsSubstring("| Level | Size |"));
}

}  // namespace fathom
