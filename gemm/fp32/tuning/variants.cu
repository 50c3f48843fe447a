#include "gemm/fp32/tuning/variants.h"

#include "gemm/fp32/fed_launch.cuh"
#include "gemm/fp32/sliced_launch.cuh"

namespace fathom::gemm::fp32 {
namespace {

template <class Tile>
void add(std::vector<Variant>& list, Sharing sharing) {
  const auto by = [](int a, int b) { return std::to_string(a) + "x" + std::to_string(b); };
  const std::string name =
      "fed " + by(Tile::m, Tile::n) + " thread " + by(Tile::rows, Tile::columns) + " lanes " +
      by(Tile::lanes_m, Tile::lanes_n) + " A along " + (Tile::a_major == Major::k ? "k" : "m") +
      " body " + std::to_string(4 * Tile::words) + (Tile::by_columns ? " by columns" : "") +
      (sharing == Sharing::none ? "" : " shared");
  list.push_back(
      {name,
       [sharing](const Problem& p, int sms) { return fed_workspace_bytes<Tile>(p, sms, sharing); },
       [sharing](const Arguments& a, const Workspace& w, cudaStream_t s) {
         launch_fed<Tile>(a, w, sharing, s);
       },
       [](const Problem& p) { return p.m >= 64; }});
}

template <class Tile>
void add_sliced(std::vector<Variant>& list) {
  list.push_back({"sliced " + std::to_string(Tile::m) + "x" + std::to_string(Tile::n) + " warps " +
                      std::to_string(Tile::warps) + " k " + std::to_string(Tile::k) + " stages " +
                      std::to_string(Tile::stages),
                  [](const Problem& p, int) { return EngineOperands::copy_bytes(p, sliced_majors); },
                  [](const Arguments& a, const Workspace& w, cudaStream_t s) { launch_sliced<Tile>(a, w, s); },
                  [](const Problem& p) { return p.m <= Tile::n; }});
}

void add_rung(std::vector<Variant>& list, const char* id) {
  const Rung* const rung = find_rung(id);
  list.push_back({id, rung->workspace_bytes, rung->launch, rung->takes_own_path});
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> list;
  add_rung(list, "fp32/20_async_multistage");
  add_rung(list, "fp32/21_wide_thread_tile");
  add_rung(list, "fp32/22_planned_tiles");
  constexpr auto k = Major::k, m = Major::outer;
  constexpr auto none = Sharing::none, equal = Sharing::equal;
  add<FedTile<8, 16, 2, 4, 8, 4, k, 2>>(list, none);
  add<FedTile<8, 16, 2, 4, 8, 4, k, 2>>(list, equal);
  add<FedTile<8, 16, 2, 4, 8, 4, k, 1>>(list, equal);
  add<FedTile<8, 16, 4, 2, 8, 4, k, 2>>(list, equal);
  add<FedTile<8, 16, 2, 4, 8, 4, m, 2>>(list, equal);
  add<FedTile<8, 16, 2, 4, 8, 4, m, 1>>(list, equal);
  add<FedTile<16, 8, 2, 4, 4, 4, m, 1>>(list, equal);
  add<FedTile<16, 8, 4, 2, 4, 4, m, 1>>(list, equal);
  add<FedTile<16, 8, 4, 2, 4, 4, m, 2>>(list, equal);
  add<FedTile<16, 8, 4, 2, 4, 4, m, 2>>(list, none);
  add_sliced<SlicedTile<16, 8, 8, 4, 5>>(list);
  add_sliced<SlicedTile<16, 8, 16, 4, 5>>(list);
  add_sliced<SlicedTile<16, 8, 8, 2, 10>>(list);
  add_sliced<SlicedTile<16, 8, 16, 2, 10>>(list);
  add_sliced<SlicedTile<16, 16, 8, 2, 6>>(list);
  return list;
}

}  // namespace fathom::gemm::fp32
