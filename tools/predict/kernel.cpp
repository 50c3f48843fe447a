// `fathom predict occupancy` and `waves`, how many blocks of a launch run at once, `roofline`, what
// bounds them, and `swizzle`, the layout of their tiles in shared memory.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <regex>
#include <tuple>
#include <vector>

#include "models/formatted.h"
#include "models/occupancy.h"
#include "models/roofline.h"
#include "models/swizzle.h"
#include "models/waves.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {

FATHOM_FIELDS(models::Occupancy, "", "", blocks, warps, fraction, blocks_by_warps,
              blocks_by_registers, blocks_by_shared, blocks_by_blocks, registers_per_block,
              shared_per_block, sentence);
FATHOM_FIELDS(models::OccupancyStep, "", "", resource, now, needed, then, sentence);
FATHOM_FIELDS(models::Waves, "", "", waves, wave_blocks, full, tail_blocks, steps, efficiency,
              blocks_of_busiest_sm);
FATHOM_FIELDS(models::TileQuantisation, "", "", tiles_m, tiles_n, blocks, steps, waves,
              padding_efficiency, wave_efficiency, efficiency, relative_time);
FATHOM_FIELDS(models::RooflineLevel, "", "", bytes, intensity, attainable, seconds);
FATHOM_FIELDS(models::Roofline, "", "", compute_seconds, seconds, attainable, bound_by,
              memory_bound);
FATHOM_FIELDS(models::TileLayout, "", "", padding_elements, bits, base, shift);
FATHOM_FIELDS(models::LayoutCost, "", "", layout, wavefronts, conflicts, conflicts_by_access,
              shared_bytes, wasted_bytes);

namespace {

using namespace models;

struct OccupancyArguments {
  std::vector<std::string> architectures;
  KernelResources kernel;
};

/// "sm_90", "sm_90a", "90" and "9.0" alike.
SmLimits architecture(const std::string& text) {
  static const std::regex form("(?:sm_)?(\\d{1,2})\\.?(\\d)[af]?");
  std::smatch part;
  if (!std::regex_match(text, part, form))
    fail(ExitCode::bad_input, "--arch: `{}` is no compute capability such as sm_90, 90 or 9.0.",
         text);
  return sm_limits(std::stoi(part[1]), std::stoi(part[2]));
}

Prediction predict(const OccupancyArguments& arguments) {
  std::vector<SmLimits> chosen;
  for (const auto& text : arguments.architectures) chosen.push_back(architecture(text));
  if (chosen.empty()) chosen.assign(all_sm_limits().begin(), all_sm_limits().end());
  Prediction said;
  for (const SmLimits& sm : chosen) {
    Occupancy o = occupancy(sm, arguments.kernel);
    for (int* limit : {&o.blocks_by_registers, &o.blocks_by_shared})
      if (*limit == INT_MAX) *limit = o.blocks_by_blocks;  // none of its own
    const auto steps = next_occupancy_steps(sm, arguments.kernel);
    const std::string name_of_sm = fmt::format("sm_{}{}", sm.major, sm.minor);
    said.say("{:<7} {}\n", name_of_sm, o.sentence);
    said.say(
        "        blocks that fit by warps {}, by registers {}, by shared memory {}, by slots {}\n",
        o.blocks_by_warps, o.blocks_by_registers, o.blocks_by_shared, o.blocks_by_blocks);
    for (const auto& step : steps) said.say("        next step: {}\n", step.sentence);
    auto& answer = said.json[name_of_sm] = write_fields(o);
    answer["limiter"] = o.limiter;
    answer["next_steps"] = write_fields(steps);
  }
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
  number_flag(app, "--shared", kernel.dynamic_shared_bytes,
              "Shared memory a block, static and dynamic", 0, 1 << 30, "BYTES")
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
  std::string cost = "latency";
  double wave_time = 0;  ///< seconds
  MachineFlags machine;
};

void say_waves(Prediction& said, std::uint64_t blocks, const Waves& w) {
  said.say("{} in waves of {}: {:.4g} waves, {} paid for\n", counted(blocks, "block"),
           w.wave_blocks, w.waves, w.steps);
  said.say("  the last wave has {} of {} blocks\n",
           w.tail_blocks == 0 ? w.wave_blocks : w.tail_blocks, w.wave_blocks);
  said.say("  {} where a wave takes its time however full it is\n", format_percent(w.efficiency));
}

Prediction predict_grid(const WaveArguments& a, const TiledProduct& p) {
  const Grid grid{.blocks = a.blocks, .blocks_per_sm = p.blocks_per_sm, .sms = p.sms};
  const Waves w = waves(grid);
  Prediction said{.json = write_fields(w)};
  say_waves(said, grid.blocks, w);
  if (a.wave_time > 0) {
    const double seconds = expected_seconds(grid, a.wave_time, p.cost);
    said.json["seconds"] = seconds;
    said.say("  {} at {} a full wave, of blocks bound by {}\n", format_time(seconds),
             format_time(a.wave_time), a.cost);
  }
  return said;
}

Prediction predict_product(const WaveArguments& a, const TiledProduct& p) {
  const TileQuantisation q = tile_quantisation(p);
  const auto by = [](const auto& sizes) { return fmt::format("{}", fmt::join(sizes, " x ")); };
  Prediction said{.json = write_fields(q)};
  said.say("{} in tiles of {}: {} x {} tiles, {} k steps each\n", by(a.sizes), by(a.tile),
           q.tiles_m, q.tiles_n, q.steps);
  say_waves(said, q.blocks, q.waves);
  said.say("Useful share of the work paid for: {}\n", format_percent(q.efficiency));
  said.say("  whole tiles    {:>8}\n", format_percent(q.padding_efficiency));
  said.say("  whole waves    {:>8}\n", format_percent(q.wave_efficiency));
  return said;
}

Prediction predict(const WaveArguments& a) {
  if (a.blocks == 0 && a.sizes.empty())
    throw Error(ExitCode::bad_input,
                "Nothing to predict: give a grid (--blocks N) or a matrix product (--gemm M N K).");
  TiledProduct product = a.product;
  if (product.sms == 0) {
    const auto machine = machine_of(a.machine);
    if (!machine)
      throw Error(ExitCode::bad_input,
                  "Waves depend on the number of SMs: give --sms, --gpu or --result.");
    product.sms = machine->sms();
  }
  product.cost = a.cost == "latency" ? BlockCost::latency : BlockCost::throughput;
  if (a.blocks > 0) return predict_grid(a, product);
  std::tie(product.m, product.n, product.k) = std::tuple(a.sizes[0], a.sizes[1], a.sizes[2]);
  std::tie(product.tile_m, product.tile_n, product.tile_k) =
      std::tuple(a.tile[0], a.tile[1], a.tile[2]);
  std::tie(product.cluster_m, product.cluster_n) = std::tuple(a.cluster[0], a.cluster[1]);
  return predict_product(a, product);
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
            "How fast blocks are that share an SM: latency (each as alone) or throughput (they "
            "share it)",
            {"latency", "throughput"}, "WORD");
  app.footer(
      "Examples:\n"
      "  fathom predict waves --blocks 396 --blocks-per-sm 2 --gpu H200\n"
      "  fathom predict waves --blocks 396 --sms 132 --wave-time 50e-6 --cost throughput\n"
      "  fathom predict waves --gemm 4096 4096 4096 --tile 128 256 64 --gpu H200\n"
      "  fathom predict waves --gemm 4112 4096 4096 --tile 128 256 64 --cluster 4 2 --gpu H200\n"
      "  fathom predict waves --gemm 1024 4096 4096 --sms 108\n");
}

// --- roofline ------------------------------------------------------------------------------------

struct RooflineArguments {
  MachineFlags machine;
  std::string precision = "fp32";
  std::optional<double> flops, bytes;
  std::vector<std::uint64_t> gemm;  ///< m, n, k
};

void say_kernel(Prediction& said, const ArithmeticWork& work, const Roofline& r) {
  const RooflineLevel& dram = r.levels.front();
  said.json["kernel"] = write_fields(r);
  said.json["kernel"]["DRAM"] = write_fields(dram);
  said.say("\nKernel of {:.4g} FLOP: at least {}, bound by {}\n", work.flops,
           format_time(r.seconds), r.bound_by);
  said.say_figure("arithmetic", format_time(r.compute_seconds), "at least");
  said.say_figure("DRAM", format_time(dram.seconds),
                  fmt::format("at least, for {} at {}", format_bytes(dram.bytes),
                              format_quantity(dram.intensity, "FLOP/B")));
  said.say_figure("attainable", format_quantity(r.attainable, "FLOP/s"),
                  format_percent(r.attainable / work.flops_per_second) + " of the peak");
}

Prediction predict(const RooflineArguments& arguments) {
  const auto machine = machine_of(arguments.machine);
  if (!machine)
    throw Error(ExitCode::bad_input,
                "A roofline is of a GPU: give --gpu NAME, or --result FILE for a measured one.");
  const std::string& precision = arguments.precision;
  const auto peak = machine->peak(precision);
  if (!peak)
    fail(ExitCode::bad_input, "The {} has no units for {}: choose another --precision.",
         machine->name, precision);
  const MachineFigure bandwidth = machine->bandwidth();
  MemoryWork dram{"DRAM", bandwidth.value, arguments.bytes.value_or(0)};
  ArithmeticWork work{precision, peak->value, arguments.flops.value_or(0)};
  const double ridge = ridge_point(dram, work);
  Prediction said{.text = machine->origin + "\n",
                  .json = {{"gpu", machine->name}, {"source", machine->source}}};
  said.json["DRAM"] = write_fields(bandwidth);
  said.json["peak"] = write_fields(*peak);
  said.json["ridge_point"] = ridge;
  said.say_figure("DRAM", format_bandwidth(bandwidth.value), bandwidth);
  said.say_figure(precision, format_quantity(peak->value, precision == "int8" ? "op/s" : "FLOP/s"),
                  *peak);
  said.say_figure("ridge point", format_number(ridge) + " FLOP/B",
                  fmt::format("below it DRAM bounds, above it {}", precision));
  const auto& gemm = arguments.gemm;
  if (!gemm.empty()) {
    const Precision& of = *std::ranges::find(precisions, precision, &Precision::name);
    const MatrixProduct product{real(gemm[0]), real(gemm[1]), real(gemm[2]), of.input_bytes,
                                of.output_bytes};
    work.flops = matrix_product_flops(product);
    dram.bytes = matrix_product_bytes(product);
  }
  if (arguments.flops || arguments.bytes || !gemm.empty())
    say_kernel(said, work, roofline({dram}, work));
  return said;
}

void add_flags(CLI::App& app, RooflineArguments& arguments) {
  std::vector<std::string> names;
  for (const Precision& precision : precisions) names.emplace_back(precision.name);
  add_machine_flags(app, arguments.machine);
  word_flag(app, "--precision", arguments.precision,
            "Arithmetic: fp64 and fp32 of the CUDA cores, fp64-tensor, tf32, fp16, bf16, fp8, int8 "
            "of the tensor cores",
            names);
  auto* flops = app.add_option("--flops", arguments.flops, "FLOPs of the kernel: 137e9, 137G")
                    ->transform(quantity("FLOP"))
                    ->type_name("N");
  auto* bytes = app.add_option("--bytes", arguments.bytes,
                               "Bytes that it moves through DRAM, read and written: 2e9, 2GiB")
                    ->transform(quantity("B"))
                    ->type_name("N");
  number_flag(app, "--gemm", arguments.gemm,
              "Instead of both, a matrix product of M x K by K x N that moves each operand once", 1,
              std::uint64_t{1} << 40, "M N K")
      ->expected(3)
      ->excludes(flops)
      ->excludes(bytes);
  app.footer(
      "Times are lower bounds: memory and arithmetic overlap in full.\n\n"
      "Examples:\n"
      "  fathom predict roofline --gpu H200 --precision bf16\n"
      "  fathom predict roofline --gpu \"RTX 4090\" --flops 1G --bytes 8GB\n"
      "  fathom predict roofline --result recordings/h200/result.json --gemm 4096 4096 4096\n");
}

// --- swizzle -------------------------------------------------------------------------------------

struct SwizzleFlags {
  TileUse tile;
  std::vector<std::string> accesses;
};

/// "load:column:16", "store:8x4:4": of a block rows and columns of lanes, 32 in all.
TileAccess parse_access(const std::string& text) {
  static const std::regex form("(load|store):(row|column|(\\d{1,2})x(\\d{1,2})):(\\d{1,3})");
  std::smatch part;
  const bool fits = std::regex_match(text, part, form);
  const bool block = fits && part[3].matched;
  if (!fits || (block && std::stoi(part[3]) * std::stoi(part[4]) != warp_size))
    fail(ExitCode::bad_input,
         "--access: `{}` is not OP:ORDER:BYTES such as load:column:4 or store:8x4:16.", text);
  TileAccess access{.op = part[1] == "store" ? Access::store : Access::load,
                    .order = block              ? TileAccess::Order::block
                             : part[2] == "row" ? TileAccess::Order::row
                                                : TileAccess::Order::column,
                    .bytes_per_lane = std::stoi(part[5])};
  if (block) access.block_rows = std::stoi(part[3]);
  return access;
}

Prediction predict(const SwizzleFlags& flags) {
  TileUse tile = flags.tile;
  std::vector<std::string> accesses = flags.accesses;
  if (accesses.empty())
    accesses = {fmt::format("store:row:{}", tile.element_bytes),
                fmt::format("load:column:{}", tile.element_bytes)};
  for (const auto& text : accesses) tile.accesses.push_back(parse_access(text));
  const LayoutCost plain = layout_cost(tile, {});
  Prediction said;
  said.say("Tile of {} rows of {} elements of {} bytes; conflicts in all warp accesses of {}\n",
           tile.rows, tile.row_elements, tile.element_bytes, fmt::join(accesses, ", "));
  said.say("plain: {} conflicts, {} wavefronts\n\n", plain.conflicts, plain.wavefronts);
  said.say("{:<23}  {:>9}  {:>10}  {:>6}  {}\n", "layout", "conflicts", "wavefronts", "wasted",
           "index of element (row, column)");
  said.json["plain"] = write_fields(plain);
  for (const LayoutCost& cost : search_layouts(tile)) {
    const std::string index = index_formula(tile, cost.layout);
    said.say("{:<23}  {:>9}  {:>10}  {:>4} B  {}\n", cost.layout.description(), cost.conflicts,
             cost.wavefronts, cost.wasted_bytes, index);
    said.json["layouts"].push_back(write_fields(cost));
    said.json["layouts"].back()["index"] = index;
  }
  return said;
}

void add_flags(CLI::App& app, SwizzleFlags& flags) {
  number_flag(app, "--rows", flags.tile.rows, "Rows of the tile", 1, 1 << 18);
  number_flag(app, "--row-elements", flags.tile.row_elements, "Elements of a row", 1, 1 << 18);
  word_flag(app, "--element-bytes", flags.tile.element_bytes, "1, 2, 4, 8 or 16",
            {"1", "2", "4", "8", "16"}, "N");
  app.add_option("--access", flags.accesses,
                 "What warps do, OP:ORDER:BYTES a lane, several times; ORDER is row, column or "
                 "lanes as 8x4 (default: store:row and load:column of an element)")
      ->type_name("ACCESS");
  app.footer(
      "An XOR swizzle <bits, base, shift> XORs into an element's number, from bit `base` on, as\n"
      "many of its bits as lie `shift` higher. Layouts rank by conflicts, then by bytes wasted.\n\n"
      "Examples:\n"
      "  fathom predict swizzle\n"
      "  fathom predict swizzle --rows 64 --row-elements 64 --element-bytes 2 \\\n"
      "      --access store:row:16 --access load:column:16\n"
      "  fathom predict swizzle --element-bytes 2 --access load:8x4:4 --json\n");
}

}  // namespace

std::vector<Command> kernel_predictions() {
  return {prediction<OccupancyArguments>(
              "occupancy", "Resident blocks and warps of a kernel, and what limits them", add_flags,
              predict),
          prediction<WaveArguments>(
              "waves", "What whole waves and whole tiles cost a grid or matrix product", add_flags,
              predict),
          prediction<RooflineArguments>("roofline", "What bounds a kernel of given bytes and FLOPs",
                                        add_flags, predict),
          prediction<SwizzleFlags>("swizzle",
                                   "The padding or XOR swizzle of a tile with the fewest conflicts",
                                   add_flags, predict)};
}

}  // namespace fathom
