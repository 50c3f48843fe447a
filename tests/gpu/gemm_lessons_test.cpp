// Every lesson of gemm/ladder against the reference on the GPU. tests/host runs the same kernels on
// the CPU; what remains for this test is that the GPU's compiler made the same of them.

#include "gemm/ladder/lessons.h"
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

/// The same of the other types: one step of k and fewer than a ring has stages, more, gaps that
/// keep rows on 16 bytes and others that do not.
std::vector<Problem> ring_problems(Class of) {
  constexpr auto plain = Transpose::no, turned = Transpose::yes;
  // As the lessons take it, and with more k than a ring of four stages has.
  const bool along_k = of == Class::tf32 || of == Class::fp8 || of == Class::int8;
  const auto own = along_k ? turned : plain;
  const int line = 128 / element_bytes(traits(of).input);
  const double half = of == Class::int8 ? 3 : 0.5;  // whose scalars are whole numbers
  std::vector<Problem> all{
      make_problem(of, 512, 256, std::max(line, 64), own),
      make_problem(of, 256, 512, std::max(9 * line, 576), own, plain, half, -2),
      make_problem(of, 129, 127, 33, plain, plain, 2, -3),
      make_problem(of, 67, 35, 21, turned, plain),
      make_problem(of, 33, 70, 9, turned, turned),
      make_problem(of, 40, 33, 70, plain, turned),
      make_problem(of, 5, 7, 0, plain, plain, 1, 2),
      make_problem(of, 0, 5, 7),
      make_problem(of, 2560, 2304, 256, own)};
  for (const std::int64_t gap : {16, 5}) {
    Problem p = make_problem(of, 512, 512, 128, own, plain, -2, half);
    p.lda += gap, p.ldb += gap, p.ldc += gap;
    all.push_back(p);
  }
  if (test::under_sanitizer()) all.resize(3);
  return all;
}

void check_lessons(Class of) {
  test::RungBench bench;
  for (const Problem& problem : ring_problems(of)) {
    for (const Rung& lesson : lessons_of(of)) {
      if (bench.runs(lesson)) bench.check(lesson, problem);
    }
  }
}

}  // namespace

TEST_CASE("every lesson of fp16 is right on the GPU", "[gpu][gemm][half][lessons][sanitized]") {
  check_lessons(Class::fp16);
}

TEST_CASE("every lesson of bf16 is right on the GPU", "[gpu][gemm][half][lessons][sanitized]") {
  check_lessons(Class::bf16);
}

TEST_CASE("every lesson of fp64 is right on the GPU", "[gpu][gemm][lessons][sanitized]") {
  check_lessons(Class::fp64);
}

TEST_CASE("every lesson of tf32 is right on the GPU", "[gpu][gemm][lessons][sanitized]") {
  check_lessons(Class::tf32);
}

TEST_CASE("every lesson of fp8 is right on the GPU", "[gpu][gemm][lessons][sanitized]") {
  check_lessons(Class::fp8);
}

TEST_CASE("every lesson of int8 is right on the GPU", "[gpu][gemm][lessons][sanitized]") {
  check_lessons(Class::int8);
}

TEST_CASE("every lesson and every tiling of one is right on the GPU",
          "[gpu][gemm][lessons][sanitized]") {
  test::RungBench bench;
  // Problem by problem: its reference serves all lessons.
  for (const Problem& problem : lesson_problems()) {
    for (const Rung& lesson : lessons_of(Class::fp32)) {
      bench.check(lesson, problem);
      for (const RungPlan& variant : lesson.variants(problem)) {
        CAPTURE(variant.name);
        Rung tuned = lesson;
        tuned.plan = [&](const Problem&, int) { return variant; };
        bench.check(tuned, problem);
      }
    }
  }
}
