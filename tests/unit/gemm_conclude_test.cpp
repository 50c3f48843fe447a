#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "gemm/bench/conclude.h"
#include "results/query.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

Entry entry(const char* rung, double throughput, std::int64_t size = ladder_size,
            const char* type = "fp32") {
  return planted::entry(std::string("gemm/") + type + "/" + rung + std::to_string(size),
                        {{"part", "ladder"},
                         {"type", type},
                         {"rung", rung},
                         {"layout", "NN"},
                         {"m", size},
                         {"n", size},
                         {"k", size},
                         {"alpha", 1.0},
                         {"beta", 0.0}},
                        throughput);
}

Opponent opponent(const char* name, double throughput, double ratio) {
  Opponent o;
  o.name = name;
  o.value = throughput;
  o.ratio = ratio;
  return o;
}

Entry contender(double throughput) {
  Entry e = entry("22_planned_tiles", throughput);
  e.opponents = {opponent("cuBLAS", 50e12, throughput / 50e12),
                 opponent("cuBLASLt, best of 32", 51e12, throughput / 51e12)};
  return e;
}

ClaimVerdict verdict(const std::vector<Entry>& entries, const char* id) {
  return planted::claim(gemm::conclude(entries).claims, id).verdict;
}

}  // namespace

TEST_CASE("a rung's share is of the faster library of the same run", "[gemm]") {
  CHECK(verdict({entry("row_major/05_tile_2d", 0.687 * 51e12), contender(56e12)}, "GR5") ==
        ClaimVerdict::confirmed);
  CHECK(verdict({entry("row_major/05_tile_2d", 0.4 * 51e12), contender(56e12)}, "GR5") ==
        ClaimVerdict::refuted);
  CHECK(verdict({entry("row_major/05_tile_2d", 0.95 * 51e12), contender(56e12)}, "GR5") ==
        ClaimVerdict::refuted);
  CHECK(verdict({entry("row_major/05_tile_2d", 30e12)}, "GR5") == ClaimVerdict::not_measured);
  CHECK(verdict({contender(56e12)}, "GR5") == ClaimVerdict::not_measured);
  // Another size or type is no answer.
  CHECK(verdict({entry("row_major/05_tile_2d", 35e12, 1024), contender(56e12)}, "GR5") ==
        ClaimVerdict::not_measured);
  CHECK(verdict({entry("row_major/05_tile_2d", 35e12, ladder_size, "fp64"), contender(56e12)},
                "GR5") == ClaimVerdict::not_measured);
  const Claim claim = planted::claim(
      gemm::conclude(std::vector{entry("row_major/05_tile_2d", 25.5e12), contender(56e12)}).claims,
      "GR5");
  CHECK(claim.figure.find("50.0 %") != std::string::npos);
  CHECK(claim.figure.find("cuBLASLt") != std::string::npos);
}

TEST_CASE("claims on two rungs compare those two", "[gemm]") {
  CHECK(verdict(
            {entry("row_major/03_shared_memory", 6e12), entry("row_major/12_two_outputs", 6.3e12)},
            "G1") == ClaimVerdict::confirmed);
  CHECK(
      verdict({entry("row_major/03_shared_memory", 6e12), entry("row_major/12_two_outputs", 9e12)},
              "G1") == ClaimVerdict::refuted);
  CHECK(verdict({entry("row_major/03_shared_memory", 6e12)}, "G1") == ClaimVerdict::not_measured);
  CHECK(
      verdict({entry("row_major/05_tile_2d", 30e12), entry("row_major/08_double_buffered", 33e12)},
              "G3") == ClaimVerdict::confirmed);
  // A figure that another run may turn round is not faster.
  CHECK(verdict(
            {entry("row_major/05_tile_2d", 30e12), entry("row_major/08_double_buffered", 30.1e12)},
            "G3") == ClaimVerdict::refuted);
  CHECK(verdict({entry("row_major/14_registers_buffered", 47e12),
                 entry("row_major/11_warp_tile", 50e12)},
                "G2") == ClaimVerdict::confirmed);
  CHECK(verdict({entry("row_major/14_registers_buffered", 30e12),
                 entry("row_major/11_warp_tile", 50e12)},
                "G2") == ClaimVerdict::refuted);
}

TEST_CASE("claims on one thing compare a lesson with one that goes on from it", "[gemm]") {
  const Entry shared = entry("column_major/02_shared_memory", 18e12);
  const auto gc8 = [&](double staged) {
    return verdict({shared, entry("column_major/08_staged_registers", staged)}, "GC8");
  };
  CHECK(gc8(18.2e12) == ClaimVerdict::confirmed);
  CHECK(gc8(17.8e12) == ClaimVerdict::confirmed);
  CHECK(gc8(17e12) == ClaimVerdict::refuted);
  CHECK(gc8(19e12) == ClaimVerdict::refuted);
  CHECK(verdict({shared}, "GC8") == ClaimVerdict::not_measured);

  struct Row {
    const char *id, *rung, *other, *role, *told;
  };
  for (const Row& row : {Row{"GC9", "column_major/06_tile_128", "column_major/09_tile_8x8",
                             "global_store_sectors", "2,097,152 against 4,194,304"},
                         {"GC13", "column_major/03_tile_2x2", "column_major/10_vector_store",
                          "stall_mio_throttle", "2097152.00 against 4194304.00"}}) {
    CAPTURE(row.id);
    const auto judged = [&](double throughput, double counted) {
      Entry rung = entry(row.rung, 41e12), other = entry(row.other, throughput);
      rung.extras["registers"] = 96, other.extras["registers"] = 104;
      planted::add_counter(rung, row.role, 2097152, 0);
      planted::add_counter(other, row.role, counted, 0);
      return planted::claim(gemm::conclude(std::vector{rung, other}).claims, row.id);
    };
    CHECK(judged(38e12, 4194304).verdict == ClaimVerdict::confirmed);
    CHECK(judged(40.9e12, 4194304).verdict == ClaimVerdict::refuted);  // no faster
    CHECK(judged(38e12, 2097152).verdict == ClaimVerdict::refuted);    // for another reason
    const Claim claim = judged(38e12, 4194304);
    INFO(claim.figure);
    CHECK(claim.figure.find(row.told) != std::string::npos);
    CHECK(claim.figure.find("registers: 96 against 104") != std::string::npos);
    CHECK(claim.figure.find("1.079 x") != std::string::npos);
    CHECK(claim.evidence.size() == 2);
    // Without counters nobody knows why.
    const Claim uncounted = planted::claim(
        gemm::conclude(std::vector{entry(row.rung, 41e12), entry(row.other, 38e12)}).claims,
        row.id);
    CHECK(uncounted.verdict == ClaimVerdict::not_measured);
    CHECK(uncounted.figure.find("1.079 x") != std::string::npos);
  }
}

TEST_CASE("the share of tuned tiles is of a choice that was tuned", "[gemm]") {
  const Entry library = contender(51e12);
  Entry lesson = entry("row_major/10_autotuned", 0.85 * 51e12);
  CHECK(verdict({lesson, library}, "GR10") == ClaimVerdict::not_measured);
  lesson.extras["tuned"] = 0;
  CHECK(verdict({lesson, library}, "GR10") == ClaimVerdict::not_measured);
  CHECK(planted::claim(gemm::conclude(std::vector{lesson, library}).claims, "GR10")
            .figure.find("--autotune") != std::string::npos);
  lesson.extras["tuned"] = 1;
  CHECK(verdict({lesson, library}, "GR10") == ClaimVerdict::confirmed);
  CHECK(verdict({lesson}, "GR10") == ClaimVerdict::not_measured);
}

TEST_CASE("the traffic of tiles needs every counted rung to agree", "[gemm]") {
  Entry right = entry("row_major/05_tile_2d", 30e12),
        wrong = entry("row_major/03_shared_memory", 6e12);
  right.extras["tile_read_sectors"] = wrong.extras["tile_read_sectors"] = 1000;
  planted::add_counter(right, "global_load_sectors", 1001, 1000);
  CHECK(verdict({right}, "GT1") == ClaimVerdict::confirmed);
  planted::add_counter(wrong, "global_load_sectors", 1200, 1000);
  CHECK(verdict({right, wrong}, "GT1") == ClaimVerdict::refuted);
  CHECK(verdict({entry("row_major/05_tile_2d", 30e12)}, "GT1") == ClaimVerdict::not_measured);
}

TEST_CASE("no rung asks for more than both operands anew for each multiplication", "[gemm]") {
  const auto rung = [](const char* name, double load_bytes, double dram_bytes) {
    Entry e = entry(name, 1e12);
    planted::add_counter(e, "global_load_sectors", load_bytes / 32, 0);
    planted::add_counter(e, "dram_read_bytes", dram_bytes, 0);
    planted::add_counter(e, "dram_write_bytes", 67e6, 0);
    return e;
  };
  CHECK(verdict({rung("row_major/02_coalesced", 343e9, 300e6),
                 rung("row_major/05_tile_2d", 4e9, 210e6)},
                "GT2") == ClaimVerdict::confirmed);
  const std::vector uncoalesced{rung("row_major/01_naive", 2270e9, 400e6),
                                rung("row_major/05_tile_2d", 4e9, 210e6)};
  CHECK(verdict(uncoalesced, "GT2") == ClaimVerdict::refuted);
  const Claim claim = planted::claim(gemm::conclude(uncoalesced).claims, "GT2");
  INFO(claim.figure);
  CHECK(claim.figure.find("by row_major/01_naive, 2.065 TiB where") != std::string::npos);
  CHECK(claim.figure.find("by row_major/05_tile_2d, 264.2 MiB where A, B and C once are 256 MiB") !=
        std::string::npos);
  CHECK(claim.evidence.size() == 2);
  CHECK(verdict({entry("row_major/01_naive", 1e12)}, "GT2") == ClaimVerdict::not_measured);
}

TEST_CASE("what lessons read is held against the library's own traffic", "[gemm]") {
  Entry naive = entry("column_major/01_naive", 3e12), tile = entry("column_major/04_tile_64", 9e12);
  Entry library = entry("cuBLAS", 51e12);
  for (auto& [name, value] : library.axes) {
    if (name == "part") value = std::string("claim");
  }
  const auto judged = [&](const char* id) { return verdict({naive, tile, library}, id); };
  planted::add_counter(naive, "l2_read_sectors", 2000, 0);
  planted::add_counter(naive, "shared_load_wavefronts", 2000, 0);
  planted::add_counter(tile, "l2_read_sectors", 150, 0);
  CHECK(verdict({naive}, "GC10") == ClaimVerdict::not_measured);
  CHECK(judged("GC10") == ClaimVerdict::not_measured);
  planted::add_counter(library, "l2_read_sectors", 100, 0);
  CHECK(judged("GC10") == ClaimVerdict::not_measured);
  CHECK(judged("GC12") == ClaimVerdict::confirmed);
  planted::add_counter(library, "shared_load_wavefronts", 100, 0);
  CHECK(judged("GC10") == ClaimVerdict::confirmed);
  library.counters.back().value = 50;  // of shared memory alone
  CHECK(judged("GC10") == ClaimVerdict::refuted);
  library.counters.back().value = 100;
  library.counters.front().value = 50;
  CHECK(judged("GC10") == ClaimVerdict::refuted);
  CHECK(judged("GC12") == ClaimVerdict::refuted);
  library.counters.front().value = 0;
  CHECK(judged("GC10") == ClaimVerdict::not_measured);
  // It is no rung of the ladder, and not the fastest.
  CHECK(gemm::conclude(std::vector{naive, library}).answer.find("cuBLAS") == std::string::npos);
}

TEST_CASE("throttle stalls are followed from the naive kernel to shared memory", "[gemm]") {
  const auto judged = [](std::vector<double> stalls) {
    std::vector<Entry> entries;
    for (const char* name : {"column_major/01_naive", "column_major/02_shared_memory"}) {
      if (entries.size() == stalls.size()) break;
      Entry e = entry(name, 1e12);
      planted::add_counter(e, "stall_lg_throttle", stalls[entries.size()] / 2, 0);
      planted::add_counter(e, "stall_mio_throttle", stalls[entries.size()] / 2, 0);
      entries.push_back(e);
    }
    return verdict(entries, "GC11");
  };
  CHECK(judged({9, 8}) == ClaimVerdict::confirmed);
  CHECK(judged({8, 9}) == ClaimVerdict::refuted);
  CHECK(judged({9}) == ClaimVerdict::not_measured);
}

TEST_CASE("the answer names the fastest rung and the faster library's ratio", "[gemm]") {
  const Findings findings =
      gemm::conclude(std::vector{entry("row_major/01_naive", 1e12), contender(56.1e12)});
  CHECK(findings.answer.find("22_planned_tiles") != std::string::npos);
  CHECK(findings.answer.find("1.100 x") != std::string::npos);
  const Findings alone = gemm::conclude(std::vector{entry("row_major/01_naive", 1e12)});
  CHECK(alone.answer.find("no vendor's library") != std::string::npos);
  // The fastest rung may be one that was not timed beside the library.
  const Findings apart =
      gemm::conclude(std::vector{entry("21_wide_thread_tile", 57e12), contender(56.1e12)});
  CHECK(apart.answer.find(
            "57 TFLOP/s by 21_wide_thread_tile, with 22_planned_tiles at 1.100 x the vendor's") !=
        std::string::npos);
  CHECK(gemm::conclude({}).answer.empty());
}

TEST_CASE("wmma from global memory is held against the library of fp16", "[gemm]") {
  const auto half = [](const char* rung, double throughput) {
    return entry(rung, throughput, ladder_size, "fp16");
  };
  Entry top = half("13_all_layouts", 700e12);
  top.opponents = {opponent("cuBLAS", 750e12, 700.0 / 750)};
  CHECK(verdict({half("01_wmma_global", 40e12), top}, "G5") == ClaimVerdict::confirmed);
  CHECK(verdict({half("01_wmma_global", 400e12), top}, "G5") == ClaimVerdict::refuted);
  CHECK(verdict({half("01_wmma_global", 40e12)}, "G5") == ClaimVerdict::not_measured);
  // fp32's library is no opponent of fp16.
  CHECK(verdict({half("01_wmma_global", 40e12), contender(56e12)}, "G5") ==
        ClaimVerdict::not_measured);
}

TEST_CASE("wmma's share of the peak is of what the GPU's maker publishes", "[gemm]") {
  const auto claimed = [](double throughput, double peak) {
    Entry e = entry("02_wmma_shared", throughput, 8192, "fp16");
    for (auto& [name, value] : e.axes) {
      if (name == "part") value = std::string("claim");
    }
    if (peak > 0) e.extras["published_peak_FLOP_per_s"] = peak;
    return e;
  };
  CHECK(verdict({claimed(165.1e12, 165.2e12)}, "G6") == ClaimVerdict::confirmed);
  CHECK(verdict({claimed(350e12, 989.5e12)}, "G6") == ClaimVerdict::refuted);
  CHECK(verdict({claimed(350e12, 0)}, "G6") == ClaimVerdict::not_measured);
  // The ladder's own sizes and scalars are no answer.
  CHECK(verdict({entry("02_wmma_shared", 165.1e12, 4096, "fp16")}, "G6") ==
        ClaimVerdict::not_measured);
  const Claim claim = planted::claim(
      gemm::conclude(std::vector{claimed(350e12, 1000e12),
                                 entry("13_all_layouts", 700e12, ladder_size, "fp16")})
          .claims,
      "G6");
  CHECK(claim.figure.find("35.0 %") != std::string::npos);
  CHECK(claim.figure.find("13_all_layouts") != std::string::npos);
}

TEST_CASE("every claim that is announced is concluded, once", "[gemm]") {
  const auto ids = claim_ids();
  CHECK(ids.size() == gemm::conclude({}).claims.size());
  CHECK(std::set(ids.begin(), ids.end()).size() == ids.size());
  CHECK(ids.size() > 30);
  for (const Claim& claim : gemm::conclude({}).claims)
    CHECK(claim.verdict == ClaimVerdict::not_measured);
}

TEST_CASE("fp8 is held against the library with the same sums", "[gemm]") {
  Entry promoted = entry("01_promoted", 1368e12, ladder_size, "fp8");
  promoted.opponents = {opponent("cuBLASLt, best of 32", 1371e12, 0.998)};
  Entry fast = entry("02_fast_accumulation", 1520e12, ladder_size, "fp8");
  fast.opponents = {opponent("cuBLASLt, best of 32", 1497e12, 1.016)};
  const std::vector<View> views = gemm::conclude(std::vector{promoted, fast}).views;
  const auto picture = std::ranges::find(views, "Throughput by rung: fp8 at 4096³", &View::title);
  REQUIRE(picture != views.end());
  CHECK(picture->levels == std::vector<PlotLevel>{{1371e12, "cuBLASLt, best of 32, promoted sums"},
                                                  {1497e12, "cuBLASLt, best of 32, fast sums"}});
  const auto table = std::ranges::find(views, "The ladder: fp8 at 4096³", &View::title);
  REQUIRE(table != views.end());
  // No share of another rung's opponent.
  CHECK(std::ranges::find(table->columns, "of_opponent") != table->columns.end());
  CHECK(std::ranges::none_of(table->columns,
                             [](const std::string& c) { return c.starts_with("of_level:"); }));
}

TEST_CASE("the contests of a type stand in its own section", "[gemm]") {
  const auto contest = [](const char* type) {
    Entry e = entry("22_planned_tiles", 1e12, 8192, type);
    for (auto& [name, value] : e.axes) {
      if (name == "part") value = std::string("contest");
    }
    return e;
  };
  const std::vector entries{contest("fp32"), contest("bf16")};
  const std::vector<View> views = gemm::conclude(entries).views;
  for (const Entry& e : entries) {
    const std::string type = std::get<std::string>(*find_axis(e, "type"));
    const auto view =
        std::ranges::find(views, "Against the vendor's library: " + type, &View::title);
    REQUIRE(view != views.end());
    CHECK(view->section == type);
    CHECK(std::ranges::count_if(entries, [&](const Entry& o) { return matches(o, *view); }) == 1);
  }
  CHECK(std::ranges::all_of(views, [](const View& v) { return !v.section.empty(); }));
}

TEST_CASE("the page has a section for each type that was measured, with peak and library as lines",
          "[gemm]") {
  Entry top = contender(56e12);
  top.bound = Bound{66.9e12, "planted", 1980e6};
  top.telemetry.sm_clock_hz.median = 1500e6;
  const Findings findings = gemm::conclude(std::vector{entry("row_major/01_naive", 1e12), top});
  CHECK(findings.page == "ladder");
  std::set<std::string> sections;
  std::set<View::Kind> kinds;
  for (const View& view : findings.views) {
    sections.insert(view.section);
    kinds.insert(view.kind);
    if (view.kind != View::Kind::plot) continue;
    REQUIRE(view.levels.size() == 3);
    CHECK(view.levels[0].y == 66.9e12);
    CHECK(view.levels[1].label == "peak at the top rung's 1.5 GHz");
    CHECK(view.levels[2].label == "cuBLASLt, best of 32");
  }
  CHECK(sections == std::set<std::string>{"fp32"});
  // The clock of the samples themselves goes before NVML's.
  top.timing.sm_clock_hz = 1750e6;
  const std::vector<View> views =
      gemm::conclude(std::vector{entry("row_major/01_naive", 1e12), top}).views;
  const auto picture = std::ranges::find(views, View::Kind::plot, &View::kind);
  REQUIRE(picture != views.end());
  CHECK(picture->levels[1].label == "peak at the top rung's 1.75 GHz");
  CHECK((kinds.contains(View::Kind::roofline) && kinds.contains(View::Kind::steps)));
  CHECK(gemm::conclude({}).views.empty());
  // Where only the quick suite's size was measured, that is the page's.
  const Findings quick = gemm::conclude(std::vector{entry("row_major/01_naive", 1e12, 1024)});
  CHECK(quick.answer.find("At 1024³") != std::string::npos);
  CHECK_FALSE(quick.views.empty());
}

TEST_CASE("lasting load is a type's own: rungs of others have the same names", "[gemm]") {
  const auto sustained = [](const char* rung, const char* type) {
    Entry e = entry(rung, 300e12, ladder_size, type);
    for (auto& [name, value] : e.axes) {
      if (name == "part") value = std::string("sustained");
    }
    e.name += "/sustained";
    return e;
  };
  const std::vector entries{
      entry("01_wgmma", 330e12, ladder_size, "tf32"), sustained("03_large_clusters", "tf32"),
      entry("03_large_clusters", 387e12, ladder_size, "tf32"),
      entry("01_wgmma", 1400e12, ladder_size, "int8"), sustained("01_wgmma", "int8")};
  int found = 0;
  for (const View& view : gemm::conclude(entries).views) {
    if (!view.title.starts_with("In a burst")) continue;
    ++found;
    std::set<std::string> shown;
    for (const Entry& e : entries) {
      if (matches(e, view)) shown.insert(e.name);
    }
    CHECK(shown.size() == 2);
    for (const std::string& name : shown) CHECK(name.find(view.section) != std::string::npos);
  }
  CHECK(found == 2);
}

TEST_CASE("the layouts of a type stand beside the ladder's own", "[gemm]") {
  const auto in_layout = [](const char* rung, const char* layout, const char* part) {
    Entry e = entry(rung, 700e12, ladder_size, "fp16");
    for (auto& [name, value] : e.axes) {
      if (name == "part") value = std::string(part);
      if (name == "layout") value = std::string(layout);
    }
    e.name += layout;
    return e;
  };
  const std::vector entries{in_layout("14_large_clusters", "NN", "ladder"),
                            in_layout("15_deferred_stores", "NN", "ladder"),
                            in_layout("15_deferred_stores", "TN", "layouts"),
                            in_layout("15_deferred_stores", "TT", "layouts"),
                            in_layout("15_deferred_stores", "NN", "contest")};
  const Findings findings = gemm::conclude(entries);
  const auto view = std::ranges::find(findings.views, "In each layout: fp16", &View::title);
  REQUIRE(view != findings.views.end());
  CHECK(view->section == "fp16");
  CHECK(std::ranges::count_if(entries, [&](const Entry& e) { return matches(e, *view); }) == 3);
  CHECK(std::ranges::find(view->columns, "layout") != view->columns.end());
  // No layout but the ladder's own is a rung of it.
  CHECK(ladder_of(entries, "fp16", ladder_size).size() == 2);
}

TEST_CASE("a product that was asked for has its figures and counters on the page", "[gemm]") {
  const auto asked = [](const char* rung, double throughput) {
    Entry e = entry(rung, throughput, 100);
    e.metric.unit = "FLOP/s";
    for (auto& [name, value] : e.axes) {
      if (name == "part") value = std::string("request");
    }
    return e;
  };
  const auto titles = [](const std::vector<Entry>& entries) {
    std::set<std::string> found;
    for (const View& view : gemm::conclude(entries).views) found.insert(view.title);
    return found;
  };
  Entry top = asked("22_planned_tiles", 40e12);
  top.opponents = {opponent("cuBLAS", 50e12, 0.8)};
  const std::vector two{asked("row_major/01_naive", 1e12), top};
  CHECK(gemm::conclude(two).answer ==
        "fp32 NN 100x100x100: 40 TFLOP/s by 22_planned_tiles, 0.800 x the vendor's library.");
  CHECK(titles(two).contains("Throughput by rung: fp32 NN 100x100x100"));
  CHECK(titles(two).contains("Memory, by the counters: fp32 NN 100x100x100"));
  const auto of_one = titles({top});
  CHECK(of_one.contains("What each rung takes: fp32 NN 100x100x100"));
  CHECK_FALSE(of_one.contains("Throughput by rung: fp32 NN 100x100x100"));
  // Without work there is a time, and nothing to compare.
  Entry empty = asked("row_major/01_naive", 1e-6);
  empty.metric.unit = "s";
  CHECK(gemm::conclude(std::vector{empty}).answer.empty());
}
