#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "probes/memory_bandwidth/cases.h"

namespace fathom::memory_bandwidth {
// What never leaves an SM or its cluster, timed by the SMs' clocks: operands of fused multiply-adds
// from the register file, and shared memory of the own block and of the next one of a cluster.

namespace {

constexpr int blocks_per_sm = 2;

/// A workload of so many warps, which report, and which leaves `after_bytes` beside. `launch` and
/// `verify` get the buffers of both.
template <class Launch, class Verify>
Reporting on_chip(Context& context, std::size_t warps, std::size_t after_bytes,
                  double bytes_per_warp, const Launch& launch, const Verify& verify) {
  const Buffer reports = context.buffers().output("reports", warps * sizeof(WarpReport));
  const Buffer after = context.buffers().output("after", after_bytes);
  return {workload_of(
              context, {reports, after}, [=] { launch(reports.as<WarpReport>(), after); },
              [=] { return verify(reports, after); }),
          reports, bytes_per_warp};
}

constexpr double operand_bytes = 3 * sizeof(float);

/// A chain multiplies by a factor and by its inverse in turn, and adds terms that cancel.
constexpr float factors[] = {1.5f, 2.0f / 3}, terms[] = {0.375f, -0.25f};

/// [lane][chain]
std::vector<float> expected_chains(int iterations) {
  std::vector<float> result;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int chain = 0; chain < register_chains; ++chain) {
      float& x = result.emplace_back(register_start(lane, chain));
      for (int step = 0; step < iterations * register_steps; ++step)
        x = std::fma(x, factors[step % 2], terms[step % 2]);
    }
  }
  return result;
}

Reporting prepare_registers(Context& context, int blocks, int iterations) {
  std::vector<float> operands;
  for (int chain = 0; chain < register_chains; ++chain)
    for (const float value : {factors[0], factors[1], terms[0], terms[1]})
      operands.insert(operands.end(), warp_lanes, value);
  const Buffer operand_buffer = upload(context, "operands", std::as_bytes(std::span(operands)));
  const std::size_t threads = static_cast<std::size_t>(blocks) * register_threads;
  return on_chip(
      context, threads / warp_lanes, threads * register_chains * sizeof(float),
      1.0 * iterations * register_steps * register_chains * warp_lanes * operand_bytes,
      [=, stream = context.stream()](WarpReport* reports, const Buffer& after) {
        launch(read_registers, {blocks, register_threads}, stream,
               RegisterRun{blocks, iterations, operand_buffer.as<float>(), reports,
                           after.as<float>()});
      },
      [=, stream = context.stream(), expected = expected_chains(iterations)](const Buffer&,
                                                                             const Buffer& after) {
        return check_elements<float>(after, stream, "the end of chain",
                                     [&](std::size_t i) { return expected[i % expected.size()]; });
      });
}

Case register_case(const DeviceFacts& device) {
  constexpr double clocks = 500'000;
  const int lanes = limits_of(device).fp32_per_clock;
  const double warps = blocks_per_sm * register_threads / warp_lanes;
  const double per_iteration = register_steps * register_chains * warps * warp_lanes / lanes;
  const int iterations = std::max(1, static_cast<int>(clocks / per_iteration));
  const int blocks = device.sms * blocks_per_sm;
  Case c = make_case("level", "registers", Operation::load, "fma.rn.f32", 4,
                     {{"SMs", std::int64_t{device.sms}}, {"warps per SM", std::int64_t(warps)}},
                     Suite::quick);
  c.bound = sm_bound(device, device.sms, lanes * operand_bytes,
                     fmt::format("{} multiply-adds of three 4-byte operands", lanes));
  const double executed = device.sms * warps * iterations * register_steps * register_chains;
  c.counters = {{"instructions_executed", executed, 0.03,
                 "the multiply-adds; the loop and what is around it are left out"}};
  c.extras = {{"sm_bound_bytes_per_clock", lanes * operand_bytes}};
  c.prepare = report_workload(
      [=](Context& context) { return prepare_registers(context, blocks, iterations); });
  return c;
}

double bytes_per_warp(const SharedRun& run) {
  return static_cast<double>(run.walk.tile) * run.walk.tiles *
         (run.operation == Operation::copy ? 2 : 1);
}

/// What a block's memory holds in the end: of loads what it held before.
std::vector<std::uint32_t> expected_words(Operation operation, int bytes_of_lane) {
  constexpr std::uint32_t words_used = shared_bytes_used / 4;
  const auto width = static_cast<std::uint32_t>(bytes_of_lane);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < words_used; ++i) {
    const std::uint32_t offset = i * 4, warp = offset / (shared_bytes_used / shared_warps);
    const std::uint32_t lane = offset % (width * warp_lanes) / width;
    words.push_back(operation == Operation::store
                        ? store_value(warp * warp_lanes + lane, offset % width / 4)
                        : shared_word(operation == Operation::copy ? i % (words_used / 2) : i));
  }
  return words;
}

Reporting prepare_shared(Context& context, const SharedRun& run, int passes) {
  cudaStream_t stream = context.stream();
  const std::size_t blocks = static_cast<std::size_t>(run.blocks);
  const std::vector<std::uint32_t> words = expected_words(run.operation, run.width);
  const std::uint32_t loaded =
      static_cast<std::uint32_t>(passes) * std::accumulate(words.begin(), words.end(), 0u);
  return on_chip(
      context, blocks * shared_warps, blocks * shared_bytes_used, bytes_per_warp(run),
      [=](WarpReport* reports, const Buffer& after) {
        SharedRun with_buffers = run;
        with_buffers.reports = reports;
        with_buffers.after = after.as<std::uint32_t>();
        launch_shared(with_buffers, stream);
      },
      [=](const Buffer& reports, const Buffer& after) -> std::optional<std::string> {
        if (run.operation != Operation::load)
          return check_elements<std::uint32_t>(
              after, stream, "in the blocks' memory word",
              [&](std::size_t i) { return words[i % words.size()]; });
        const auto all = copy_to_host<WarpReport>(reports, stream);
        const auto wrong = std::ranges::find_if_not(
            all, [=](std::uint32_t sum) { return sum == loaded; }, &WarpReport::sum);
        if (wrong == all.end()) return std::nullopt;
        return fmt::format("the words that warp {} loaded sum to {:#x} instead of {:#x}",
                           wrong - all.begin(), wrong->sum, loaded);
      });
}

/// Through shared memory of the own block where a cluster is one block, else of the next block.
Case shared_case(const DeviceFacts& device, Operation operation, int width, int cluster_size,
                 int blocks) {
  constexpr double usual_cluster_bytes_per_clock = 24, clocks = 250'000;
  const bool own = cluster_size == 1;
  const int of_sm = own ? blocks_per_sm : 1, sms = blocks / of_sm;
  const double bound = limits_of(device).l1_bytes_per_clock;
  // A second block of a cluster on the same SM would read its own.
  SharedRun run{operation, width,        shared_walk(operation, width, 1),
                blocks,    cluster_size, own ? shared_bytes_used : one_block_shared_bytes(device)};
  const double bytes_per_clock = own ? bound : usual_cluster_bytes_per_clock;
  const int passes =
      static_cast<int>(clocks * bytes_per_clock / of_sm / shared_warps / bytes_per_warp(run));
  run.walk = shared_walk(operation, width, passes);
  const std::string space = own ? "shared" : "shared::cluster";
  const std::string instruction = operation == Operation::load    ? "ld." + space
                                  : operation == Operation::store ? "st." + space
                                                                  : "ld." + space + ", st." + space;
  Axes more{{"SMs", sms},
            {"warps per SM", std::int64_t{of_sm * shared_warps}},
            {"loads in flight", std::int64_t{shared_loads(operation)}}};
  if (!own) more.emplace_back("cluster size", std::int64_t{cluster_size});
  Case c = make_case("level", own ? "shared" : "distributed shared", operation, instruction, width,
                     more, quick_if(width == 16 && (own || operation == Operation::load)));
  c.bound =
      sm_bound(device, sms, bound,
               own ? "shared memory's data stage" : "shared memory's data stage in the other SM");
  const double moved = bytes_per_warp(run) * shared_warps * run.blocks;
  c.extras = {{"sm_bound_bytes_per_clock", bound}, {"bytes_moved", moved}};
  // Besides the timed part: filling and saving 32 KiB of each block.
  const double wavefronts = moved / 128 / (operation == Operation::copy ? 2 : 1);
  const char* model = "one wavefront for each 128 bytes; filling and saving are left out";
  for (const auto& [name, other] :
       {std::pair{"load", Operation::store}, {"store", Operation::load}}) {
    if (!own || operation == other) continue;
    c.counters.push_back({fmt::format("shared_{}_wavefronts", name), wavefronts, 0.01, model});
    c.counters.push_back({fmt::format("shared_{}_conflicts", name)});
  }
  c.prepare =
      report_workload([=](Context& context) { return prepare_shared(context, run, passes); });
  return c;
}

}  // namespace

std::vector<Case> on_chip_cases(const DeviceFacts& device) {
  std::vector<Case> result{register_case(device)};
  const auto add = [&](int width, int cluster_size, int blocks) {
    for (const Operation operation : {Operation::load, Operation::store, Operation::copy})
      result.push_back(shared_case(device, operation, width, cluster_size, blocks));
  };
  for (const int width : {16, 8, 4}) add(width, 1, device.sms * blocks_per_sm);
  for (const int size : {2, 4, 8, 16}) {
    const int blocks = cluster_blocks(device.major, size, one_block_shared_bytes(device));
    if (blocks == 0) continue;
    for (const int width : {16, 8, 4})
      if (width == 16 || size == 2) add(width, size, blocks);
  }
  return result;
}

}  // namespace fathom::memory_bandwidth
