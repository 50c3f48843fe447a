// `fathom predict occupancy` and `fathom predict waves`: how many blocks of a launch run at once.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <tuple>

#include "models/occupancy.h"
#include "models/tile_quantisation.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

struct OccupancyArguments {
  std::vector<std::string> architectures;
  KernelResources kernel;
};

std::string name_of(const SmLimits& sm) { return fmt::format("sm_{}{}", sm.major, sm.minor); }

/// "sm_90", "sm_90a", "90" and "9.0" alike.
const SmLimits& architecture(const std::string& text) {
  std::vector<std::string> known;
  for (const SmLimits& sm : all_sm_limits()) {
    const std::string name = known.emplace_back(name_of(sm)), digits = name.substr(3);
    for (const auto& spelling : {name, name + "a", name + "f", digits, digits + "a",
                                 fmt::format("{}.{}", sm.major, sm.minor)})
      if (text == spelling) return sm;
  }
  fail(ExitCode::bad_input, "There is no architecture `{}`, only {}.{}", text,
       fmt::join(known, ", "), did_you_mean(text, known));
}

/// Says it of one architecture as text; as JSON it is a member of the answer.
Json say_occupancy(Prediction& said, const SmLimits& sm, const KernelResources& kernel) {
  const Occupancy o = occupancy(sm, kernel);
  const auto steps = next_occupancy_steps(sm, kernel);
  const auto limit = [](int blocks) { return blocks == INT_MAX ? Json(nullptr) : Json(blocks); };
  const auto words = [](const Json& blocks) {
    return blocks.is_null() ? "no limit" : blocks.dump();
  };
  const Json by_registers = limit(o.blocks_by_registers), by_shared = limit(o.blocks_by_shared);
  said.say("{:<7} {}\n", name_of(sm), o.sentence);
  said.say(
      "        blocks that fit by warps {}, by registers {}, by shared memory {}, by slots {}\n",
      o.blocks_by_warps, words(by_registers), words(by_shared), o.blocks_by_blocks);
  said.say("        a block is allocated {} registers and {} bytes of shared memory\n",
           o.registers_per_block, o.shared_per_block);
  Json next = Json::array();
  for (const auto& step : steps) {
    said.say("        next step: {}\n", step.sentence);
    next.push_back({{"resource", step.resource},
                    {"now", step.now},
                    {"needed", step.needed},
                    {"blocks", step.then.blocks},
                    {"warps", step.then.warps},
                    {"occupancy", step.then.fraction},
                    {"sentence", step.sentence}});
  }
  if (steps.empty() && o.warps < sm.warps)
    said.say("        next step: none by one resource alone\n");
  return {{"architecture", name_of(sm)},
          {"blocks_per_sm", o.blocks},
          {"warps_per_sm", o.warps},
          {"max_warps_per_sm", sm.warps},
          {"occupancy", o.fraction},
          {"limiter", name(o.limiter)},
          {"blocks_by",
           {{"warps", o.blocks_by_warps},
            {"registers", by_registers},
            {"shared_memory", by_shared},
            {"blocks", o.blocks_by_blocks}}},
          {"registers_per_block", o.registers_per_block},
          {"shared_bytes_per_block", o.shared_per_block},
          {"sentence", o.sentence},
          {"next_steps", std::move(next)}};
}

Prediction predict(OccupancyArguments arguments) {
  const KernelResources& k = arguments.kernel;
  std::vector<SmLimits> chosen;
  for (const auto& text : arguments.architectures) chosen.push_back(architecture(text));
  if (chosen.empty()) chosen.assign(all_sm_limits().begin(), all_sm_limits().end());
  Prediction said;
  Json list = Json::array();
  for (const SmLimits& sm : chosen) list.push_back(say_occupancy(said, sm, k));
  said.json = {
      {"threads_per_block", k.threads_per_block},
      {"registers_per_thread", k.registers_per_thread},
      {"static_shared_bytes", k.static_shared_bytes},
      {"dynamic_shared_bytes", k.dynamic_shared_bytes},
      {"carveout_percent", k.carveout_percent < 0 ? Json(nullptr) : Json(k.carveout_percent)},
      {"architectures", std::move(list)}};
  return said;
}

void add_flags(CLI::App& app, OccupancyArguments& arguments) {
  KernelResources& kernel = arguments.kernel;
  app.add_option("--arch", arguments.architectures,
                 "Compute capability: sm_90, 90 or 9.0; may be given several times (default: all)")
      ->type_name("ARCH");
  number_flag(app, "--threads", kernel.threads_per_block, "Threads a block", 1, 1 << 20)
      ->required();
  number_flag(app, "--registers", kernel.registers_per_thread,
              "Registers a thread, as `nvcc -Xptxas -v` says", 0, 1 << 16)
      ->required();
  number_flag(app, "--shared", kernel.dynamic_shared_bytes, "Dynamic shared memory a block", 0,
              1 << 30, "BYTES")
      ->capture_default_str();
  number_flag(app, "--static-shared", kernel.static_shared_bytes,
              "Static shared memory a block, at most 49152", 0, 48 * 1024, "BYTES")
      ->capture_default_str();
  number_flag(app, "--carveout", kernel.carveout_percent,
              "Preferred share of shared memory, 0 to 100 % (default: the driver's choice)", 0, 100,
              "PERCENT");
  app.footer(
      "Examples:\n"
      "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
      "  fathom predict occupancy --threads 128 --registers 40 --shared 65536 --json\n");
}

// --- waves ---------------------------------------------------------------------------------------

struct WaveArguments {
  std::uint64_t blocks = 0;          ///< of a grid; 0: a product
  std::vector<std::uint64_t> sizes;  ///< m, n, k of the product
  std::vector<std::uint64_t> tile{128, 128, 32}, cluster{1, 1};
  TiledProduct product{.sms = 0};  ///< with the SMs and blocks of a grid, too
  std::string cost;                ///< empty: "latency"
  double wave_time = 0;            ///< seconds
  MachineFlags machine;
};

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
  said.json = {{"blocks", grid.blocks},
               {"blocks_per_sm", grid.blocks_per_sm},
               {"sms", grid.sms},
               {"waves", say_waves(said, grid.blocks, waves(grid))}};
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
  std::tie(p.m, p.n, p.k) = std::tuple(a.sizes[0], a.sizes[1], a.sizes[2]);
  std::tie(p.tile_m, p.tile_n, p.tile_k) = std::tuple(a.tile[0], a.tile[1], a.tile[2]);
  std::tie(p.cluster_m, p.cluster_n) = std::tuple(a.cluster[0], a.cluster[1]);
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

Prediction predict(WaveArguments a) {
  if (a.blocks == 0 && a.sizes.empty())
    throw Error(ExitCode::bad_input,
                "Nothing to predict: give a grid (--blocks N) or a matrix product (--gemm M N K).");
  if (a.blocks > 0 && a.wave_time == 0 && !a.cost.empty())
    throw Error(ExitCode::bad_input, "--cost decides about a grid's time: give --wave-time too.");
  if (a.product.sms == 0) {
    const auto machine = machine_of(a.machine);
    if (!machine)
      throw Error(ExitCode::bad_input,
                  "Waves depend on the number of SMs: give --sms, --gpu or --result.");
    a.product.sms = machine->sms();
  }
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

Command occupancy_prediction() {
  return prediction<OccupancyArguments>(
      "occupancy", "Resident blocks and warps of a kernel, and what limits them", add_flags,
      predict);
}

Command waves_prediction() {
  return prediction<WaveArguments>("waves",
                                   "What whole waves and whole tiles cost a grid or matrix product",
                                   add_flags, predict);
}

}  // namespace fathom
