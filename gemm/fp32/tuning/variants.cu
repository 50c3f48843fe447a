#include "gemm/fp32/tuning/variants.h"

#include "gemm/fp32/fed_launch.cuh"
#include "gemm/fp32/sliced_launch.cuh"

namespace fathom::gemm::fp32 {
namespace {

template <class Feeder>
constexpr const char* way_of = "";
template <>
constexpr const char* way_of<EngineFeeder> = " by engine";
template <>
constexpr const char* way_of<ThreadFeeder> = " by threads";
template <>
constexpr const char* way_of<TransposingFeeder<true, false>> = " transposing A";
template <>
constexpr const char* way_of<TransposingFeeder<false, true>> = " transposing B";
template <>
constexpr const char* way_of<TransposingFeeder<true, true>> = " transposing both";

/// A tile of 128 x 256, 8 x 16 elements a thread or 16 x 8.
template <int TM, int Body, bool AskEarly, class Feeder, int Stages = 4>
void add(std::vector<Trial>& list, Sharing sharing) {
  using Tile = FedTile<TM, 128 / TM, 2, 4, TM == 8 ? 8 : 4, Stages, Body, Feeder::pad_a, Feeder::pad_b, AskEarly>;
  static_assert(Tile::m == 128 && Tile::n == 256);
  const std::string name = "fed thread " + std::to_string(Tile::rows) + "x" +
                           std::to_string(Tile::columns) + " body " + std::to_string(Body) +
                           (AskEarly ? " early" : "") + (Stages == 4 ? "" : " stages " + std::to_string(Stages)) +
                           way_of<Feeder> + (sharing == Sharing::none ? "" : " shared");
  const FedChoice choice = fed_choice<Tile, Feeder>();
  list.push_back(
      {name, [=](const Problem& p, int sms) { return choice.workspace_bytes(p, sms, sharing); },
       [=](const Arguments& a, const Workspace& w, cudaStream_t s) {
         choice.launch(a, w, sharing, s);
       },
       choice.takes});
}

template <class Tile>
void add_sliced(std::vector<Trial>& list) {
  list.push_back(
      {"sliced " + std::to_string(Tile::m) + "x" + std::to_string(Tile::n) + " warps " +
           std::to_string(Tile::warps) + " k " + std::to_string(Tile::k) + " stages " +
           std::to_string(Tile::stages),
       [](const Problem& p, int) { return EngineOperands::copy_bytes(p, sliced_majors); },
       [](const Arguments& a, const Workspace& w, cudaStream_t s) { launch_sliced<Tile>(a, w, s); },
       [](const Problem& p) { return p.m <= Tile::n; }});
}

void add_rung(std::vector<Trial>& list, const char* id) {
  const Rung& rung = *find_rung(id);
  list.push_back(trial_of(rung));
  list.back().takes = rung.takes_own_path;
}

}  // namespace

std::vector<Trial> variants() {
  std::vector<Trial> list;
  add_rung(list, "fp32/20_async_multistage");
  add_rung(list, "fp32/21_wide_thread_tile");
  add_rung(list, "fp32/22_planned_tiles");
  constexpr auto none = Sharing::none, equal = Sharing::equal;
  add<8, 8, false, EngineFeeder>(list, equal);
  add<8, 16, false, EngineFeeder>(list, none);
  add<8, 16, false, EngineFeeder>(list, equal);
  add<16, 8, true, EngineFeeder>(list, equal);
  add<16, 16, true, EngineFeeder>(list, equal);
  add<16, 16, false, EngineFeeder>(list, equal);
  add<8, 8, false, ThreadFeeder>(list, equal);
  add<16, 16, true, ThreadFeeder>(list, equal);
  // Operands along k: of NN and TT the tile lies so that it is A, its shorter side, or B.
  using TransposingA = TransposingFeeder<true, false>;
  using TransposingB = TransposingFeeder<false, true>;
  using TransposingBoth = TransposingFeeder<true, true>;
  add<16, 8, true, TransposingA>(list, none);
  add<16, 8, true, TransposingA>(list, equal);
  add<16, 16, true, TransposingA>(list, equal);
  add<16, 8, true, TransposingB>(list, none);
  add<16, 8, true, TransposingB>(list, equal);
  add<16, 16, true, TransposingB>(list, equal);
  add<16, 8, true, TransposingB, 3>(list, equal);
  add<16, 8, true, TransposingBoth, 3>(list, equal);
  add_sliced<SlicedTile<16, 8, 8, 4, 5>>(list);
  return list;
}

}  // namespace fathom::gemm::fp32
