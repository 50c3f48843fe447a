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
    {.cluster_n = 2, .late_reads = true, .stream_k = true},
    {.late_reads = true, .stream_k = true},
};
/// 16 rows in 1 x 8 warps.
constexpr Design rows_16(int stages) {
  return {.warps_m = 1,
          .warps_n = 8,
          .m_blocks = 1,
          .n_blocks = 2,
          .stages = stages,
          .band = 1,
          .stream_k = true};
}
constexpr Design rows_64{.warps_m = 2,
                         .warps_n = 4,
                         .m_blocks = 2,
                         .n_blocks = 4,
                         .stages = 8,
                         .band = 1,
                         .stream_k = true};
/// For products of few rows.
constexpr Design narrow[] = {
    rows_16(10), rows_16(5), rows_16(3), rows_64, {.cluster_n = 2, .band = 1, .stream_k = true}};

template <bool skinny, int Index>
struct Shape {
  static constexpr Design design = skinny ? narrow[Index] : designs[Index];
};

std::string name_of(const Design& d) {
  return std::to_string(d.m()) + "x" + std::to_string(d.n()) + " warps " +
         std::to_string(d.warps_m) + "x" + std::to_string(d.warps_n) + " stages " +
         std::to_string(d.stages) + " cluster " + std::to_string(d.cluster_n) + " band " +
         std::to_string(d.band) + (d.persistent ? "" : " transient") +
         (d.stream_k ? " stream-k" : "") + (d.late_reads ? " late-reads" : "");
}

/// Skinny products go to the shapes made for about their rows, others to the large ones.
template <bool skinny, int rows>
bool suits(const Problem& p) {
  if (!skinny) return p.m > 128;
  return p.m <= rows && (rows <= 16 || rows < 2 * p.m);
}

template <bool skinny, int... Indices>
void add(std::vector<Trial>& list, std::integer_sequence<int, Indices...>) {
  ((list.push_back({name_of(Shape<skinny, Indices>::design),
                    [](const Problem& p, int sms) {
                      return stream_bytes<Shape<skinny, Indices>::design>(sms) + copied_bytes(p);
                    },
                    &launch_shape<Shape<skinny, Indices>>}),
    list.back().suits = &suits<skinny, Shape<skinny, Indices>::design.m()>),
   ...);
}

}  // namespace

std::vector<Trial> variants() {
  std::vector<Trial> list;
  add<false>(list, std::make_integer_sequence<int, int{std::size(designs)}>{});
  add<true>(list, std::make_integer_sequence<int, int{std::size(narrow)}>{});
  return list;
}

}  // namespace fathom::gemm::fp64
