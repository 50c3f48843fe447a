#include "gemm/tuning/small_variants.h"

#include "gemm/fp64/small_product.cuh"

namespace fathom::gemm::fp64 {
namespace {

template <class Tile>
void add(std::vector<Trial>& list, std::initializer_list<int> parts) {
  for (const int count : parts) {
    list.push_back(
        {std::to_string(Tile::m) + "x" + std::to_string(Tile::n) + " warps " +
             std::to_string(Tile::warp_m) + "x" + std::to_string(Tile::warp_n) + " stages " +
             std::to_string(Tile::stages) + " parts " + std::to_string(count),
         [](const Problem&, int) { return std::size_t{0}; },
         [=](const Arguments& a, const Workspace&, cudaStream_t s) {
           launch_small<Tile>(a, count, s);
         },
         &takes_small,
         [=](const Problem& p) { return occupies(p, Tile::m, Tile::n, Tile::k, count); }});
  }
}

}  // namespace

std::vector<Trial> small_variants() {
  std::vector<Trial> list;
  for (const char* id : {"fp64/09_small_products", "fp64/08_late_reads"})
    list.push_back(trial_of(*find_rung(id)));
  add<SmallTile<32, 32, 16, 16, 3, 3>>(list, {1, 2, 4});
  add<SmallTile<64, 32, 32, 16, 3, 2>>(list, {1, 2, 3, 4, 8});
  add<SmallTile<64, 64, 32, 32, 3, 1>>(list, {1, 2, 3});
  return list;
}

}  // namespace fathom::gemm::fp64
