// Strides, rows along and across the lanes, mixes of reading and writing, asynchronous copies.

#include <fmt/format.h>

#include <algorithm>

#include "probes/copy_bandwidth/cases.h"
#include "probes/device/launch.h"

namespace fathom::copy_bandwidth {
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

}  // namespace

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

}  // namespace fathom::copy_bandwidth
