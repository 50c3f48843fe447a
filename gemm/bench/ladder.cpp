#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gemm/bench/rung.h"

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
  std::vector<Rung> rungs;
  // A type's lessons, then what is held against the vendor's library.
  const auto add = [&](const std::vector<Rung>& contenders) {
    std::ranges::copy(lessons_of(contenders.front().of), std::back_inserter(rungs));
    std::ranges::copy(contenders, std::back_inserter(rungs));
  };
  add({fp32::sliced_depth()});
  add({half::deferred_stores(Class::fp16)});
  add({half::deferred_stores(Class::bf16)});
  add({fp64::late_reads()});
  add({fp32_3xtf32::planned_tiles()});
  add({tf32::large_clusters()});
  add({fp8::promoted(), fp8::fast_accumulation()});
  add({int8::wgmma()});
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
