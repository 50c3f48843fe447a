// Base offsets, strides, rows along and across the lanes.

#include <fmt/format.h>

#include <algorithm>

#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {
namespace {

constexpr int threads = 256;

Case offset_case(const DeviceFacts& device, int vector, std::size_t offset, Suite suite) {
  const CopyShape shape{ElementType::float32, vector};
  Case c = bandwidth_case(device, fmt::format("offset/vector:{}/offset:{}B", vector, offset),
                          copy_work(shape, base_bytes, threads, offset));
  c.axes = {{"sweep", "offset"},
            {"bytes per thread", std::int64_t{pack_bytes(shape)}},
            {"base offset (B)", static_cast<std::int64_t>(offset)},
            {"block", std::int64_t{threads}},
            {"size", static_cast<std::int64_t>(base_bytes)}};
  c.suite = suite;
  c.prepare = [shape, offset](Context& context) {
    return copy_workload(
        context, base_bytes, threads,
        [shape](const CopyRun& run, cudaStream_t stream) { launch_copy(shape, run, stream); },
        offset);
  };
  return c;
}

Workload strided_workload(Context& context, StridedRun run) {
  cudaStream_t stream = context.stream();
  const bool loads = run.side == Strided::loads;
  const std::size_t near = run.packs * run.pack_bytes;
  const Buffer src = source_buffer(context, loads ? near * run.stride : near);
  const Buffer dst = destination_buffer(context, loads ? near : near * run.stride);
  run.src = src.data;
  run.dst = dst.data;
  Workload workload;
  workload.launch = [=] { launch_strided_copy(run, stream); };
  workload.poison = poisoning(context, {dst});
  workload.verify = [=, &context] {
    return checked(
        context, [&](unsigned long long* wrong) { launch_check_strided_copy(run, wrong, stream); },
        "words of the destination");
  };
  return workload;
}

/// The strided side spans 1 GiB, so that a larger stride means fewer packs.
Case strided_case(const DeviceFacts& device, Strided side, int pack, unsigned stride, Suite suite) {
  const bool loads = side == Strided::loads;
  StridedRun run{.pack_bytes = pack, .stride = stride, .side = side, .threads = threads};
  run.packs = base_bytes / stride / pack;
  const auto strided_bytes = static_cast<std::uint64_t>(pack) * stride;
  const models::StreamPattern contiguous{
      .accesses = run.packs, .bytes_per_instruction = pack, .threads_per_block = threads};
  models::StreamPattern strided = contiguous;
  strided.stride_bytes = strided_bytes;
  Work work;
  work.read_bytes = work.write_bytes = run.packs * pack;
  work.loads = models::stream_cost(loads ? strided : contiguous);
  work.stores = models::stream_cost(loads ? contiguous : strided);
  work.bytes_per_access = pack;
  work.threads = threads;
  work.grid_threads = run.packs;
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
  work.footprint = base_bytes;
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

constexpr std::uint32_t rows = 1u << 18, columns = 1u << 10;

Workload row_workload(Context& context, RowRun run) {
  cudaStream_t stream = context.stream();
  const Buffer src = source_buffer(context, std::size_t{rows} * columns * 4);
  const Buffer dst = destination_buffer(context, std::size_t{rows} * 4);
  run.src = src.as<std::uint32_t>();
  run.dst = dst.as<std::uint32_t>();
  Workload workload;
  workload.launch = [=] { launch_fold_rows(run, stream); };
  workload.poison = poisoning(context, {dst});
  workload.verify = [=, &context] {
    return checked(
        context, [&](unsigned long long* wrong) { launch_check_rows(run, wrong, stream); }, "rows");
  };
  return workload;
}

Case row_case(const DeviceFacts& device, bool along) {
  RowRun run{.rows = rows, .columns = columns, .threads = threads};
  run.row_step = along ? 1 : columns;
  run.column_step = along ? rows : 1;
  Work work;
  work.read_bytes = std::size_t{rows} * columns * 4;
  work.write_bytes = std::size_t{rows} * 4;
  // Each turn of the loop is one access of every thread.
  const models::StreamCost turn = models::stream_cost(
      {.accesses = rows, .stride_bytes = run.row_step * 4, .threads_per_block = threads});
  work.loads = {turn.sectors * columns, turn.requests * columns, turn.bytes * columns};
  work.stores = models::stream_cost({.accesses = rows, .threads_per_block = threads});
  work.bytes_per_access = 4;
  work.unroll = 4;
  work.threads = threads;
  work.grid_threads = rows;
  work.streams_through_dram = along;
  Case c = bandwidth_case(device, along ? "rows/along" : "rows/across", work);
  if (!along) {
    // The bound is what any order of reading has. A row's sector is asked for eight times, and
    // finds itself in the L2 at best: the L1 is far too small for a sector of every row in flight.
    const models::StreamParameters parameters;
    const double l2 = device.sms * device.sm_clock_max_hz * parameters.l2_bytes_per_clock *
                      parameters.l2_efficiency;
    const double from_l2 = static_cast<double>(work.loads.sectors) * models::sector_bytes;
    c.expected->value = static_cast<double>(work.read_bytes + work.write_bytes) * l2 / from_l2;
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

std::vector<Case> place_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const std::size_t offset : {0, 4, 8, 16, 32, 64, 128}) {
    const bool quick = offset == 0 || offset == 4 || offset == 32;
    cases.push_back(offset_case(device, 1, offset, quick_if(quick)));
  }
  for (const std::size_t offset : {0, 16, 32, 64, 128})
    cases.push_back(offset_case(device, 4, offset, Suite::standard));
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

}  // namespace fathom::copy_bandwidth
