#include <algorithm>
#include <iterator>
#include <string>

#include "gemm/ladder/lessons.h"

namespace fathom::gemm {

// Each is a function of its file.
namespace fp32 {
Rung planned_tiles(), sliced_depth();
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

/// What is held against the vendor's library, beside the lessons.
std::vector<Rung> contenders_of(Class of) {
  switch (of) {
    case Class::fp32:
      return {fp32::planned_tiles(), fp32::sliced_depth()};
    case Class::fp32_3xtf32:
      return {fp32_3xtf32::planned_tiles()};
    case Class::fp64:
      return {fp64::late_reads()};
    case Class::fp16:
    case Class::bf16:
      return {half::deferred_stores(of)};
    case Class::tf32:
      return {tf32::large_clusters()};
    case Class::fp8:
      return {fp8::promoted(), fp8::fast_accumulation()};
    case Class::int8:
      return {int8::wgmma()};
  }
  return {};
}

std::vector<Rung> every_rung() {
  std::vector<Rung> rungs;
  for (const Class of : {Class::fp32, Class::fp16, Class::bf16, Class::fp64, Class::fp32_3xtf32,
                         Class::tf32, Class::fp8, Class::int8}) {
    std::ranges::copy(lessons_of(of), std::back_inserter(rungs));
    std::ranges::copy(contenders_of(of), std::back_inserter(rungs));
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
