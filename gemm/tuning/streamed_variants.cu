#include "gemm/tuning/streamed_variants.h"

#include <iterator>
#include <utility>

#include "gemm/blocks/streamed_launch.cuh"
#include "gemm/fp64/types.h"
#include "gemm/half/types.h"
#include "gemm/tf32/types.h"

namespace fathom::gemm {
namespace {

/// Slabs of 4 KiB in runs of 2 KiB, and the ring that one block an SM has room for.
constexpr StreamedDesign deep(int cluster, int most_rows, int stages) {
  return {.stages = stages, .cluster = cluster, .most_rows = most_rows};
}
/// In runs of 1 KiB: half of an SM, so that the next launch starts on the other.
constexpr StreamedDesign half_an_sm(int cluster, int most_rows, int stages) {
  return {.warp_bytes = 128,
          .slab_stages = 4,
          .stages = stages,
          .cluster = cluster,
          .most_rows = most_rows,
          .early = true};
}
constexpr StreamedDesign with(StreamedDesign d, auto change) {
  change(d);
  return d;
}
constexpr StreamedDesign prefetching(StreamedDesign d) {
  return with(d, [](StreamedDesign& x) { x.prefetches = true; });
}
/// Two blocks of one launch on an SM instead.
constexpr StreamedDesign in_pairs(StreamedDesign d) {
  return with(d, [](StreamedDesign& x) {
    x.early = false;
    x.blocks = 2;
  });
}
constexpr StreamedDesign leaving(StreamedDesign d) {
  return with(d, [](StreamedDesign& x) { x.evict_first = true; });
}

// Rows of 8192 elements are 16 KiB in 16 bits, four slabs of 4 KiB, 32 KiB in tf32, 64 KiB in fp64.
constexpr StreamedDesign half_designs[] = {
    half_an_sm(4, 288, 5),
    prefetching(half_an_sm(4, 288, 5)),
    leaving(prefetching(half_an_sm(4, 288, 5))),
    in_pairs(half_an_sm(4, 144, 5)),
    deep(4, 288, 5),
    leaving(deep(4, 288, 5)),
    deep(2, 144, 5),
};
constexpr StreamedDesign tf32_designs[] = {
    half_an_sm(8, 576, 4),
    prefetching(half_an_sm(4, 288, 5)),
    prefetching(half_an_sm(8, 576, 4)),
    in_pairs(half_an_sm(8, 288, 5)),
    deep(8, 592, 4),
    deep(4, 288, 5),
    leaving(deep(4, 288, 5)),
};
constexpr StreamedDesign fp64_designs[] = {
    deep(8, 592, 3),
    deep(4, 288, 4),
    leaving(deep(4, 288, 4)),
};

/// A shape by its index: kernels are named by types.
template <Class of, int Index>
struct Shape {
  static constexpr StreamedDesign design = of == Class::bf16   ? half_designs[Index]
                                           : of == Class::tf32 ? tf32_designs[Index]
                                                               : fp64_designs[Index];
};

std::string name_of(const StreamedDesign& d) {
  return "streamed runs " + std::to_string(d.run_bytes()) + " slab " +
         std::to_string(d.slab_bytes()) + " stages " + std::to_string(d.stages) + " cluster " +
         std::to_string(d.cluster) + " blocks " + std::to_string(d.blocks) +
         (d.early ? " early" : "") + (d.prefetches ? " prefetching" : "") +
         (d.evict_first ? " leaving" : "");
}

template <Class of, class Types, Major... b, int... Indices>
std::vector<Trial> trials(std::integer_sequence<int, Indices...>) {
  return {{name_of(Shape<of, Indices>::design), [](const Problem&, int) { return std::size_t{0}; },
           &launch_streamed<Shape<of, Indices>, Types, b...>, &takes_streamed<Types>}...};
}

template <std::size_t Count>
constexpr auto indices(const StreamedDesign (&)[Count]) {
  return std::make_integer_sequence<int, int{Count}>{};
}

std::vector<Trial> streamed_trials(Class of) {
  switch (of) {
    case Class::fp16:
      return trials<Class::bf16, half::Types<__half>, Major::k, Major::outer>(
          indices(half_designs));
    case Class::bf16:
      return trials<Class::bf16, half::Types<__nv_bfloat16>, Major::k, Major::outer>(
          indices(half_designs));
    case Class::tf32:
      return trials<Class::tf32, tf32::Types, Major::k, Major::outer>(indices(tf32_designs));
    case Class::fp64:
      return trials<Class::fp64, fp64::Types, Major::k, Major::outer>(indices(fp64_designs));
    default:
      return {};
  }
}

}  // namespace

std::vector<Trial> streamed_variants(Class of, bool promoted) {
  std::vector<Trial> list = streamed_trials(of);
  const Rung* top = nullptr;
  for (const Rung* rung : rungs_of(of)) {
    if (rung->contender && rung->promoted == promoted) top = rung;
  }
  if (top != nullptr) list.push_back(trial_of(*top));
  return list;
}

}  // namespace fathom::gemm
