#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "models/gpu_table.h"
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
  Grid grid{.blocks = 0, .blocks_per_sm = 1, .sms = 0};
  std::vector<std::uint64_t> sizes;  ///< m, n, k; empty: no product
  std::vector<std::uint64_t> tile{128, 128, 32}, cluster{1, 1};
  std::uint64_t split_k = 1;
  std::string cost;      ///< empty: "latency"
  double wave_time = 0;  ///< seconds
  MachineFlags machine;
};

int sms_of(const WaveArguments& arguments) {
  if (arguments.grid.sms > 0) return arguments.grid.sms;
  const auto machine = machine_of(arguments.machine);
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

Prediction predict_grid(const Grid& grid, BlockCost cost, const std::string& cost_name,
                        double wave_time) {
  Prediction said;
  const Json all_waves = say_waves(said, grid.blocks, waves(grid));
  said.json = {{"blocks", grid.blocks},
               {"blocks_per_sm", grid.blocks_per_sm},
               {"sms", grid.sms},
               {"waves", all_waves}};
  if (wave_time > 0) {
    const double seconds = expected_seconds(grid, wave_time, cost);
    said.json.update({{"cost", cost_name}, {"seconds", seconds}});
    said.say("  {} at {} a full wave, of blocks bound by {}\n", format_time(seconds),
             format_time(wave_time), cost_name);
  }
  return said;
}

Prediction predict_product(const WaveArguments& arguments, const TiledProduct& p,
                           const std::string& cost_name) {
  const TileQuantisation q = tile_quantisation(p);
  const auto by = [](const auto& sizes) { return fmt::format("{}", fmt::join(sizes, " x ")); };
  Prediction said;
  said.say("{} in tiles of {}{}{}: {} x {} tiles, {} k steps each\n", by(arguments.sizes),
           by(arguments.tile),
           p.cluster_m * p.cluster_n > 1 ? ", clusters of " + by(arguments.cluster) : "",
           p.split_k > 1 ? fmt::format(", k split among {} blocks", p.split_k) : "", q.tiles_m,
           q.tiles_n, q.steps);
  const Json all_waves = say_waves(said, q.blocks, q.waves);
  said.say("Useful share of the work paid for: {}\n", format_percent(q.efficiency));
  said.say("  whole tiles    {:>8}\n", format_percent(q.padding_efficiency));
  said.say("  whole waves    {:>8}\n", format_percent(q.wave_efficiency));
  said.json = {{"m", p.m},
               {"n", p.n},
               {"k", p.k},
               {"tile", arguments.tile},
               {"cluster", arguments.cluster},
               {"split_k", p.split_k},
               {"blocks_per_sm", p.blocks_per_sm},
               {"sms", p.sms},
               {"cost", cost_name},
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

Prediction predict(const WaveArguments& arguments) {
  Grid grid = arguments.grid;
  if (grid.blocks == 0 && arguments.sizes.empty())
    throw Error(ExitCode::bad_input,
                "Nothing to predict: give a grid (--blocks N) or a matrix product (--gemm M N K).");
  if (grid.blocks > 0 && arguments.wave_time == 0 && !arguments.cost.empty())
    throw Error(ExitCode::bad_input, "--cost decides about a grid's time: give --wave-time too.");
  grid.sms = sms_of(arguments);
  const std::string cost_name = arguments.cost.empty() ? "latency" : arguments.cost;
  const BlockCost cost = cost_name == "latency" ? BlockCost::latency : BlockCost::throughput;
  if (grid.blocks > 0) return predict_grid(grid, cost, cost_name, arguments.wave_time);
  return predict_product(arguments,
                         {.m = arguments.sizes[0],
                          .n = arguments.sizes[1],
                          .k = arguments.sizes[2],
                          .tile_m = arguments.tile[0],
                          .tile_n = arguments.tile[1],
                          .tile_k = arguments.tile[2],
                          .split_k = arguments.split_k,
                          .cluster_m = arguments.cluster[0],
                          .cluster_n = arguments.cluster[1],
                          .blocks_per_sm = grid.blocks_per_sm,
                          .sms = grid.sms,
                          .cost = cost},
                         cost_name);
}

void add_flags(CLI::App& app, WaveArguments& arguments) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 40;
  auto* blocks =
      number_flag(app, "--blocks", arguments.grid.blocks, "Blocks of a grid", 1, largest);
  auto* product = number_flag(app, "--gemm", arguments.sizes, "A matrix product of M x K by K x N",
                              1, largest, "M N K")
                      ->expected(3)
                      ->excludes(blocks);
  number_flag(app, "--tile", arguments.tile, "Its tile (default: 128 128 32)", 1, 1 << 20, "M N K")
      ->expected(3)
      ->needs(product);
  number_flag(app, "--cluster", arguments.cluster,
              "Tiles of a thread block cluster, beyond C too (default: 1 1)", 1, 16, "M N")
      ->expected(2)
      ->needs(product);
  number_flag(app, "--split-k", arguments.split_k, "Blocks that share one tile's k", 1, 1 << 20)
      ->needs(product);
  number_flag(app, "--blocks-per-sm", arguments.grid.blocks_per_sm,
              "Resident blocks, see `fathom predict occupancy`", 1, 32);
  auto* sms = number_flag(app, "--sms", arguments.grid.sms,
                          "SMs of the GPU, instead of --gpu or --result", 1, 1 << 16);
  add_machine_flags(app, arguments.machine);
  sms->excludes(app.get_option("--gpu"))->excludes(app.get_option("--result"));
  checked_flag(app, "--wave-time", arguments.wave_time,
               "Seconds that a full wave of --blocks takes: predicts the grid's", seconds(),
               "SECONDS")
      ->needs(blocks);
  word_flag(app, "--cost", arguments.cost,
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
