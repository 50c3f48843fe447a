#include <algorithm>
#include <iterator>
#include <string>

#include "gemm/ladder/lessons.h"

namespace fathom::gemm {

std::vector<Lesson> lessons_of(Class of) {
  switch (of) {
    case Class::fp32:
      return fp32_lessons();
    case Class::fp32_3xtf32:
      return {};
    case Class::fp64:
      return {fp64::shared_memory(), fp64::register_tile(), fp64::tensor_cores(),
              fp64::wide_products(), fp64::tma(),           fp64::cluster_multicast()};
    case Class::fp16:
    case Class::bf16:
      return {half::wmma_global(of),        half::wmma_shared(of), half::mma_sync(of),
              half::multistage(of),         half::wgmma(of),       half::warp_specialised(of),
              half::wide_tile(of),          half::persistent(of),  half::cluster_multicast(of),
              half::overlapped_epilogue(of)};
    case Class::tf32:
    case Class::int8:
      return {along_k::wgmma(of)};
    case Class::fp8:
      return {along_k::wgmma(of), along_k::promoted()};
  }
  return {};
}

std::vector<Lesson> all_lessons() {
  std::vector<Lesson> all;
  for (const ClassTraits& type : all_classes())
    std::ranges::move(lessons_of(type.of), std::back_inserter(all));
  return all;
}

const Lesson* find_lesson(const std::string& id) {
  static const std::vector<Lesson> lessons = all_lessons();
  const auto found = std::ranges::find(lessons, id, &Lesson::id);
  return found == lessons.end() ? nullptr : &*found;
}

}  // namespace fathom::gemm
