#include "gemm/bench/cases.h"
#include "gemm/bench/conclude.h"
#include "gemm/bench/shapes.h"
#include "probes/claims.h"
#include "results/document_io.h"
#include "results/findings.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"
#include "tests/unit/sample_document.h"

using namespace fathom;

// The recordings are what real GPUs gave. What is concluded from them, and how their entries are
// judged, must not change unnoticed: whoever changes a conclusion records anew or says why. With
// FATHOM_UPDATE_GOLDEN=1 the recordings get today's conclusions.

namespace {

std::filesystem::path path_of(const std::string& folder) {
  return std::filesystem::path(FATHOM_SOURCE_DIR) / "recordings" / folder / "result.json";
}

/// Facts of the recordings' builds that are stated no more (CHANGELOG.md, "Removed").
bool is_gone(const Fact& fact) {
  static const std::set<std::string> gone{"topology.tpc_slowdown",
                                          "topology.tpc_contention_agreement",
                                          "topology.l2_line_groups",
                                          "launch.block_start_rate_32_threads",
                                          "launch.block_start_rate_1024_threads",
                                          "launch.graph_host_cost_per_node"};
  return gone.contains(fact.id);
}

}  // namespace

// Each fact and claim has the entries that decided it, its figure, its method and its reason, each
// view what it lets in and how it is drawn.
TEST_CASE("the recordings' entries lead to what was concluded from them", "[gemm][recording]") {
  std::size_t views_gone = 0;
  for (const std::string gpu : {"h200", "h100-80gb-hbm3"}) {
    for (const std::string part : {"", "atlas/", "gemm/", "model_validation/"}) {
      Document recorded = read_document(path_of(gpu + "/" + part));
      Document again = recorded;
      std::erase_if(recorded.facts, is_gone);
      conclude_again(again, conclusion_of);
      if (std::getenv("FATHOM_UPDATE_GOLDEN")) write_document(again, path_of(gpu + "/" + part));
      for (std::size_t i = 0; i < recorded.probes.size(); ++i) {
        ProbeSummary &now = again.probes[i], &then = recorded.probes[i];
        CAPTURE(gpu, part, now.name);
        // Older answers do not mark the figures of noisy entries.
        for (std::string* answer : {&now.answer, &then.answer}) std::erase(*answer, '~');
        CHECK(now.answer == then.answer);
        for (const View& view : now.views) {
          CAPTURE(view.title);
          View stated = planted::view(then.views, view.title);
          // Notes of sweeps told the clocks, and one table had columns that nobody states now.
          if (view.note.find("that power left both") != std::string::npos) stated.note = view.note;
          if (view.title == "Occupancy") stated.columns = view.columns;
          CHECK(view == stated);
        }
        views_gone += then.views.size() - now.views.size();
      }
      REQUIRE(again.claims.size() == recorded.claims.size());
      for (std::size_t i = 0; i < again.claims.size(); ++i) {
        CAPTURE(gpu, part, again.claims[i].id);
        CAPTURE(again.claims[i].figure, recorded.claims[i].figure);
        CHECK(again.claims[i] == recorded.claims[i]);
      }
      REQUIRE(again.facts.size() == recorded.facts.size());
      for (std::size_t i = 0; i < again.facts.size(); ++i) {
        CAPTURE(gpu, part, again.facts[i].id, again.facts[i].value, recorded.facts[i].value);
        CHECK(again.facts[i] == recorded.facts[i]);
      }
    }
  }
  CHECK(views_gone <= 2 * 34);
}

TEST_CASE("the recordings' entries are judged as they were", "[recording]") {
  int exact = 0;  // counters that a model gives to the last one
  for (const char* folder : {"h200", "h200/gemm"}) {
    const Document document = read_document(path_of(folder));
    for (const Entry& recorded : document.entries) {
      CAPTURE(recorded.name);
      Entry entry = recorded;
      judge_entry(entry);
      CHECK(entry.verdict == recorded.verdict);
      for (const Counter& counter : entry.counters)
        exact += counter.value && counter.expected && counter.tolerance == 0;
    }
    CHECK(document.source == Source::measured);
  }
  CHECK(exact > 1500);
}

TEST_CASE("what a lesson's source says of its traffic is what was counted", "[gemm][recording]") {
  int exact = 0;
  const Document ladder = read_document(path_of("h200/gemm"));
  for (const gemm::Class of : {gemm::Class::fp32, gemm::Class::fp64}) {
    for (const gemm::Rung& lesson : gemm::lessons_of(of)) {
      const gemm::Problem p = gemm::ladder_problem(lesson, gemm::ladder_size);
      AxisFilter where = gemm::at_size(gemm::traits(of).name, gemm::ladder_size);
      where.emplace_back("rung", lesson.name);
      const auto recorded = select(ladder.entries, where);
      REQUIRE(recorded.size() == 1);
      for (const auto& m : gemm::known_counters(lesson, p, lesson.plan(p, 132), 90)) {
        CAPTURE(lesson.id(), m.role, m.value);
        const auto value = counter_value(*recorded.front(), m.role);
        REQUIRE(value);
        if (m.tolerance >= shown_alone) continue;
        CHECK(*value == m.value);
        ++exact;
      }
    }
  }
  CHECK(exact > 80);
}
