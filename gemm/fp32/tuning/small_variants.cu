#include "gemm/tuning/small_variants.h"

#include "gemm/fp32/small_product.cuh"

namespace fathom::gemm::fp32 {
namespace {

template <class Tile>
void add(std::vector<Trial>& list, std::initializer_list<int> parts) {
  add_tile<Tile>(list,
                 std::to_string(Tile::m) + "x" + std::to_string(Tile::n) + "x" +
                     std::to_string(Tile::k) + " thread " + std::to_string(Tile::rows) + "x" +
                     std::to_string(Tile::columns) + " stages " + std::to_string(Tile::stages),
                 &launch_small<Tile>, &takes_small<Tile>, parts);
}

}  // namespace

std::vector<Trial> small_variants() {
  std::vector<Trial> list;
  for (const char* id : {"fp32/27_small_products", "fp32/26_sliced_depth", "fp32/22_planned_tiles"})
    list.push_back(trial_of(*find_rung(id)));
  add<Tiling<32, 64, 16, 4, 4, 2, 2, 4, 4, 4>>(list, {1, 2, 4, 8});
  add<Tiling<64, 64, 16, 8, 4, 2, 2, 4, 4, 3>>(list, {1, 2, 3, 4, 6});
  add<Tiling<128, 128, 16, 8, 8, 2, 4, 8, 3, 1>>(list, {1, 2, 3, 7});
  return list;
}

}  // namespace fathom::gemm::fp32
