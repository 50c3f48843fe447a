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
constexpr Design early = with(wide, [](Design& d) { d.early = d.serpentine = true; });
constexpr Design deferred = with(early, [](Design& d) { d.deferred_stores = true; });
/// Of 192 columns: 3072 cubed is 384 tiles, 2.9 waves.
constexpr Design wide192 = with(early, [](Design& d) {
  d.n = 192;
  d.half_b = true;
});
constexpr Design deferred192 = with(wide192, [](Design& d) { d.deferred_stores = true; });
constexpr Design designs[] = {
    wide,
    large(early, 4, 2, 4),
    deferred,
    large(deferred, 4, 2, 4),
    large(with(deferred, [](Design& d) { d.kept_a = 0.4f; }), 4, 2, 4),
    wide192,
    deferred192,
    large(deferred192, 2, 2, 4),
    large(deferred192, 2, 2, 8),
    large(with(deferred192, [](Design& d) { d.kept_a = 0.4f; }), 2, 2, 4),
};
constexpr Design fp8_designs[] = {
    large(early, 4, 2, 4),
    large(deferred, 4, 2, 4),
    large(with(deferred, [](Design& d) { d.kept_a = 0.4f; }), 4, 2, 4),
    large(with(early, [](Design& d) { d.promoted = true; }), 4, 2, 4),
    wide192,
    deferred192,
    large(deferred192, 2, 2, 4),
    large(deferred192, 2, 2, 8),
    large(with(deferred192, [](Design& d) { d.kept_a = 0.4f; }), 2, 2, 4),
};
/// Of 128 columns, which cross from the L2 once for four blocks below each other, each of them with
/// half of k: a quarter of what the large operand is, where two blocks have as much as that.
constexpr Design shared_by_four{.n = 128,
                                .stages = 6,
                                .cluster_m = 4,
                                .split_k = 2,
                                .band = 1,
                                .early = true,
                                .half_b = true,
                                .leaves_rest = true};
/// Runs of so many times 128 bytes of each row.
constexpr Design together(Design d, int stages) {
  d.together = stages;
  return d;
}
/// Half of 128 columns, beside the block with the other half, and the whole of k: no sums to add. The
/// large operand's tile crosses from the L2 once for both.
constexpr Design beside_each_other{
    .n = 64, .stages = 8, .cluster_n = 2, .band = 1, .early = true};
constexpr Design skinny16{.n = 16, .stages = 8, .split_k = 2, .band = 1, .early = true};
constexpr Design brief(Design d) {
  d.brief = true;
  return d;
}
constexpr Design nine_stages(Design d) {
  d.stages = 9;
  return d;
}
constexpr Design skinny_designs[] = {
    {.n = 16, .stages = 8, .split_k = 2, .band = 1},
    {.n = 16, .stages = 8, .split_k = 2, .band = 1, .early = true},
    {.n = 128, .stages = 6, .split_k = 2, .band = 1, .early = true},
    together({.n = 16, .stages = 8, .split_k = 2, .band = 1, .early = true}, 2),
    together({.n = 16, .stages = 8, .split_k = 2, .band = 1, .early = true}, 4),
    together({.n = 128, .stages = 6, .split_k = 2, .band = 1, .early = true}, 2),
    together({.n = 128, .stages = 6, .split_k = 2, .band = 1, .early = true}, 3),
    {.n = 64, .stages = 8, .cluster_m = 1, .split_k = 2, .band = 1, .early = true},
    shared_by_four,
    beside_each_other,
    nine_stages(beside_each_other),
    nine_stages(brief(beside_each_other)),
    brief(skinny16),
    nine_stages(brief(skinny16)),
};
constexpr Design fp8_skinny_designs[] = {
    {.n = 16, .stages = 8, .split_k = 2, .band = 1, .early = true},
    {.n = 128, .stages = 6, .split_k = 2, .band = 1, .early = true},
    together({.n = 128, .stages = 6, .split_k = 2, .band = 1, .early = true}, 2),
    shared_by_four,
    beside_each_other,
    nine_stages(brief(beside_each_other)),
    brief(skinny16),
    nine_stages(brief(skinny16)),
};

enum class List { square, skinny, fp8, fp8_skinny };
constexpr bool is_fp8(List list) { return list == List::fp8 || list == List::fp8_skinny; }
constexpr bool is_skinny(List list) { return list == List::skinny || list == List::fp8_skinny; }

template <List list, int Index>
struct Shape {
  static constexpr Design design = list == List::square   ? designs[Index]
                                   : list == List::skinny ? skinny_designs[Index]
                                   : list == List::fp8    ? fp8_designs[Index]
                                                          : fp8_skinny_designs[Index];
  static constexpr MajorsTaken majors = is_fp8(list) ? AlongK::majors : plain_layout;
};

std::string name_of(const Design& d) {
  std::string name = std::to_string(d.m()) + "x" + std::to_string(d.n) + " stages " +
                     std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_m) + "x" +
                     std::to_string(d.cluster_n) + " band " + std::to_string(d.band);
  if (d.half_b) name += " halves";
  if (d.together > 1) name += " together " + std::to_string(d.together);
  if (d.split_k > 1) name += " split " + std::to_string(d.split_k);
  if (d.leaves_rest) name += " and rest";
  if (d.serpentine) name += " serpentine";
  if (d.deferred_stores) name += " deferred";
  if (d.early) name += " early";
  if (d.brief) name += " brief";
  if (d.kept_a > 0) name += " keeping A " + std::to_string(d.kept_a).substr(0, 4);
  if (d.promoted) name += " promoted";
  return name;
}

template <List list, int Index>
void add_shape(std::vector<Trial>& to, bool promoted) {
  using T = std::conditional_t<is_fp8(list), fp8::Types, Types<__nv_bfloat16>>;
  using S = Shape<list, Index>;
  if (S::design.promoted != promoted) return;
  to.push_back({name_of(S::design),
                [](const Problem& p, int) { return EngineOperands::copy_bytes(p, S::majors); },
                &launch_shape<S, T>});
  to.back().suits = [](const Problem& p) { return is_skinny(p) == is_skinny(list); };
  to.back().promoted = promoted;
}

template <List list, int... Indices>
void add(std::vector<Trial>& to, bool promoted, std::integer_sequence<int, Indices...>) {
  (add_shape<list, Indices>(to, promoted), ...);
}

}  // namespace

std::vector<Trial> variants(Class of, bool promoted) {
  std::vector<Trial> all;
  if (of == Class::fp8) {
    add<List::fp8>(all, promoted, std::make_integer_sequence<int, int{std::size(fp8_designs)}>{});
    add<List::fp8_skinny>(all, promoted,
                          std::make_integer_sequence<int, int{std::size(fp8_skinny_designs)}>{});
  } else {
    add<List::square>(all, promoted, std::make_integer_sequence<int, int{std::size(designs)}>{});
    add<List::skinny>(all, promoted,
                      std::make_integer_sequence<int, int{std::size(skinny_designs)}>{});
  }
  return all;
}

}  // namespace fathom::gemm::half
