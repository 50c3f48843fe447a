// Every compiled form of the pipelined kernel: each tiling with operands that lie in each of three
// ways, tiles at the edges, k that is no multiple of the tile, and k in parts.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "gemm/best/fp32/tilings.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

constexpr int multiple_of_4 = 12, odd = 13;

/// Where every access is instrumented: one product for each way that the operands lie. Whether
/// columns are on 16 bytes makes no other kernel of an operand that is contiguous along k, and
/// parts none at all.
bool is_met_elsewhere(Transpose transa, Transpose transb, int beyond_m, int beyond_n, int parts) {
  const bool a_is_along_k = transa == Transpose::yes, b_is_along_k = transb == Transpose::no;
  const bool same_kernel = (a_is_along_k && beyond_m == odd) || (b_is_along_k && beyond_n == odd);
  return same_kernel || (parts == 1) != (beyond_m == beyond_n);
}

}  // namespace

TEST_CASE("every fp32 tiling is right for operands of every kind", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  if (bench.facts.major < 8) SKIP("asynchronous copies need sm_80");
  for (const fp32::TilingChoice& tiling : fp32::tilings()) {
    for (const Transpose transa : test::both) {
      for (const Transpose transb : test::both) {
        // Aligned or not decides how an operand lies only where it is contiguous along m or n.
        for (const int beyond_m : {multiple_of_4, odd}) {
          for (const int beyond_n : {multiple_of_4, odd}) {
            for (const int parts : {1, 3}) {
              if (test::under_sanitizer() &&
                  is_met_elsewhere(transa, transb, beyond_m, beyond_n, parts))
                continue;
              // Row-major, the tile's rows go along the problem's n.
              Problem problem = make_problem(Class::fp32, tiling.n + beyond_m, tiling.m + beyond_n,
                                             53, transa, transb, 2, parts == 1 ? 0 : -1);
              problem.ldc += beyond_m == odd ? 2 : 4;
              CAPTURE(tiling.name, parts);
              REQUIRE(fp32::fits(tiling, problem.n, problem.m, problem.k));
              REQUIRE(parts <= fp32::most_parts(tiling, problem.k));
              const Workspace sums = bench.workspace(
                  std::max<std::size_t>(fp32::bytes_of_parts(problem, parts), 16), 0);
              bench.check_product(
                  problem, sums, 1,
                  [&](const Arguments& arguments, const Workspace& w, cudaStream_t stream) {
                    tiling.launch(arguments, parts, reinterpret_cast<float*>(w.data), stream);
                  });
            }
          }
        }
      }
    }
  }
}

TEST_CASE("products whose k does not fill the pipeline are right", "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  if (bench.facts.major < 8) SKIP("asynchronous copies need sm_80");
  for (const fp32::TilingChoice& tiling : fp32::tilings()) {
    for (const int k : {1, tiling.k - 1, tiling.k, tiling.k + 1, 2 * tiling.k, 5 * tiling.k + 3}) {
      if (test::under_sanitizer() && (k == tiling.k - 1 || k == 2 * tiling.k)) continue;
      CAPTURE(tiling.name);
      bench.check_product(
          make_problem(Class::fp32, tiling.n, tiling.m, k), {}, 1,
          [&](const Arguments& arguments, const Workspace& /*none*/, cudaStream_t stream) {
            tiling.launch(arguments, 1, nullptr, stream);
          });
    }
  }
}
