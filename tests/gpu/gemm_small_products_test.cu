// Small products in every tile that the top rungs have for them, and what they do with those that
// end within a tile or a stage.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "gemm/brief_plan.h"
#include "gemm/fp32/small_choice.h"
#include "gemm/fp64/small_choice.h"
#include "gemm/half/small_choice.h"
#include "gemm/rung.h"
#include "tests/gpu/gemm_rung_bench.h"
#include "tests/gpu/gemm_rung_tasks.h"

using namespace fathom;
using namespace fathom::gemm;
using test::layouts;

namespace {

constexpr int h200 = planned_sms;
/// Those that cut products of one wave, and of a few, as gemm/brief_plan.h says.
constexpr const char* one_wave_rungs[] = {"fp16/16_small_products", "bf16/16_small_products",
                                          "fp8/02_fast_accumulation", "int8/01_wgmma"};

/// A tile and parts, and a product that is cut so on a GPU of so many SMs. Few are planned for
/// where that makes a tile the best for a product that takes little time where every access is
/// instrumented.
struct Cut {
  int tile;
  bool shares_k;
  int sms;
  std::int64_t m, n, k;
};

/// The product of a cut: as it is, or with C's columns moved, and added to what is there.
std::vector<Problem> problems(const Cut& cut, Class of) {
  std::vector<Problem> all;
  for (Problem p : layouts(of, cut.m, cut.n, cut.k)) {
    if (p.transa == p.transb) {
      p.alpha = 2;
      p.beta = -3;
      p.ldc += 3;
    }
    all.push_back(p);
  }
  return all;
}

void check_plan(const std::optional<SmallPlan>& plan, const Cut& cut) {
  REQUIRE(plan.has_value());
  CHECK(plan->tile == cut.tile);
  CHECK((plan->parts > 1) == cut.shares_k);
}

}  // namespace

TEST_CASE("small fp32 products are right in every tile, however their operands lie",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp32/27_small_products");
  if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("clusters need sm_90a");
  for (const Cut& cut : {Cut{0, true, h200, 72, 40, 500}, Cut{0, false, 16, 132, 124, 20},
                         Cut{1, true, 20, 136, 256, 1000}, Cut{1, false, 1, 128, 128, 132}}) {
    if (test::under_sanitizer() && !cut.shares_k) continue;
    for (Problem p : problems(cut, Class::fp32)) {
      // Sixteen bytes at once along an operand's outer dimension, then four, as along k.
      for (const int gap : {0, 1}) {
        p.lda += p.transa == Transpose::no ? gap : 0;
        for (const int other : {0, 1}) {
          Problem q = p;
          q.ldb += p.transb == Transpose::yes ? other : 0;
          if (q.ldb == p.ldb && other == 1) continue;
          check_plan(fp32::small_choice(q, cut.sms), cut);
          bench.check(rung, q, cut.sms);
        }
        if (p.transa == Transpose::yes) break;
      }
    }
  }
}

TEST_CASE("small fp64 products are right in every tile, however their operands lie",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  const Rung& rung = *find_rung("fp64/09_small_products");
  if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("clusters need sm_90a");
  for (const Cut& cut : {Cut{0, false, h200, 70, 98, 46}, Cut{0, true, h200, 34, 62, 514},
                         Cut{1, false, 1, 30, 62, 322}, Cut{2, false, 8, 250, 254, 508}}) {
    for (const Problem& p : problems(cut, Class::fp64)) {
      check_plan(fp64::small_choice(p, cut.sms), cut);
      bench.check(rung, p, cut.sms);
    }
  }
}

TEST_CASE("small half-precision products are right in every tile, however their operands lie",
          "[gpu][gemm][half][sanitized]") {
  test::RungBench bench;
  for (const Class of : {Class::fp16, Class::bf16}) {
    const Rung& rung =
        *find_rung(of == Class::fp16 ? "fp16/16_small_products" : "bf16/16_small_products");
    if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("wgmma needs sm_90a");
    for (const Cut& cut : {Cut{0, false, h200, 72, 104, 88}, Cut{0, true, h200, 40, 72, 1032},
                           Cut{1, false, 1, 24, 56, 376}, Cut{2, false, 1, 56, 64, 504},
                           Cut{2, true, h200, 376, 384, 2040}}) {
      if (test::under_sanitizer() && cut.k > 2000) continue;
      for (const Problem& p : problems(cut, of)) {
        const auto choice = half::small_choice(p, cut.sms);
        CHECK(choice.kernel == half::SmallChoice::Kernel::mma);
        check_plan(choice.plan, cut);
        bench.check(rung, p, cut.sms);
      }
    }
  }
}

// Of each width, by as many SMs as make it the one: with more stages than a ring has, and fewer.
TEST_CASE("products of one wave are right in every width, however their operands lie",
          "[gpu][gemm][half][sanitized]") {
  test::RungBench bench;
  struct Width {
    int columns, sms;
    std::int64_t m;
  };
  constexpr std::int64_t n = 144;
  for (const char* id : one_wave_rungs) {
    const Rung& rung = *find_rung(id);
    if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("wgmma needs sm_90a");
    const bool half = element_bytes(traits(rung.of).input) == 2;
    for (const Width& w : {Width{16, 34, 272}, Width{64, 10, 272}, Width{128, 8, 272},
                           Width{160, 4, 272}, Width{192, 4, 336}}) {
      if (half && w.columns == 16) continue;
      const auto check = [&](const Problem& p) {
        const auto plan = brief_plan(p, w.sms);
        REQUIRE(plan.has_value());
        CHECK(plan->columns == w.columns);
        if (half) CHECK(half::small_choice(p, w.sms).kernel == half::SmallChoice::Kernel::brief);
        bench.check(rung, p, w.sms);
      };
      // C's pieces of 16 bytes, then elements that start anywhere and are added to what is there.
      for (const Problem& p : layouts(rung.of, w.m, n, test::more_than(9, rung.of))) check(p);
      if (test::under_sanitizer()) continue;
      // Two stages of 128 columns would be mma.sync's.
      const int few = w.columns == 128 ? 5 : 2;
      for (Problem p : layouts(rung.of, w.m, n, test::more_than(few, rung.of))) {
        p.alpha = 2;
        p.beta = -3;
        check(p);
        p.ldc += 3;
        check(p);
      }
    }
  }
}

// A GPU of three SMs would have two waves of them; with more tiles than large clusters run at once,
// the kernel for the SMs that those leave has some.
TEST_CASE("waves of 192 columns are right", "[gpu][gemm][half][sanitized]") {
  test::RungBench bench;
  constexpr int few = 3;
  std::size_t turn = 0;
  for (const char* id : one_wave_rungs) {
    const Rung& rung = *find_rung(id);
    if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("wgmma needs sm_90a");
    ++turn;
    const auto check = [&](const Problem& p) {
      CHECK_FALSE(brief_plan(p, few));
      CHECK(waves_of_192_are_sooner(p, few));
      bench.check(rung, p, few);
    };
    const std::vector<Problem> all = layouts(rung.of, 336, 8720, test::more_than(4, rung.of));
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Where every access is instrumented, a layout a rung.
      if (test::under_sanitizer() && i != turn % all.size()) continue;
      const Problem& p = all[i];
      check(p);
      if (test::under_sanitizer()) continue;
      Problem scaled = p;
      scaled.alpha = 2;
      scaled.beta = -3;
      scaled.ldc += scaled.transa == scaled.transb ? 3 : 0;
      check(scaled);
    }
  }
}

TEST_CASE("small products are right at the sizes that they are made for", "[gpu][gemm][half]") {
  test::RungBench bench;
  for (const char* id :
       {"fp32/27_small_products", "fp64/09_small_products", "fp16/16_small_products",
        "bf16/16_small_products", "fp8/02_fast_accumulation", "int8/01_wgmma"}) {
    const Rung& rung = *find_rung(id);
    if (!runs_on(rung, bench.facts.major, bench.facts.minor)) SKIP("clusters need sm_90a");
    for (const std::int64_t size : {256, 384, 512, 640, 768, 1024, 1280, 1536, 2048}) {
      for (const Problem& p : layouts(rung.of, size, size, size)) bench.check(rung, p, h200);
      // Whose edges lie within tiles.
      bench.check(
          rung,
          make_problem(rung.of, size - 8, size - 24, size - 40, Transpose::no, Transpose::no, 1, 2),
          h200);
    }
    for (const Problem& p : layouts(rung.of, 37, 41, 29)) bench.check(rung, p, h200);
    for (const Problem& p : layouts(rung.of, 130, 70, 513)) bench.check(rung, p, h200);
    for (const Problem& p : layouts(rung.of, 136, 72, 520)) bench.check(rung, p, h200);
  }
}
