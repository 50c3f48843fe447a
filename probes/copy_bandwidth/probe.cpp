// What the cases share; strides, rows along and across the lanes, mixes of reading and writing,
// asynchronous copies.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/claims.h"
#include "probes/copy_bandwidth/cases.h"
#include "probes/device/launch.h"

namespace fathom::copy_bandwidth {
namespace {

std::size_t largest_bytes(const DeviceFacts& device) {
  return has_room_for_4_gib(device) ? 4 * gib : base_bytes(device) + 4096;
}

Bound bound_of(const DeviceFacts& device, double useful, double dram_bytes, double footprint) {
  const DeviceBound& dram = bound(device, "dram_bandwidth");
  const DeviceBound& l1 = bound(device, "l1_bandwidth");
  const auto l2 = static_cast<double>(device.l2_bytes);
  const Bound data_stage{l1.value, "cache-resident: the SMs' load/store data stage, " + l1.source};
  if (footprint <= l2) return data_stage;
  const std::string ratio =
      dram_bytes > useful
          ? fmt::format(", {:.3f} bytes in whole sectors for each useful one", dram_bytes / useful)
          : "";
  if (dram_bytes >= static_cast<double>(gib))
    return {dram.value * useful / dram_bytes, "DRAM: " + dram.source + ratio};
  const double value = dram.value * useful / (dram_bytes - l2);
  if (dram_bytes <= l2 || value >= l1.value) return data_stage;
  return {value, fmt::format("DRAM for all but what the L2's {:.0f} MiB can hold: {}{}",
                             l2 / 0x1p20, dram.source, ratio)};
}

std::vector<CounterRequest> counters_of(const Work& work) {
  std::vector<CounterRequest> counters;
  for (const std::string figure : {"sectors", "requests", "instructions"}) {
    for (const bool load : {true, false}) {
      CounterRequest& r =
          counters.emplace_back("global_" + std::string(load ? "load_" : "store_") + figure);
      if (!(load ? work.loads_counted : work.stores_counted)) continue;
      const models::StreamCost& cost = load ? work.loads : work.stores;
      r.expected = static_cast<double>(figure == "sectors" ? cost.sectors : cost.requests);
      r.model = "global-memory model, every warp instruction";
    }
  }
  for (const auto& [role, bytes] : {std::pair{"dram_read_bytes", work.stream.read_bytes},
                                    {"dram_write_bytes", work.stream.write_bytes}}) {
    CounterRequest& r = counters.emplace_back(role);
    if (work.streams_through_dram && bytes >= gib - 4096)
      r = {role, static_cast<double>(bytes), 0.01, "every useful byte once"};
  }
  counters.push_back({"achieved_occupancy"});
  return counters;
}

}  // namespace

std::size_t base_bytes(const DeviceFacts& device) {
  return std::min(gib, std::bit_floor(device.memory_bytes / 3));
}

bool has_room_for_4_gib(const DeviceFacts& device) { return device.memory_bytes >= 11 * gib; }

Case bandwidth_case(const DeviceFacts& device, std::string name, const Work& work, bool quick) {
  models::StreamKernel kernel = work.stream;
  const double useful =
      static_cast<double>(kernel.read_bytes) + static_cast<double>(kernel.write_bytes);
  const auto given = [](std::size_t bytes, double otherwise) {
    return bytes != 0 ? static_cast<double>(bytes) : otherwise;
  };
  const double dram_bytes = given(work.dram_bytes, useful);
  // Theoretical occupancy of kernels with few registers and little shared memory.
  const int threads = kernel.threads_per_block;
  const int blocks =
      std::min({device.blocks_per_sm, device.threads_per_sm / threads, work.most_blocks_per_sm});
  kernel.resident_threads_per_sm = std::max(1, blocks) * threads;
  kernel.traffic_ratio = given(work.expected_dram_bytes, dram_bytes) / useful;
  Case c;
  c.name = std::move(name);
  c.suite = quick_if(quick);
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.value = rate(useful);
  c.bound = bound_of(device, useful, dram_bytes, given(work.footprint, dram_bytes));
  const models::StreamExpectation stream = expected_stream(device, kernel);
  // As far as the streaming model may be off with its default parameters.
  c.expected = Expectation{stream.bytes_per_second, 0.25, "streaming model: " + stream.sentence};
  c.counters = counters_of(work);
  c.extras = {{"resident_threads_per_sm", static_cast<double>(kernel.resident_threads_per_sm)}};
  return c;
}

Buffer source_buffer(Context& context, std::size_t bytes, Fill fill) {
  Buffer buffer = context.buffers().input("src", largest_bytes(context.device()), fill);
  buffer.bytes = bytes;
  return buffer;
}

Buffer destination_buffer(Context& context, std::size_t bytes) {
  context.buffers().output("dst", largest_bytes(context.device()));
  return context.buffers().output("dst", bytes);
}

namespace {

constexpr int threads = pattern_threads;

Workload counted(Context& context, const Buffer& out, std::function<void()> launch,
                 std::function<void(unsigned long long* wrong)> check, const char* what) {
  return workload_of(
      context, {out}, std::move(launch),
      [=, &context] { return none_wrong(context, check, what); });
}

/// The strided side spans 1 GiB, so that a larger stride means fewer packs.
Case strided_case(const DeviceFacts& device, Strided side, int pack, unsigned stride, bool quick) {
  const bool loads = side == Strided::loads;
  const std::size_t packs = base_bytes(device) / stride / pack;
  const auto strided_bytes = static_cast<std::uint64_t>(pack) * stride;
  const models::StreamPattern contiguous{
      .accesses = packs, .bytes_per_instruction = pack, .threads_per_block = threads};
  models::StreamPattern strided = contiguous;
  strided.stride_bytes = strided_bytes;
  Work work;
  work.stream.read_bytes = work.stream.write_bytes = packs * pack;
  work.stream.bytes_per_access = pack;
  work.stream.threads = packs;
  work.loads = models::stream_cost(loads ? strided : contiguous);
  work.stores = models::stream_cost(loads ? contiguous : strided);
  // Neighbours share a sector up to its 32 bytes.
  const std::uint64_t sectors = std::min<std::uint64_t>(strided_bytes, models::sector_bytes);
  constexpr std::uint64_t dram_read_bytes = 64;
  work.dram_bytes = packs * (pack + sectors);
  if (loads)
    work.expected_dram_bytes = packs * (pack + std::min(strided_bytes, dram_read_bytes));
  else if (stride > 1)
    work.expected_dram_bytes = packs * (pack + 2 * sectors);
  work.footprint = base_bytes(device);
  const char* what = loads ? "loads" : "stores";
  Case c = bandwidth_case(device, fmt::format("stride/{}/bytes:{}/stride:{}", what, pack, stride),
                          work, quick);
  c.axes = {{"sweep", "stride"},
            {"strided", what},
            {"bytes per thread", pack},
            {"stride (packs)", stride},
            {"stride (B)", static_cast<std::int64_t>(strided_bytes)},
            {"block", threads}};
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const std::size_t near = packs * pack, far = near * stride;
    const Buffer src = source_buffer(context, loads ? far : near);
    const Buffer dst = destination_buffer(context, loads ? near : far);
    const int pack_words = pack / 4;
    // What lies behind the last pack of a strided store's memory is left out.
    const std::size_t words = (loads ? packs : (packs - 1) * stride + 1) * pack_words;
    return counted(
        context, dst,
        [=] {
          launch(strided_copy_of(pack, side), threads_for(packs, threads), stream, src.data,
                 dst.data, packs, stride);
        },
        [=](unsigned long long* wrong) {
          launch(check_strided_copy, threads_for(words, threads), stream, src.as<std::uint32_t>(),
                 dst.as<std::uint32_t>(), words, pack_words, stride, side, wrong);
        },
        "words of the destination are wrong");
  };
  return c;
}

Case row_case(const DeviceFacts& device, bool along) {
  constexpr std::uint32_t rows = 1u << 18;
  const auto columns = static_cast<std::uint32_t>(base_bytes(device) / 4 / rows);
  const std::size_t row_step = along ? 1 : columns, column_step = along ? rows : 1;
  Work work;
  work.stream.read_bytes = std::size_t{rows} * columns * 4;
  work.stream.write_bytes = std::size_t{rows} * 4;
  work.stream.bytes_per_access = 4;
  work.stream.threads = rows;
  work.unroll(4);
  // Each turn of the loop is one access of every thread.
  const models::StreamCost turn = models::stream_cost(
      {.accesses = rows, .stride_bytes = row_step * 4, .threads_per_block = threads});
  work.loads = columns * turn;
  work.stores = models::stream_cost({.accesses = rows, .threads_per_block = threads});
  work.streams_through_dram = along;
  Case c = bandwidth_case(device, along ? "rows/along" : "rows/across", work, true);
  if (!along) {
    // A row's sector is asked for eight times, and finds itself in the L2 at best: the L1 is far
    // too small for a sector of every row in flight.
    using Stream = models::StreamParameters;
    const double l2 =
        device.sms * device.sm_clock_max_hz * Stream::l2_bytes_per_clock * Stream::l2_efficiency;
    const double from_l2 = static_cast<double>(work.loads.sectors) * models::sector_bytes;
    c.expected->value =
        static_cast<double>(work.stream.read_bytes + work.stream.write_bytes) * l2 / from_l2;
    c.expected->model = fmt::format(
        "{:.2f} GB of sectors from the L2 at {:.2f} TB/s, the streaming model's rate for it",
        from_l2 / 1e9, l2 / 1e12);
  }
  c.axes = {{"sweep", "rows"},
            {"lanes read", along ? "along" : "across"},
            {"bytes per thread", 4},
            {"block", threads}};
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer src = source_buffer(context, std::size_t{rows} * columns * 4);
    const Buffer dst = destination_buffer(context, std::size_t{rows} * 4);
    const FoldedRows folded{
        src.as<std::uint32_t>(), dst.as<std::uint32_t>(), rows, columns, row_step, column_step};
    return counted(
        context, dst,
        [=] {
          launch(fold_rows, threads_for(rows, threads), stream, folded.src, dst.as<std::uint32_t>(),
                 columns, row_step, column_step);
        },
        [=](unsigned long long* wrong) {
          launch(check_rows, threads_for(std::size_t{rows} * 32, threads), stream, folded, wrong);
        },
        "rows are wrong");
  };
  return c;
}

Case mix_case(const DeviceFacts& device, Mix mix, ElementType type, bool quick) {
  constexpr const char* names[] = {"read", "write", "scale", "add", "triad"};
  const std::string name = names[static_cast<int>(mix)];
  const bool reads = mix == Mix::read, typed = inputs_of(mix) > 0 && !reads;
  const std::string type_name = typed ? name_of(type) : "bits";
  const auto inputs = static_cast<std::uint64_t>(inputs_of(mix));
  const std::size_t bytes = base_bytes(device), folds = bytes / read_bytes_per_fold;
  const models::StreamCost one = models::contiguous_cost(bytes, 16, 4, 0, threads);
  Work work;
  work.stream.read_bytes = inputs * bytes;
  work.stream.write_bytes = reads ? folds * 4 : bytes;
  work.stream.threads = reads ? folds * 32 : bytes / 16;
  work.unroll(reads ? read_packs_per_thread : inputs > 1 ? 2 : 1);
  work.loads = inputs * one;
  work.stores = one;
  if (reads) work.stores = {folds, folds, folds * 4};  // one lane's word of each warp
  work.streams_through_dram = true;
  Case c = bandwidth_case(device, fmt::format("mix/{}/type:{}", name, type_name), work, quick);
  c.axes = {{"sweep", "mix"},
            {"mix", name},
            {"type", type_name},
            {"arrays read", static_cast<std::int64_t>(inputs)},
            {"arrays written", std::int64_t{reads ? 0 : 1}},
            {"bytes per thread", 16},
            {"block", threads}};
  c.prepare = [=](Context& context) {
    const Fill fill = reads                          ? Fill::random_bits
                      : type == ElementType::float64 ? Fill::uniform_double
                                                     : Fill::uniform_float;
    MixRun run{.bytes = bytes};
    if (inputs >= 1) run.a = source_buffer(context, bytes, fill).data;
    if (inputs >= 2) run.b = context.buffers().input("second src", bytes, fill).data;
    const Buffer out = destination_buffer(context, work.stream.write_bytes);
    run.out = out.data;
    const auto run_or_check = [=, stream = context.stream()](unsigned long long* wrong) {
      launch_mix(mix, type, run, wrong, stream);
    };
    return counted(
        context, out, [=] { run_or_check(nullptr); }, run_or_check,
        "elements of the output are wrong");
  };
  return c;
}

Case tiles_case(const DeviceFacts& device, const Work& work, const char* instruction,
                const std::string& name, const char* hint, int tile_bytes, int block, bool quick,
                const CopyLauncher& launch) {
  Case c = bandwidth_case(device, fmt::format("async/{}/{}", instruction, name), work, quick);
  c.axes = {{"sweep", "async"},
            {"instruction", instruction},
            {"load hint", hint},
            {"tile (B)", tile_bytes},
            {"block", block}};
  c.prepare = [=](Context& context) {
    return copy_workload(context, base_bytes(context.device()), block, launch);
  };
  return c;
}

Case async_case(const DeviceFacts& device, int block, bool quick) {
  Work work = copy_work({ElementType::float32, 4}, base_bytes(device), block);
  const auto sectors = static_cast<double>(work.loads.sectors);
  work.loads_counted = false;
  Case c = tiles_case(device, work, "cp.async", fmt::format("block:{}", block), "none", 16 * block,
                      block, quick, [](const CopyRun& run, cudaStream_t stream) {
                        const std::size_t packs = run.bytes / 16;
                        Blocks grid = threads_for(packs, run.threads);
                        grid.dynamic_shared = 16 * run.threads;
                        launch(async_copy, grid, stream, reinterpret_cast<const uint4*>(run.src),
                               reinterpret_cast<uint4*>(run.dst), packs);
                      });
  c.counters.push_back({"global_async_copy_sectors", sectors, 0, "bytes / 32"});
  return c;
}

Case bulk_case(const DeviceFacts& device, int tile_bytes, bool evict_last, bool quick) {
  // A block keeps its whole tile in flight, by one thread; tiles decide how many are resident.
  const std::size_t room = tile_bytes + device.reserved_shared_bytes_per_block + 128;
  Work work{.most_blocks_per_sm = static_cast<int>(device.shared_bytes_per_sm / room),
            .streams_through_dram = true,
            .loads_counted = false,
            .stores_counted = false};
  work.stream.read_bytes = work.stream.write_bytes = base_bytes(device);
  work.stream.threads_per_block = 1;
  work.unroll(tile_bytes / 16);
  const char* hint = evict_last ? "L2::evict_last" : "none";
  return tiles_case(device, work, "cp.async.bulk", fmt::format("tile:{}/load:{}", tile_bytes, hint),
                    hint, tile_bytes, 32, quick, [=](const CopyRun& run, cudaStream_t stream) {
                      const auto tiles = static_cast<int>(run.bytes / tile_bytes);
                      launch(bulk_copy, {tiles, 32, tile_bytes}, stream, run.src, run.dst,
                             static_cast<unsigned>(tile_bytes), evict_last);
                    });
}

std::vector<Case> stride_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const Strided side : {Strided::loads, Strided::stores}) {
    const bool loads = side == Strided::loads;
    for (const unsigned stride : {1, 2, 4, 8, 16, 32})
      cases.push_back(strided_case(device, side, 4, stride, loads && (stride == 1 || stride == 8)));
    for (const unsigned stride : {1, 2, 4, 8})
      cases.push_back(strided_case(device, side, 16, stride, false));
  }
  return cases;
}

std::vector<Case> row_cases(const DeviceFacts& device) {
  return {row_case(device, true), row_case(device, false)};
}

std::vector<Case> async_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  if (device.major >= 8)
    for (const int block : {256, 512}) cases.push_back(async_case(device, block, block == 256));
  if (device.major >= 9)
    for (const bool evict_last : {true, false})
      for (const int tile : {2048, 4096, 16384})
        cases.push_back(bulk_case(device, tile, evict_last, evict_last && tile == 2048));
  return cases;
}

std::vector<Case> mix_cases(const DeviceFacts& device) {
  using enum ElementType;
  std::vector<Case> cases{mix_case(device, Mix::read, float32, true),
                          mix_case(device, Mix::write, float32, true)};
  for (const ElementType type : {float32, float64})
    for (const Mix mix : {Mix::scale, Mix::add, Mix::triad})
      cases.push_back(mix_case(device, mix, type, mix == Mix::triad && type == float32));
  return cases;
}

const Probe probe{
    .name = "copy_bandwidth",
    .question =
        "How fast can this GPU copy memory, and what do access width, alignment and hints cost?",
    .method =
        "Bandwidth is bytes read plus bytes written, over event-timed launches that follow each "
        "other without a flush; sources are random bits. One thread moves one pack of 1 to 32 "
        "bytes, or several a block size apart. Every output is poisoned and compared before it is "
        "timed, bytes past its ends included. The libraries' copies are launched alternately with "
        "the best one. Counters must equal the global-memory model. A 16-byte access off its "
        "alignment ends the process that makes it, so it has one of its own.",
    .conclude = conclude,
    .cases = {best_cases, width_cases, offset_cases, stride_cases, tail_cases, row_cases,
              size_cases, hint_cases, async_cases, mix_cases, misaligned_cases},
    .samples_lines = true,
    .child = make_misaligned_access};

}  // namespace
}  // namespace fathom::copy_bandwidth

FATHOM_PROBE(fathom::copy_bandwidth::probe)
