#include "gemm/fp32/tuning/variants.h"

#include "gemm/fp32/fed_launch.cuh"
#include "gemm/fp32/sliced_launch.cuh"

namespace fathom::gemm::fp32 {
namespace {

/// 8 x 16 elements a thread, in a tile of 64 WarpsM x 64 WarpsN.
template <int WarpsM, int WarpsN, int Body, class Feeder>
void add(std::vector<Variant>& list, Sharing sharing) {
  using Tile = FedTile<8, 16, WarpsM, WarpsN, 8, 4, Body, Feeder::pad>;
  const std::string name = "fed " + std::to_string(Tile::m) + "x" + std::to_string(Tile::n) + " body " +
                           std::to_string(Body) +
                           (std::is_same_v<Feeder, ThreadFeeder> ? " by threads" : " by engine") +
                           (sharing == Sharing::none ? "" : " shared");
  const FedChoice choice = fed_choice<Tile, Feeder>();
  list.push_back({name,
                  [=](const Problem& p, int sms) { return choice.workspace_bytes(p, sms, sharing); },
                  [=](const Arguments& a, const Workspace& w, cudaStream_t s) { choice.launch(a, w, sharing, s); },
                  choice.takes_sizes});
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
  constexpr auto none = Sharing::none, equal = Sharing::equal;
  add<2, 4, 4, EngineFeeder>(list, none);
  add<2, 4, 4, EngineFeeder>(list, equal);
  add<2, 4, 8, EngineFeeder>(list, none);
  add<2, 4, 8, EngineFeeder>(list, equal);
  add<2, 4, 4, ThreadFeeder>(list, equal);
  add<2, 4, 8, ThreadFeeder>(list, none);
  add<2, 4, 8, ThreadFeeder>(list, equal);
  add<4, 2, 4, ThreadFeeder>(list, equal);
  add<4, 2, 8, ThreadFeeder>(list, equal);
  add_sliced<SlicedTile<16, 8, 8, 4, 5>>(list);
  return list;
}

}  // namespace fathom::gemm::fp32
