#include "gemm/tf32/tuning/variants.h"

#include "gemm/blocks/engine_shapes.cuh"
#include "gemm/fp32_3xtf32/split_rung.cuh"
#include "gemm/tf32/register_rung.cuh"
#include "gemm/tf32/types.h"

namespace fathom::gemm::tf32 {
namespace {

constexpr RegisterDesign tf32_designs[] = {
    {.columns = 256, .cluster_m = 2, .band = 8, .persistent = true, .serpentine = true},
    {.columns = 128,
     .stages = 6,
     .cluster_m = 2,
     .band = 8,
     .persistent = true,
     .serpentine = true},
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
    {.columns = 16,
     .stages = 11,
     .split_k = 2,
     .band = 1,
     .narrow_b = true,
     .three_products = true},
};
/// Both operands in shared memory, along k.
constexpr Design narrow_designs[] = {
    {.n = 16, .stages = 8, .split_k = 2, .band = 1},
    {.n = 16, .stages = 8, .split_k = 2, .band = 1, .narrow_b = true},
    {.n = 16, .stages = 12, .split_k = 2, .band = 1, .narrow_b = true},
    {.n = 16, .stages = 12, .split_k = 2, .band = 1, .narrow_b = true, .together = 2},
    {.n = 16, .stages = 12, .split_k = 2, .band = 1, .narrow_b = true, .together = 4},
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
         (d.together > 1 ? " together " + std::to_string(d.together) : "") +
         (d.a_in_registers ? " registers" : "");
}
std::string name_of(const RegisterDesign& d) { return name_of(d.ring(), d.columns); }

/// What the shapes of each kind have in common; `skinny`: made for products of few columns.
void add_one(std::vector<Trial>& list, bool skinny, Trial trial) {
  trial.suits = [=](const Problem& p) { return is_skinny(p) == skinny; };
  list.push_back(std::move(trial));
}

std::size_t across_bytes(const Problem& p, int) {
  return EngineOperands::copy_bytes(p, register_layout(a_first(p)));
}

template <bool skinny, template <int> class Shape, int... Indices>
void add_across(std::vector<Trial>& list, std::integer_sequence<int, Indices...>) {
  (add_one(list, skinny,
           {name_of(Shape<Indices>::design), &across_bytes, &launch_across<Shape<Indices>>}),
   ...);
}
template <int... Indices>
void add_narrow(std::vector<Trial>& list, std::integer_sequence<int, Indices...>) {
  (add_one(list, true,
           {name_of(narrow_designs[Indices], narrow_designs[Indices].n),
            [](const Problem& p, int) { return EngineOperands::copy_bytes(p, AlongK::majors); },
            &launch_shape<NarrowShape<Indices>, Types>}),
   ...);
}
template <bool skinny, template <int> class Shape, int... Indices>
void add_split(std::vector<Trial>& list, std::integer_sequence<int, Indices...>) {
  (add_one(list, skinny,
           {name_of(Shape<Indices>::design),
            [](const Problem& p, int) {
              return fp32_3xtf32::split_workspace_bytes(p, Shape<Indices>::design.columns);
            },
            &fp32_3xtf32::launch_split_shape<Shape<Indices>>}),
   ...);
}
template <class Design, std::size_t count>
constexpr auto indices_of(const Design (&)[count]) {
  return std::make_integer_sequence<int, int{count}>{};
}

}  // namespace

std::vector<Trial> variants(Class of) {
  std::vector<Trial> list;
  for (const Rung* rung : rungs_of(of)) {
    if (rung->contender) list.push_back(trial_of(*rung));
  }
  if (of == Class::tf32) {
    add_across<false, Tf32Shape>(list, indices_of(tf32_designs));
    add_across<true, SkinnyTf32Shape>(list, indices_of(skinny_tf32_designs));
    add_narrow(list, indices_of(narrow_designs));
  } else {
    add_split<false, SplitShape>(list, indices_of(split_designs));
    add_split<true, SkinnySplitShape>(list, indices_of(skinny_split_designs));
  }
  return list;
}

}  // namespace fathom::gemm::tf32
