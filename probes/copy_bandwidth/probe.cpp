#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "harness/probe.h"
#include "probes/claims.h"
#include "probes/copy_bandwidth/cases.h"

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

Work copy_work(const CopyShape& shape, std::size_t bytes, int threads, std::size_t offset) {
  const int width = pack_bytes(shape);
  Work work;
  work.stream.read_bytes = work.stream.write_bytes = bytes;
  work.stream.bytes_per_access = width;
  work.stream.threads = bytes / width / shape.unroll;
  work.stream.threads_per_block = threads;
  work.unroll(shape.unroll);
  work.loads = work.stores =
      models::contiguous_cost(bytes, width, element_bytes(shape.type), offset, threads);
  work.streams_through_dram = true;
  return work;
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

Workload copy_workload(Context& context, std::size_t bytes, int threads, const CopyLauncher& launch,
                       std::size_t offset) {
  cudaStream_t stream = context.stream();
  const Buffer src = source_buffer(context, offset + bytes);
  const Buffer dst = destination_buffer(context, offset + bytes);
  const CopyRun run{src.data + offset, dst.data + offset, bytes, threads};
  return workload_of(
      context, {dst}, [=] { launch(run, stream); },
      [=] { return check_copied(run.src, run.dst, bytes, stream); });
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

}  // namespace fathom::copy_bandwidth

FATHOM_PROBE(fathom::copy_bandwidth::probe)
