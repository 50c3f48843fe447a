#include "gemm/tuning/small_variants.h"

#include <utility>

#include "gemm/fp8/types.h"
#include "gemm/half/half_rung.cuh"
#include "gemm/half/small_product.cuh"
#include "gemm/int8/types.h"

namespace fathom::gemm::half {
namespace {

using Element = __nv_bfloat16;

template <class Tile>
void add(std::vector<Trial>& list, std::initializer_list<int> parts) {
  const auto takes = [](const Problem& p) {
    return EngineOperands::copy_bytes(p, MajorsTaken{}) == 0;
  };
  add_tile<Tile>(list, name_by_warps<Tile>(), &launch_small<Element, Tile>, takes, parts);
}

/// Tiles that the copy engine feeds, in clusters of two and of four.
constexpr Design brief(int n, int stages, int cluster_m, int cluster_n, bool half_b = false) {
  return {.n = n,
          .stages = stages,
          .cluster_m = cluster_m,
          .cluster_n = cluster_n,
          .band = 1,
          .early = true,
          .brief = true,
          .half_b = half_b};
}
constexpr Design designs[] = {
    {.n = 64, .stages = 9, .cluster_n = 2, .band = 1, .early = true},
    brief(64, 9, 1, 1),
    brief(64, 9, 1, 2),
    brief(128, 7, 1, 1),
    brief(128, 7, 1, 2),
    brief(128, 7, 2, 2),
    brief(160, 5, 1, 2),
    brief(160, 5, 2, 1, true),
    brief(192, 5, 1, 2),
    brief(192, 5, 2, 1, true),
};
/// Of types that are multiplied along k alone.
constexpr Design designs_along_k[] = {
    brief(16, 9, 1, 1, true),  brief(64, 9, 1, 1),  brief(64, 9, 1, 2),
    brief(128, 7, 1, 1),       brief(128, 7, 1, 2), brief(160, 5, 1, 1, true),
    brief(160, 5, 1, 2, true), brief(192, 5, 1, 2),
};

template <class Types>
constexpr bool along_k = sizeof(typename Types::In) == 1;

template <bool k, int Index>
struct Shape {
  static constexpr Design design = [] {
    if constexpr (k) {
      return designs_along_k[Index];
    } else {
      return designs[Index];
    }
  }();
  static constexpr MajorsTaken majors = k ? AlongK::majors : plain_layout;
};

template <class Types, int Index>
void add_design(std::vector<Trial>& list) {
  using S = Shape<along_k<Types>, Index>;
  constexpr Design d = S::design;
  std::string name = "engine " + std::to_string(d.m()) + "x" + std::to_string(d.n) + " stages " +
                     std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_m) + "x" +
                     std::to_string(d.cluster_n);
  if (d.brief) name += " brief";
  list.push_back({name,
                  [](const Problem& p, int) { return EngineOperands::copy_bytes(p, S::majors); },
                  &launch_shape<S, Types>});
  list.back().suits = [d](const Problem& p) {
    const std::int64_t blocks = (p.n + d.m() - 1) / d.m() * ((p.m + d.n - 1) / d.n);
    return blocks <= planned_sms && (blocks >= 48 || d.n <= 64);
  };
}

template <class Types, int... Indices>
void add_designs(std::vector<Trial>& list, std::integer_sequence<int, Indices...>) {
  (add_design<Types, Indices>(list), ...);
}

template <class Types>
std::vector<Trial> variants_along_k(const char* rung) {
  std::vector<Trial> list{trial_of(*find_rung(rung))};
  add_designs<Types>(list, std::make_integer_sequence<int, int{std::size(designs_along_k)}>{});
  return list;
}

}  // namespace

std::vector<Trial> small_variants() {
  std::vector<Trial> list;
  for (const char* id : {"bf16/16_small_products", "bf16/15_deferred_stores"})
    list.push_back(trial_of(*find_rung(id)));
  add<SmallTile<32, 32, 16, 16, 4, 4>>(list, {1, 2, 4});
  add<SmallTile<64, 32, 32, 16, 4, 3>>(list, {1, 2, 3, 4});
  add<SmallTile<64, 64, 32, 32, 4, 2>>(list, {1, 2, 3, 4, 6});
  add_designs<Types<Element>>(list, std::make_integer_sequence<int, int{std::size(designs)}>{});
  return list;
}

}  // namespace fathom::gemm::half

namespace fathom::gemm {

std::vector<Trial> fp8::small_variants() {
  return half::variants_along_k<fp8::Types>("fp8/02_fast_accumulation");
}
std::vector<Trial> int8::small_variants() {
  return half::variants_along_k<int8::Types>("int8/01_wgmma");
}

}  // namespace fathom::gemm
