#include "gemm/tuning/small_variants.h"

#include <utility>

#include "gemm/half/half_rung.cuh"
#include "gemm/half/small_product.cuh"

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
constexpr Design designs[] = {
    {.n = 64, .stages = 9, .cluster_n = 2, .band = 1, .early = true},
    {.n = 64,
     .stages = 9,
     .cluster_m = 2,
     .cluster_n = 2,
     .band = 1,
     .early = true,
     .half_b = true},
    {.n = 128, .stages = 6, .cluster_m = 2, .band = 1, .early = true},
    {.n = 160, .stages = 5, .cluster_m = 2, .band = 1, .early = true, .half_b = true},
    {.n = 160,
     .stages = 5,
     .cluster_m = 2,
     .cluster_n = 2,
     .band = 1,
     .early = true,
     .half_b = true},
};

template <int Index>
struct Shape {
  static constexpr Design design = designs[Index];
  static constexpr MajorsTaken majors = plain_layout;
};

template <int Index>
void add_design(std::vector<Trial>& list) {
  constexpr Design d = designs[Index];
  const std::string name = "engine " + std::to_string(d.m()) + "x" + std::to_string(d.n) +
                           " cluster " + std::to_string(d.cluster_m) + "x" +
                           std::to_string(d.cluster_n);
  list.push_back({name,
                  [](const Problem& p, int) { return EngineOperands::copy_bytes(p, plain_layout); },
                  &launch_shape<Shape<Index>, Types<Element>>});
  list.back().suits = [](const Problem& p) { return p.k >= 512; };
}

template <int... Indices>
void add_designs(std::vector<Trial>& list, std::integer_sequence<int, Indices...>) {
  (add_design<Indices>(list), ...);
}

}  // namespace

std::vector<Trial> small_variants() {
  std::vector<Trial> list;
  for (const char* id : {"bf16/16_small_products", "bf16/15_deferred_stores"})
    list.push_back(trial_of(*find_rung(id)));
  add<SmallTile<32, 32, 16, 16, 4, 4>>(list, {1, 2, 4});
  add<SmallTile<64, 32, 32, 16, 4, 3>>(list, {1, 2, 3, 4});
  add<SmallTile<64, 64, 32, 32, 4, 2>>(list, {1, 2, 3, 4, 6});
  add_designs(list, std::make_integer_sequence<int, int{std::size(designs)}>{});
  return list;
}

}  // namespace fathom::gemm::half
