#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "models/tile_quantisation.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "tools/predict/machine.h"
#include "tools/predict/predict_command.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;
using namespace models;

struct WaveArguments {
  std::uint64_t blocks = 0;          ///< of a grid; 0: a product
  std::vector<std::uint64_t> sizes;  ///< m, n, k of the product
  std::vector<std::uint64_t> tile{128, 128, 32}, cluster{1, 1};
  TiledProduct product{.sms = 0};  ///< with the SMs and blocks of a grid, too
  std::string cost;                ///< empty: "latency"
  double wave_time = 0;            ///< seconds
  MachineFlags machine;
};

int sms_of(const MachineFlags& flags) {
  const auto machine = machine_of(flags);
  if (!machine)
    throw Error(ExitCode::bad_input,
                "Waves depend on the number of SMs: give --sms, --gpu or --result.");
  return machine->sms();
}

/// Says it as text; as JSON it is a member of the answer.
Json say_waves(Prediction& said, std::uint64_t blocks, const Waves& w) {
  said.say("{} in waves of {}: {:.4g} waves, {} paid for\n", counted(blocks, "block"),
           format_count(double(w.wave_blocks)), w.waves, w.steps);
  if (w.tail_blocks == 0)
    said.say("  every wave is full\n");
  else
    said.say("  the last wave has {} of {} blocks\n", w.tail_blocks, w.wave_blocks);
  said.say("  {} where a wave takes its time however full it is\n", format_percent(w.efficiency));
  return {{"waves", w.waves},
          {"wave_blocks", w.wave_blocks},
          {"full_waves", w.full},
          {"tail_blocks", w.tail_blocks},
          {"waves_paid", w.steps},
          {"efficiency", w.efficiency},
          {"blocks_of_busiest_sm", w.blocks_of_busiest_sm}};
}

Prediction predict_grid(const WaveArguments& a) {
  const Grid grid{
      .blocks = a.blocks, .blocks_per_sm = a.product.blocks_per_sm, .sms = a.product.sms};
  Prediction said;
  const Json all_waves = say_waves(said, grid.blocks, waves(grid));
  said.json = {{"blocks", grid.blocks},
               {"blocks_per_sm", grid.blocks_per_sm},
               {"sms", grid.sms},
               {"waves", all_waves}};
  if (a.wave_time > 0) {
    const double seconds = expected_seconds(grid, a.wave_time, a.product.cost);
    said.json.update({{"cost", a.cost}, {"seconds", seconds}});
    said.say("  {} at {} a full wave, of blocks bound by {}\n", format_time(seconds),
             format_time(a.wave_time), a.cost);
  }
  return said;
}

Prediction predict_product(const WaveArguments& a) {
  TiledProduct p = a.product;
  p.m = a.sizes[0];
  p.n = a.sizes[1];
  p.k = a.sizes[2];
  p.tile_m = a.tile[0];
  p.tile_n = a.tile[1];
  p.tile_k = a.tile[2];
  p.cluster_m = a.cluster[0];
  p.cluster_n = a.cluster[1];
  const TileQuantisation q = tile_quantisation(p);
  const auto by = [](const auto& sizes) { return fmt::format("{}", fmt::join(sizes, " x ")); };
  Prediction said;
  said.say("{} in tiles of {}{}{}: {} x {} tiles, {} k steps each\n", by(a.sizes), by(a.tile),
           p.cluster_m * p.cluster_n > 1 ? ", clusters of " + by(a.cluster) : "",
           p.split_k > 1 ? fmt::format(", k split among {} blocks", p.split_k) : "", q.tiles_m,
           q.tiles_n, q.steps);
  const Json all_waves = say_waves(said, q.blocks, q.waves);
  said.say("Useful share of the work paid for: {}\n", format_percent(q.efficiency));
  said.say("  whole tiles    {:>8}\n", format_percent(q.padding_efficiency));
  said.say("  whole waves    {:>8}\n", format_percent(q.wave_efficiency));
  said.json = {{"m", p.m},
               {"n", p.n},
               {"k", p.k},
               {"tile", a.tile},
               {"cluster", a.cluster},
               {"split_k", p.split_k},
               {"blocks_per_sm", p.blocks_per_sm},
               {"sms", p.sms},
               {"cost", a.cost},
               {"prediction",
                {{"m", p.m},
                 {"tiles_m", q.tiles_m},
                 {"tiles_n", q.tiles_n},
                 {"blocks", q.blocks},
                 {"k_steps", q.steps},
                 {"waves", all_waves},
                 {"padding_efficiency", q.padding_efficiency},
                 {"wave_efficiency", q.wave_efficiency},
                 {"efficiency", q.efficiency},
                 {"relative_time", q.relative_time}}}};
  return said;
}

Prediction predict(const WaveArguments& given) {
  if (given.blocks == 0 && given.sizes.empty())
    throw Error(ExitCode::bad_input,
                "Nothing to predict: give a grid (--blocks N) or a matrix product (--gemm M N K).");
  if (given.blocks > 0 && given.wave_time == 0 && !given.cost.empty())
    throw Error(ExitCode::bad_input, "--cost decides about a grid's time: give --wave-time too.");
  WaveArguments a = given;
  if (a.product.sms == 0) a.product.sms = sms_of(a.machine);
  if (a.cost.empty()) a.cost = "latency";
  a.product.cost = a.cost == "latency" ? BlockCost::latency : BlockCost::throughput;
  return a.blocks > 0 ? predict_grid(a) : predict_product(a);
}

void add_flags(CLI::App& app, WaveArguments& a) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 40;
  auto* blocks = number_flag(app, "--blocks", a.blocks, "Blocks of a grid", 1, largest);
  auto* product =
      number_flag(app, "--gemm", a.sizes, "A matrix product of M x K by K x N", 1, largest, "M N K")
          ->expected(3)
          ->excludes(blocks);
  number_flag(app, "--tile", a.tile, "Its tile (default: 128 128 32)", 1, 1 << 20, "M N K")
      ->expected(3)
      ->needs(product);
  number_flag(app, "--cluster", a.cluster,
              "Tiles of a thread block cluster, beyond C too (default: 1 1)", 1, 16, "M N")
      ->expected(2)
      ->needs(product);
  number_flag(app, "--split-k", a.product.split_k, "Blocks that share one tile's k", 1, 1 << 20)
      ->needs(product);
  number_flag(app, "--blocks-per-sm", a.product.blocks_per_sm,
              "Resident blocks, see `fathom predict occupancy`", 1, 32);
  auto* sms = number_flag(app, "--sms", a.product.sms,
                          "SMs of the GPU, instead of --gpu or --result", 1, 1 << 16);
  add_machine_flags(app, a.machine);
  sms->excludes(app.get_option("--gpu"))->excludes(app.get_option("--result"));
  checked_flag(app, "--wave-time", a.wave_time,
               "Seconds that a full wave of --blocks takes: predicts the grid's", seconds(),
               "SECONDS")
      ->needs(blocks);
  word_flag(app, "--cost", a.cost,
            "How fast blocks are that share an SM: latency (each as alone, the default) or "
            "throughput (they share it)",
            {"latency", "throughput"}, "WORD");
  app.footer(
      "Examples:\n"
      "  fathom predict waves --blocks 396 --blocks-per-sm 2 --gpu H200\n"
      "  fathom predict waves --blocks 396 --sms 132 --wave-time 50e-6 --cost throughput\n"
      "  fathom predict waves --gemm 4096 4096 4096 --tile 128 256 64 --gpu H200\n"
      "  fathom predict waves --gemm 4112 4096 4096 --tile 128 256 64 --cluster 4 2 --gpu H200\n"
      "  fathom predict waves --gemm 1024 4096 4096 --sms 108\n");
}

}  // namespace

Command waves_prediction() {
  return prediction<WaveArguments>("waves",
                                   "What whole waves and whole tiles cost a grid or matrix product",
                                   add_flags, predict);
}

}  // namespace fathom
