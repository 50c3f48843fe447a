// Strides, rows along and across the lanes; other mixes of reading and writing;
// copies by the asynchronous copy instructions.

#include <fmt/format.h>

#include <algorithm>

#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {
namespace {

constexpr int threads = pattern_threads;

/// A launch whose result in `out` a kernel checks.
Workload counted(Context& context, const Buffer& out, std::function<void()> launch,
                 std::function<void(unsigned long long* wrong)> check, const char* what) {
  return workload_of(
      context, {out}, std::move(launch),
      [=, &context] { return none_wrong(context, check, what); });
}

Workload strided_workload(Context& context, StridedRun run) {
  cudaStream_t stream = context.stream();
  const bool loads = run.side == Strided::loads;
  const std::size_t near = run.packs * run.pack_bytes;
  const Buffer src = source_buffer(context, loads ? near * run.stride : near);
  const Buffer dst = destination_buffer(context, loads ? near : near * run.stride);
  run.src = src.data;
  run.dst = dst.data;
  return counted(
      context, dst, [=] { launch_strided_copy(run, stream); },
      [=](unsigned long long* wrong) { launch_check_strided_copy(run, wrong, stream); },
      "words of the destination are wrong");
}

/// The strided side spans 1 GiB, so that a larger stride means fewer packs.
Case strided_case(const DeviceFacts& device, Strided side, int pack, unsigned stride, Suite suite) {
  const bool loads = side == Strided::loads;
  StridedRun run{.pack_bytes = pack, .stride = stride, .side = side};
  run.packs = base_bytes(device) / stride / pack;
  const auto strided_bytes = static_cast<std::uint64_t>(pack) * stride;
  const models::StreamPattern contiguous{
      .accesses = run.packs, .bytes_per_instruction = pack, .threads_per_block = threads};
  models::StreamPattern strided = contiguous;
  strided.stride_bytes = strided_bytes;
  Work work;
  work.stream.read_bytes = work.stream.write_bytes = run.packs * pack;
  work.stream.bytes_per_access = pack;
  work.stream.threads = run.packs;
  work.loads = models::stream_cost(loads ? strided : contiguous);
  work.stores = models::stream_cost(loads ? contiguous : strided);
  // Neighbours share a sector up to its 32 bytes.
  work.dram_bytes =
      run.packs * (pack + std::min<std::uint64_t>(strided_bytes, models::sector_bytes));
  constexpr std::uint64_t dram_read_bytes = 64;
  if (loads) {
    work.expected_dram_bytes = run.packs * (pack + std::min(strided_bytes, dram_read_bytes));
  } else if (strided_bytes > static_cast<std::uint64_t>(pack)) {
    const std::uint64_t written = std::min<std::uint64_t>(strided_bytes, models::sector_bytes);
    work.expected_dram_bytes = run.packs * (pack + 2 * written);
  }
  work.footprint = base_bytes(device);
  const char* what = loads ? "loads" : "stores";
  Case c =
      bandwidth_case(device, fmt::format("stride/{}/bytes:{}/stride:{}", what, pack, stride), work);
  c.axes = {{"sweep", "stride"},
            {"strided", what},
            {"bytes per thread", std::int64_t{pack}},
            {"stride (packs)", std::int64_t{stride}},
            {"stride (B)", static_cast<std::int64_t>(strided_bytes)},
            {"block", std::int64_t{threads}}};
  c.suite = suite;
  c.prepare = [run](Context& context) { return strided_workload(context, run); };
  return c;
}

constexpr std::uint32_t rows = 1u << 18;

Workload row_workload(Context& context, RowRun run) {
  cudaStream_t stream = context.stream();
  const Buffer src = source_buffer(context, std::size_t{rows} * run.columns * 4);
  const Buffer dst = destination_buffer(context, std::size_t{rows} * 4);
  run.src = src.as<std::uint32_t>();
  run.dst = dst.as<std::uint32_t>();
  return counted(
      context, dst, [=] { launch_fold_rows(run, stream); },
      [=](unsigned long long* wrong) { launch_check_rows(run, wrong, stream); }, "rows are wrong");
}

Case row_case(const DeviceFacts& device, bool along) {
  const auto columns = static_cast<std::uint32_t>(base_bytes(device) / 4 / rows);
  RowRun run{.rows = rows, .columns = columns};
  run.row_step = along ? 1 : columns;
  run.column_step = along ? rows : 1;
  Work work;
  work.stream.read_bytes = std::size_t{rows} * columns * 4;
  work.stream.write_bytes = std::size_t{rows} * 4;
  work.stream.bytes_per_access = 4;
  work.stream.threads = rows;
  work.unroll(4);
  // Each turn of the loop is one access of every thread.
  const models::StreamCost turn = models::stream_cost(
      {.accesses = rows, .stride_bytes = run.row_step * 4, .threads_per_block = threads});
  work.loads = columns * turn;
  work.stores = models::stream_cost({.accesses = rows, .threads_per_block = threads});
  work.streams_through_dram = along;
  Case c = bandwidth_case(device, along ? "rows/along" : "rows/across", work);
  if (!along) {
    // The bound is what any order of reading has. A row's sector is asked for eight times, and
    // finds itself in the L2 at best: the L1 is far too small for a sector of every row in flight.
    using Stream = models::StreamParameters;
    const double l2 =
        device.sms * device.sm_clock_max_hz * Stream::l2_bytes_per_clock * Stream::l2_efficiency;
    const double from_l2 = static_cast<double>(work.loads.sectors) * models::sector_bytes;
    c.expected->value =
        static_cast<double>(work.stream.read_bytes + work.stream.write_bytes) * l2 / from_l2;
    c.expected->model = fmt::format(
        "{:.2f} GB of sectors from the L2 at {:.2f} TB/s, the streaming "
        "model's rate for it",
        from_l2 / 1e9, l2 / 1e12);
  }
  c.axes = {{"sweep", "rows"},
            {"lanes read", along ? "along" : "across"},
            {"bytes per thread", std::int64_t{4}},
            {"block", std::int64_t{threads}}};
  c.suite = Suite::quick;
  c.prepare = [run](Context& context) { return row_workload(context, run); };
  return c;
}

}  // namespace

std::vector<Case> stride_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const Strided side : {Strided::loads, Strided::stores}) {
    for (const unsigned stride : {1, 2, 4, 8, 16, 32}) {
      const bool quick = side == Strided::loads && (stride == 1 || stride == 8);
      cases.push_back(strided_case(device, side, 4, stride, quick_if(quick)));
    }
    for (const unsigned stride : {1, 2, 4, 8})
      cases.push_back(strided_case(device, side, 16, stride, Suite::standard));
  }
  return cases;
}

std::vector<Case> row_cases(const DeviceFacts& device) {
  return {row_case(device, true), row_case(device, false)};
}

namespace {

const char* name_of(Mix mix) {
  constexpr const char* names[] = {"read", "write", "scale", "add", "triad"};
  return names[static_cast<int>(mix)];
}

Workload mix_workload(Context& context, Mix mix, ElementType type) {
  cudaStream_t stream = context.stream();
  const Fill fill = mix == Mix::read               ? Fill::random_bits
                    : type == ElementType::float64 ? Fill::uniform_double
                                                   : Fill::uniform_float;
  const std::size_t bytes = base_bytes(context.device());
  MixRun run{.bytes = bytes};
  if (inputs_of(mix) >= 1) run.a = source_buffer(context, bytes, fill).data;
  if (inputs_of(mix) >= 2) run.b = context.buffers().input("second src", bytes, fill).data;
  const std::size_t out_bytes = mix == Mix::read ? bytes / read_bytes_per_fold * 4 : bytes;
  const Buffer out = destination_buffer(context, out_bytes);
  run.out = out.data;
  return counted(
      context, out, [=] { launch_mix(mix, type, run, nullptr, stream); },
      [=](unsigned long long* wrong) { launch_mix(mix, type, run, wrong, stream); },
      "elements of the output are wrong");
}

Case mix_case(const DeviceFacts& device, Mix mix, ElementType type, Suite suite) {
  const bool typed = inputs_of(mix) > 0 && mix != Mix::read;
  const std::string type_name = typed ? copy_bandwidth::name_of(type) : "bits";
  const auto inputs = static_cast<std::uint64_t>(inputs_of(mix));
  const std::size_t bytes = base_bytes(device);
  const models::StreamCost one = models::contiguous_cost(bytes, 16, 4, 0, threads);
  Work work;
  work.stream.read_bytes = inputs * bytes;
  work.stream.write_bytes = bytes;
  work.stream.threads = bytes / 16;
  work.unroll(inputs > 1 ? 2 : 1);
  work.loads = inputs * one;
  work.stores = one;
  work.streams_through_dram = true;
  if (mix == Mix::read) {
    const std::size_t folds = bytes / read_bytes_per_fold;
    work.stream.write_bytes = folds * 4;
    work.stream.threads = folds * 32;
    work.unroll(read_packs_per_thread);
    work.stores = {folds, folds, folds * 4};  // one lane's word of each warp
  }
  Case c = bandwidth_case(device, fmt::format("mix/{}/type:{}", name_of(mix), type_name), work);
  c.axes = {{"sweep", "mix"},
            {"mix", name_of(mix)},
            {"type", type_name},
            {"arrays read", static_cast<std::int64_t>(inputs)},
            {"arrays written", std::int64_t{mix == Mix::read ? 0 : 1}},
            {"bytes per thread", std::int64_t{16}},
            {"block", std::int64_t{threads}}};
  c.suite = suite;
  c.prepare = [mix, type](Context& context) { return mix_workload(context, mix, type); };
  return c;
}

/// What both have in common, by `name` behind the instruction's.
Case tiles_case(const DeviceFacts& device, const Work& work, const char* instruction,
                const std::string& name, const char* hint, int tile_bytes, int block, Suite suite,
                const CopyLauncher& launch) {
  Case c = bandwidth_case(device, fmt::format("async/{}/{}", instruction, name), work);
  c.axes = {{"sweep", "async"},
            {"instruction", instruction},
            {"load hint", hint},
            {"tile (B)", std::int64_t{tile_bytes}},
            {"block", std::int64_t{block}}};
  c.suite = suite;
  c.prepare = [=](Context& context) {
    return copy_workload(context, base_bytes(context.device()), block, launch);
  };
  return c;
}

Case async_case(const DeviceFacts& device, int block, Suite suite) {
  Work work = copy_work({ElementType::float32, 4}, base_bytes(device), block);
  const auto sectors = static_cast<double>(work.loads.sectors);
  work.loads_counted = false;
  Case c = tiles_case(device, work, "cp.async", fmt::format("block:{}", block), "none", 16 * block,
                      block, suite, launch_async_copy);
  c.counters.push_back({"global_async_copy_sectors", sectors, 0, "bytes / 32"});
  return c;
}

Case bulk_case(const DeviceFacts& device, int tile_bytes, bool evict_last, Suite suite) {
  // A block keeps its whole tile in flight, by one thread, and as many blocks are resident as their
  // tiles leave room for.
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
                    hint, tile_bytes, 32, suite, [=](const CopyRun& run, cudaStream_t stream) {
                      launch_bulk_copy(run, tile_bytes, evict_last, stream);
                    });
}

}  // namespace

std::vector<Case> async_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  if (device.major >= 8) {
    cases.push_back(async_case(device, 256, Suite::quick));
    cases.push_back(async_case(device, 512, Suite::standard));
  }
  if (device.major >= 9) {
    for (const bool evict_last : {true, false}) {
      for (const int tile : {2048, 4096, 16384}) {
        const bool quick = evict_last && tile == 2048;
        cases.push_back(bulk_case(device, tile, evict_last, quick_if(quick)));
      }
    }
  }
  return cases;
}

std::vector<Case> mix_cases(const DeviceFacts& device) {
  using enum ElementType;
  std::vector<Case> cases{mix_case(device, Mix::read, float32, Suite::quick),
                          mix_case(device, Mix::write, float32, Suite::quick)};
  for (const ElementType type : {float32, float64}) {
    for (const Mix mix : {Mix::scale, Mix::add, Mix::triad}) {
      const bool quick = mix == Mix::triad && type == float32;
      cases.push_back(mix_case(device, mix, type, quick_if(quick)));
    }
  }
  return cases;
}

}  // namespace fathom::copy_bandwidth
