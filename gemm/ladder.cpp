#include <algorithm>
#include <iterator>

#include "gemm/fp32/rungs.h"
#include "gemm/fp32_3xtf32/rungs.h"
#include "gemm/fp64/rungs.h"
#include "gemm/fp8/rungs.h"
#include "gemm/half/rungs.h"
#include "gemm/int8/rungs.h"
#include "gemm/ladder/fp32/lessons.h"
#include "gemm/ladder/fp64/lessons.h"
#include "gemm/ladder/half/lessons.h"
#include "gemm/rung.h"
#include "gemm/tf32/rungs.h"

namespace fathom::gemm {

namespace {

std::vector<Rung> every_rung() {
  const std::vector<Lesson> lessons = fp32_lessons();
  std::vector<Rung> rungs(lessons.begin(), lessons.end());
  rungs.push_back(fp32::planned_tiles());
  rungs.push_back(fp32::sliced_depth());
  for (const Class of : {Class::fp16, Class::bf16}) {
    std::ranges::copy(half_lessons(of), std::back_inserter(rungs));
    rungs.push_back(half::deferred_stores(of));
  }
  std::ranges::copy(fp64_lessons(), std::back_inserter(rungs));
  rungs.push_back(fp64::late_reads());
  rungs.push_back(fp32_3xtf32::promoted());
  rungs.push_back(fp32_3xtf32::planned_tiles());
  rungs.push_back(tf32::wgmma());
  rungs.push_back(tf32::a_in_registers());
  rungs.push_back(tf32::large_clusters());
  rungs.push_back(fp8::promoted());
  rungs.push_back(fp8::fast_accumulation());
  rungs.push_back(int8::wgmma());
  return rungs;
}

}  // namespace

std::span<const Rung> all_rungs() {
  static const std::vector<Rung> rungs = every_rung();
  return rungs;
}

std::vector<const Rung*> rungs_of(Class of) {
  std::vector<const Rung*> found;
  for (const Rung& rung : all_rungs()) {
    if (rung.of == of) found.push_back(&rung);
  }
  return found;
}

const Rung* find_rung(const std::string& id) {
  const auto found = std::ranges::find(all_rungs(), id, &Rung::id);
  return found == all_rungs().end() ? nullptr : &*found;
}

const Lesson* find_lesson(const std::string& id) {
  static const std::vector<Lesson> lessons = [] {
    std::vector<Lesson> all = fp32_lessons();
    std::ranges::copy(fp64_lessons(), std::back_inserter(all));
    for (const Class of : {Class::fp16, Class::bf16})
      std::ranges::copy(half_lessons(of), std::back_inserter(all));
    return all;
  }();
  const auto found = std::ranges::find(lessons, id, &Lesson::id);
  return found == lessons.end() ? nullptr : &*found;
}

bool runs_on(const Rung& rung, int major, int minor) {
  const int capability = 10 * major + minor;
  return rung.exact_capability ? capability == rung.capability : capability >= rung.capability;
}

}  // namespace fathom::gemm
