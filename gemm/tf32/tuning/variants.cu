#include "gemm/tf32/tuning/variants.h"

#include "gemm/fp32_3xtf32/split_rung.cuh"
#include "gemm/blocks/engine_shapes.cuh"
#include "gemm/tf32/register_rung.cuh"
#include "gemm/tf32/types.h"

namespace fathom::gemm::tf32 {
namespace {

constexpr RegisterDesign tf32_designs[] = {
    {.columns = 256, .cluster_m = 2, .band = 8, .persistent = true, .serpentine = true},
    {.columns = 128, .stages = 6, .cluster_m = 2, .band = 8, .persistent = true, .serpentine = true},
};
constexpr RegisterDesign skinny_tf32_designs[] = {
    {.columns = 128, .stages = 6, .split_k = 2, .band = 1},
    {.columns = 64, .stages = 8, .cluster_n = 2, .band = 1},
};
constexpr RegisterDesign split_designs[] = {
    {.columns = 128, .cluster_m = 2, .band = 8, .persistent = true, .three_products = true},
};
constexpr RegisterDesign skinny_split_designs[] = {
    {.columns = 16, .stages = 8, .split_k = 2, .band = 1, .three_products = true},
    {.columns = 16, .stages = 8, .split_k = 2, .band = 1, .narrow_b = true, .three_products = true},
    {.columns = 16, .stages = 11, .split_k = 2, .band = 1, .narrow_b = true, .three_products = true},
};
/// Both operands in shared memory, along k.
constexpr Design narrow_designs[] = {
    {.n = 16, .stages = 8, .split_k = 2, .band = 1},
    {.n = 16, .stages = 8, .split_k = 2, .band = 1, .narrow_b = true},
    {.n = 16, .stages = 12, .split_k = 2, .band = 1, .narrow_b = true},
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
struct NarrowShape : AlongK {
  static constexpr Design design = narrow_designs[Index];
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

std::string name_of(const Design& d, int columns) {
  return std::to_string(d.m()) + "x" + std::to_string(columns) + " stages " +
         std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_m) + "x" +
         std::to_string(d.cluster_n) + " split " + std::to_string(d.split_k) + " band " +
         std::to_string(d.band) + (d.leaves_rest ? " and rest" : "") +
         (d.serpentine ? " serpentine" : "") + (d.narrow_b ? " narrow boxes" : "") +
         (d.a_in_registers ? " registers" : "");
}
std::string name_of(const RegisterDesign& d) { return name_of(d.ring(), d.columns); }

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
void add_narrow(std::vector<Variant>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({name_of(narrow_designs[Indices], narrow_designs[Indices].n), Class::tf32, true,
                   &launch_shape<NarrowShape<Indices>, Types>}),
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
  add_narrow(list, std::make_integer_sequence<int, int{std::size(narrow_designs)}>{});
  add_split(list, std::make_integer_sequence<int, int{std::size(split_designs)}>{});
  add_skinny_split(list, std::make_integer_sequence<int, int{std::size(skinny_split_designs)}>{});
  return list;
}

}  // namespace fathom::gemm::tf32
