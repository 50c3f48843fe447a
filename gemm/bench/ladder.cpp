#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gemm/bench/rung.h"

namespace fathom::gemm {

// Each is a function of its file: the lessons for tensor cores, then the contenders.
namespace fp64 {
Lesson tensor_cores(), wide_products(), tma(), cluster_multicast();
Rung late_reads();
}  // namespace fp64
namespace half {
// Each multiplies either type.
Lesson wmma_global(bool is_bf16), wmma_shared(bool), mma_sync(bool), multistage(bool), wgmma(bool),
    warp_specialised(bool), wide_tile(bool), persistent(bool), cluster_multicast(bool),
    overlapped_epilogue(bool);
// tf32, fp8 and int8, which wgmma takes along k alone.
Lesson wgmma_tf32(), fast_sums(), wgmma_int8();
Rung deferred_stores(Class of);
}  // namespace half
namespace along_k {
Lesson promoted();
}
namespace fp32 {
Rung sliced_depth();
}
namespace fp32_3xtf32 {
Rung planned_tiles();
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

std::vector<Rung> lessons_of(Class of) {
  std::vector<Lesson> lessons = simt_lessons(of);
  const auto add = [&](std::initializer_list<Lesson> more) { lessons.insert(lessons.end(), more); };
  if (of == Class::fp64)
    add({fp64::tensor_cores(), fp64::wide_products(), fp64::tma(), fp64::cluster_multicast()});
  if (of == Class::fp16 || of == Class::bf16) {
    using namespace half;
    for (const auto lesson :
         {wmma_global, wmma_shared, mma_sync, multistage, wgmma, warp_specialised, wide_tile,
          persistent, cluster_multicast, overlapped_epilogue})
      add({lesson(of == Class::bf16)});
  }
  if (of == Class::tf32) add({half::wgmma_tf32()});
  if (of == Class::int8) add({half::wgmma_int8()});
  if (of == Class::fp8) add({half::fast_sums(), along_k::promoted()});
  std::vector<Rung> rungs;
  for (const Lesson& lesson : lessons) rungs.push_back(rung_of(of, lesson));
  return rungs;
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
