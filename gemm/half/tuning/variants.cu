#include "gemm/half/tuning/variants.h"

#include "gemm/fp8/types.h"
#include "gemm/half/half_rung.cuh"

namespace fathom::gemm::half {
namespace {

/// The chosen wide tile, from which the others differ.
constexpr Design wide{
    .n = 256, .stages = 4, .cluster_m = 2, .band = 8, .persistent = true, .engine_stores = true};
constexpr Design with(Design d, auto change) {
  change(d);
  return d;
}
constexpr Design large(Design d, int cluster_m, int cluster_n, int band) {
  d.cluster_m = cluster_m;
  d.cluster_n = cluster_n;
  d.band = band;
  d.leaves_rest = true;
  return d;
}

/// A shape by its index: kernels are named by types.
constexpr Design designs[] = {
    wide,
    with(wide, [](Design& d) { d.serpentine = true; }),
    with(wide, [](Design& d) { d.passing_b = d.passing_c = true; }),
    with(wide, [](Design& d) { d.serpentine = d.passing_c = true; }),
    large(wide, 4, 1, 4),
    large(wide, 2, 2, 8),
    large(with(wide, [](Design& d) { d.serpentine = d.passing_c = true; }), 2, 2, 8),
    large(wide, 4, 2, 4),
    large(with(wide, [](Design& d) { d.passing_b = d.passing_c = true; }), 2, 2, 8),
    with(wide, [](Design& d) { d.band = 16; }),
};
constexpr Design fp8_designs[] = {
    wide,
    large(wide, 2, 2, 8),
    large(wide, 4, 1, 4),
    large(with(wide, [](Design& d) { d.serpentine = d.passing_c = true; }), 2, 2, 8),
    {.n = 128,
     .stages = 5,
     .cluster_m = 2,
     .band = 8,
     .persistent = true,
     .engine_stores = true,
     .promoted = true},
    with(wide, [](Design& d) { d.promoted = true; }),
    large(with(wide, [](Design& d) { d.promoted = true; }), 2, 2, 8),
};
constexpr Design skinny_designs[] = {
    {.n = 16, .stages = 8, .split_k = 2, .band = 1},
    {.n = 16, .stages = 4, .split_k = 4, .band = 1, .resident = 2},
    {.n = 16, .stages = 3, .split_k = 4, .band = 1, .resident = 3},
    {.consumers = 1, .n = 16, .stages = 4, .split_k = 2, .band = 1, .resident = 3},
    {.consumers = 1, .n = 16, .stages = 4, .split_k = 4, .band = 1, .resident = 3},
    {.consumers = 1, .n = 16, .stages = 4, .split_k = 8, .band = 1, .resident = 3},
    {.n = 64, .stages = 8, .split_k = 2, .band = 1},
    {.n = 64, .stages = 4, .split_k = 4, .band = 1, .resident = 2},
    {.n = 128, .stages = 6, .split_k = 2, .band = 1},
    {.n = 128, .stages = 6, .cluster_m = 2, .split_k = 2, .band = 1},
    {.consumers = 1, .n = 128, .stages = 4, .cluster_m = 2, .band = 1, .resident = 2},
    {.consumers = 1, .n = 128, .stages = 4, .split_k = 2, .band = 1, .resident = 2},
    {.consumers = 1, .n = 128, .stages = 4, .cluster_m = 2, .split_k = 2, .band = 1, .resident = 2},
    {.m_blocks = 2, .n = 128, .stages = 4, .split_k = 4, .band = 1},
};

enum class List { square, skinny, fp8 };

template <List list, int Index>
struct Shape {
  static constexpr Design design = list == List::square   ? designs[Index]
                                   : list == List::skinny ? skinny_designs[Index]
                                                          : fp8_designs[Index];
  static constexpr MajorsTaken majors = list == List::fp8 ? AlongK::majors : plain_layout;
};

std::string name_of(const Design& d) {
  std::string name = std::to_string(d.m()) + "x" + std::to_string(d.n) + " stages " +
                     std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_m) + "x" +
                     std::to_string(d.cluster_n) + " band " + std::to_string(d.band);
  if (d.split_k > 1) name += " split " + std::to_string(d.split_k);
  if (d.resident > 1) name += " resident " + std::to_string(d.resident);
  if (d.leaves_rest) name += " and rest";
  if (d.serpentine) name += " serpentine";
  if (d.passing_b) name += " passing B";
  if (d.passing_c) name += " passing C";
  if (d.promoted) name += " promoted";
  return name;
}

template <List list, int... Indices>
void add(std::vector<Variant>& to, std::integer_sequence<int, Indices...>) {
  using T = std::conditional_t<list == List::fp8, fp8::Types, Types<__nv_bfloat16>>;
  constexpr Class of = list == List::fp8 ? Class::fp8 : Class::bf16;
  (to.push_back({of, name_of(Shape<list, Indices>::design), list == List::skinny,
                 &launch_shape<Shape<list, Indices>, T>}),
   ...);
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> all;
  add<List::square>(all, std::make_integer_sequence<int, int{std::size(designs)}>{});
  add<List::skinny>(all, std::make_integer_sequence<int, int{std::size(skinny_designs)}>{});
  add<List::fp8>(all, std::make_integer_sequence<int, int{std::size(fp8_designs)}>{});
  return all;
}

}  // namespace fathom::gemm::half
