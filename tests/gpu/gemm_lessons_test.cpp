// Every lesson of gemm/ladder against the reference on the GPU. tests/host runs the same kernels on
// the CPU; what remains for this test is that the GPU's compiler made the same of them.

#include <catch2/catch_test_macros.hpp>

#include "gemm/ladder/fp32/lessons.h"
#include "tests/gpu/gemm_rung_bench.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

/// Whole tiles of every lesson with and without gaps, tiny and odd products, transposes, nothing at
/// all.
std::vector<Problem> lesson_problems() {
  constexpr auto plain = Transpose::no, turned = Transpose::yes;
  std::vector<Problem> all{make_problem(Class::fp32, 256, 384, 128),
                           make_problem(Class::fp32, 768, 256, 64, plain, plain, 0.5, -1.5),
                           make_problem(Class::fp32, 129, 127, 33, plain, plain, 2, -3),
                           make_problem(Class::fp32, 67, 35, 21, turned, plain),
                           make_problem(Class::fp32, 33, 70, 9, turned, turned),
                           make_problem(Class::fp32, 5, 7, 0, plain, plain, 1, 2),
                           make_problem(Class::fp32, 0, 5, 7),
                           make_problem(Class::fp32, 1, 1, 1)};
  for (const std::int64_t gap : {4, 5}) {
    Problem p = make_problem(Class::fp32, 256, 256, 64);
    p.lda += gap, p.ldb += gap, p.ldc += gap;
    all.push_back(p);
  }
  if (test::under_sanitizer()) all.resize(4);
  return all;
}

}  // namespace

TEST_CASE("every lesson and every tiling of one is right on the GPU",
          "[gpu][gemm][lessons][sanitized]") {
  test::RungBench bench;
  // Problem by problem: its reference serves all lessons.
  for (const Problem& problem : lesson_problems()) {
    for (const Rung& lesson : fp32_lessons()) {
      bench.check(lesson, problem);
      for (const Variant& variant : lesson.variants(problem, bench.facts.sms)) {
        static const Variant* launched = nullptr;  // a rung's launch is a plain function
        launched = &variant;
        Rung tuned = lesson;
        tuned.id += " as " + variant.name;
        tuned.launch = [](const Arguments& arguments, const Workspace& workspace,
                          cudaStream_t stream) { launched->launch(arguments, workspace, stream); };
        bench.check(tuned, problem);
      }
    }
  }
}
