#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gemm/ladder/lessons.h"

namespace fathom::gemm {

// Each is a function of its file.
namespace fp32 {
Rung sliced_depth();
}
namespace fp32_3xtf32 {
Rung planned_tiles();
}
namespace fp64 {
Rung late_reads();
}
namespace half {
Rung deferred_stores(Class of);
}
namespace tf32 {
Rung large_clusters();
}
namespace fp8 {
Rung promoted(), fast_accumulation();
}
namespace int8 {
Rung wgmma();
}

namespace {

std::vector<Rung> every_rung() {
  // What is held against the vendor's library, beside the lessons; in the ladder's order.
  const std::pair<Class, std::vector<Rung>> contenders[] = {
      {Class::fp32, {fp32::sliced_depth()}},
      {Class::fp16, {half::deferred_stores(Class::fp16)}},
      {Class::bf16, {half::deferred_stores(Class::bf16)}},
      {Class::fp64, {fp64::late_reads()}},
      {Class::fp32_3xtf32, {fp32_3xtf32::planned_tiles()}},
      {Class::tf32, {tf32::large_clusters()}},
      {Class::fp8, {fp8::promoted(), fp8::fast_accumulation()}},
      {Class::int8, {int8::wgmma()}}};
  std::vector<Rung> rungs;
  for (const auto& [of, best] : contenders) {
    std::ranges::copy(lessons_of(of), std::back_inserter(rungs));
    std::ranges::copy(best, std::back_inserter(rungs));
  }
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

}  // namespace fathom::gemm
