#include "gemm/fp64/tuning/variants.h"

#include <iterator>
#include <utility>

#include "gemm/fp64/engine_launch.cuh"

namespace fathom::gemm::fp64 {
namespace {

/// A shape by its index: kernels are named by types.
constexpr Design designs[] = {
    {.cluster_n = 2, .stream_k = true},
    {.cluster_n = 2},
    {.stream_k = true},
    {.stages = 4, .cluster_n = 2, .stream_k = true},
};
constexpr Design narrow[] = {
    {.warps_m = 1,
     .warps_n = 8,
     .m_blocks = 1,
     .n_blocks = 2,
     .stages = 10,
     .band = 1,
     .stream_k = true},
    {.warps_m = 1,
     .warps_n = 8,
     .m_blocks = 1,
     .n_blocks = 2,
     .stages = 5,
     .band = 1,
     .stream_k = true},
    {.warps_m = 1,
     .warps_n = 8,
     .m_blocks = 1,
     .n_blocks = 2,
     .stages = 3,
     .band = 1,
     .stream_k = true},
    {.warps_m = 2,
     .warps_n = 4,
     .m_blocks = 2,
     .n_blocks = 4,
     .stages = 8,
     .band = 1,
     .stream_k = true},
    {.cluster_n = 2, .band = 1, .stream_k = true},
};

template <bool skinny, int Index>
struct Shape {
  static constexpr Design design = skinny ? narrow[Index] : designs[Index];
};

std::string name_of(const Design& d) {
  return std::to_string(d.m()) + "x" + std::to_string(d.n()) + " warps " +
         std::to_string(d.warps_m) + "x" + std::to_string(d.warps_n) + " stages " +
         std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_n) + " band " +
         std::to_string(d.band) + (d.persistent ? "" : " transient") +
         (d.stream_k ? " stream-k" : "") + "";
}

template <bool skinny, int... Indices>
void add(std::vector<Variant>& list, std::integer_sequence<int, Indices...>) {
  (list.push_back({name_of(Shape<skinny, Indices>::design),
                   skinny ? Shape<skinny, Indices>::design.m() : 0,
                   [](const Problem& p, int sms) {
                     return stream_bytes<Shape<skinny, Indices>::design>(sms) + copied_bytes(p);
                   },
                   &launch_shape<Shape<skinny, Indices>>}),
   ...);
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> list;
  add<false>(list, std::make_integer_sequence<int, int{std::size(designs)}>{});
  add<true>(list, std::make_integer_sequence<int, int{std::size(narrow)}>{});
  return list;
}

}  // namespace fathom::gemm::fp64
