#include "gemm/tuning/small_variants.h"

#include "gemm/fp64/small_product.cuh"

namespace fathom::gemm::fp64 {
namespace {

template <class Tile>
void add(std::vector<Trial>& list, std::initializer_list<int> parts) {
  add_tile<Tile>(list, name_by_warps<Tile>(), &launch_small<Tile>, &takes_small, parts);
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
