#include "gemm/tf32/tuning/variants.h"

#include "gemm/fp32_3xtf32/split_rung.cuh"
#include "gemm/tf32/register_rung.cuh"

namespace fathom::gemm::tf32 {
namespace {

constexpr RegisterDesign tf32_designs[] = {
    {.columns = 256, .cluster_m = 2, .band = 8, .persistent = true, .serpentine = true},
    {.columns = 256, .cluster_m = 2, .band = 8, .persistent = true, .serpentine = true, .rounded = true},
    {.columns = 256, .cluster_m = 2, .cluster_n = 2, .band = 8, .persistent = true, .serpentine = true, .leaves_rest = true},
    {.columns = 256, .cluster_m = 4, .cluster_n = 1, .band = 4, .persistent = true, .serpentine = true, .leaves_rest = true},
    {.columns = 256, .cluster_m = 4, .cluster_n = 2, .band = 4, .persistent = true, .leaves_rest = true},
    {.columns = 256, .cluster_m = 4, .cluster_n = 2, .band = 4, .persistent = true, .serpentine = true, .leaves_rest = true},
    {.columns = 256, .cluster_m = 4, .cluster_n = 2, .band = 2, .persistent = true, .serpentine = true, .leaves_rest = true},
};
constexpr RegisterDesign skinny_tf32_designs[] = {
    {.columns = 128, .stages = 6, .split_k = 2, .band = 1},
    {.columns = 128, .stages = 6, .split_k = 2, .band = 1, .spread_k = true},
    {.columns = 64, .stages = 8, .split_k = 1, .band = 1, .spread_k = true},
    {.columns = 64, .stages = 8, .split_k = 2, .band = 1, .spread_k = true},
};
constexpr RegisterDesign split_designs[] = {
    {.columns = 128, .cluster_m = 2, .band = 8, .persistent = true, .serpentine = true, .three_products = true},
    {.columns = 128, .cluster_m = 4, .cluster_n = 2, .band = 4, .persistent = true, .serpentine = true, .leaves_rest = true, .three_products = true},
    {.columns = 64, .stages = 6, .cluster_m = 2, .band = 8, .persistent = true, .three_products = true},
    {.columns = 128, .stages = 4, .split_k = 2, .band = 8, .three_products = true},
};
constexpr RegisterDesign skinny_split_designs[] = {
    {.columns = 16, .stages = 8, .split_k = 2, .band = 1, .three_products = true},
    {.columns = 16, .stages = 8, .split_k = 2, .band = 1, .spread_k = true, .three_products = true},
    {.columns = 64, .stages = 6, .split_k = 2, .band = 1, .spread_k = true, .three_products = true},
    {.columns = 128, .stages = 4, .split_k = 2, .band = 1, .spread_k = true, .three_products = true},
};

template <int Index>
struct Tf32Shape {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr RegisterDesign design = tf32_designs[Index];
};
template <int Index>
struct SkinnyTf32Shape {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr RegisterDesign design = skinny_tf32_designs[Index];
};
template <int Index>
struct SplitShape {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr RegisterDesign design = split_designs[Index];
};
template <int Index>
struct SkinnySplitShape {
  static constexpr MajorsTaken majors{std::nullopt, Major::k};
  static constexpr RegisterDesign design = skinny_split_designs[Index];
};

std::string name_of(const RegisterDesign& d) {
  return std::to_string(d.ring().m()) + "x" + std::to_string(d.columns) + " stages " +
         std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_m) + "x" +
         std::to_string(d.cluster_n) + " split " + std::to_string(d.split_k) + " band " +
         std::to_string(d.band) + (d.leaves_rest ? " and rest" : "") +
         (d.serpentine ? " serpentine" : "") + (d.spread_k ? " spread" : "") +
         (d.rounded ? " rounded" : "");
}

template <int... Indices>
void add_tf32(std::vector<Variant>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({name_of(tf32_designs[Indices]), Class::tf32, false,
                   &launch_across<Tf32Shape<Indices>>}),
   ...);
}
template <int... Indices>
void add_skinny_tf32(std::vector<Variant>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({name_of(skinny_tf32_designs[Indices]), Class::tf32, true,
                   &launch_across<SkinnyTf32Shape<Indices>>}),
   ...);
}
template <int... Indices>
void add_split(std::vector<Variant>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({name_of(split_designs[Indices]), Class::fp32_3xtf32, false,
                   &fp32_3xtf32::launch_split_shape<SplitShape<Indices>>}),
   ...);
}
template <int... Indices>
void add_skinny_split(std::vector<Variant>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({name_of(skinny_split_designs[Indices]), Class::fp32_3xtf32, true,
                   &fp32_3xtf32::launch_split_shape<SkinnySplitShape<Indices>>}),
   ...);
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> list;
  add_tf32(list, std::make_integer_sequence<int, int{std::size(tf32_designs)}>{});
  add_skinny_tf32(list, std::make_integer_sequence<int, int{std::size(skinny_tf32_designs)}>{});
  add_split(list, std::make_integer_sequence<int, int{std::size(split_designs)}>{});
  add_skinny_split(list, std::make_integer_sequence<int, int{std::size(skinny_split_designs)}>{});
  return list;
}

}  // namespace fathom::gemm::tf32
