#include "gemm/half/tuning/variants.h"

#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

/// A shape by its index: kernels are named by types.
constexpr Design designs[] = {
    {.n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 2, .band = 4, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 2, .band = 16, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 4, .band = 4, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 4, .band = 2, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 1, .band = 16, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 3, .cluster_m = 2, .band = 8, .persistent = true, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = false, .engine_stores = true},
    {.n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true, .engine_stores = false},
    {.m_blocks = 2,
     .n = 128,
     .stages = 4,
     .cluster_m = 2,
     .band = 4,
     .persistent = true,
     .engine_stores = true},
};
constexpr Design skinny_designs[] = {
    {.n = 16, .stages = 8, .split_k = 2, .band = 1},
    {.n = 16, .stages = 8, .split_k = 1, .band = 1},
    {.m_blocks = 2, .n = 16, .stages = 5, .split_k = 4, .band = 1},
    {.n = 64, .stages = 8, .split_k = 2, .band = 1},
    {.n = 128, .stages = 6, .split_k = 2, .band = 1},
    {.n = 128, .stages = 6, .cluster_m = 2, .split_k = 2, .band = 1},
    {.m_blocks = 2, .n = 128, .stages = 4, .split_k = 4, .band = 1},
    {.m_blocks = 2, .n = 128, .stages = 4, .cluster_m = 2, .split_k = 4, .band = 1},
    {.m_blocks = 2, .n = 128, .stages = 4, .split_k = 2, .band = 1},
};

template <bool skinny, int Index>
struct Shape {
  static constexpr Design design = skinny ? skinny_designs[Index] : designs[Index];
  static constexpr MajorsTaken majors = plain_layout;
};

std::string name_of(const Design& d) {
  return std::to_string(d.m()) + "x" + std::to_string(d.n) + " stages " + std::to_string(d.stages) +
         " cluster " + std::to_string(d.cluster_m) + " split " + std::to_string(d.split_k) +
         " band " + std::to_string(d.band) + (d.persistent ? " persistent" : "") +
         (d.engine_stores ? " engine stores" : "");
}

template <bool skinny, int... Indices>
void add(std::vector<Shaped>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({{name_of(Shape<skinny, Indices>::design),
                    [](const Problem& p, int) { return EngineOperands::copy_bytes(p, plain_layout); },
                    &launch_shape<Shape<skinny, Indices>, Types<__nv_bfloat16>>},
                   skinny}),
   ...);
}

}  // namespace

std::vector<Shaped> variants() {
  std::vector<Shaped> list;
  add<false>(list, std::make_integer_sequence<int, int{std::size(designs)}>{});
  add<true>(list, std::make_integer_sequence<int, int{std::size(skinny_designs)}>{});
  return list;
}

}  // namespace fathom::gemm::half
