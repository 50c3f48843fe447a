// Contiguous copies: head to head, by width, type, block, unrolling, tail, size, hint, alignment.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "harness/counters/catalogue.h"
#include "harness/cuda_check.h"
#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {
namespace {

struct Contiguous {
  const char* sweep;
  std::string name;
  CopyShape shape;
  std::size_t bytes = 0;  ///< 0: base_bytes
  int threads = 256;
  bool quick = false;
  bool one_by_one = false;  ///< a thread stores each access before it loads the next
  std::size_t offset = 0;   ///< of both sides
};

Case copy_case(const DeviceFacts& device, Contiguous what) {
  if (what.bytes == 0) what.bytes = base_bytes(device);
  Work work = copy_work(what.shape, what.bytes, what.threads, what.offset);
  if (what.one_by_one) work.stream.independent_loads = 1;
  Case c = bandwidth_case(device, what.name, work, what.quick);
  c.axes = {{"sweep", what.sweep},
            {"type", name_of(what.shape.type)},
            {"vector", std::int64_t{what.shape.vector}},
            {"bytes per thread", std::int64_t{pack_bytes(what.shape)}},
            {"unroll", std::int64_t{what.shape.unroll}},
            {"block", std::int64_t{what.threads}},
            {"size", static_cast<std::int64_t>(what.bytes)},
            {"load hint", name_of(what.shape.load)},
            {"store hint", name_of(what.shape.store)}};
  c.prepare = [what](Context& context) {
    return copy_workload(
        context, what.bytes, what.threads,
        [what](CopyRun run, cudaStream_t stream) {
          run.one_by_one = what.one_by_one;
          launch_copy(what.shape, run, stream);
        },
        what.offset);
  };
  return c;
}

CopyShape float4_with(LoadHint load, StoreHint store = StoreHint::none) {
  return {ElementType::float32, 4, 1, load, store};
}

Contiguous by_width(const char* sweep, const CopyShape& shape, int threads, bool quick) {
  return {.sweep = sweep,
          .name = fmt::format("type:{}/vector:{}/unroll:{}/block:{}", name_of(shape.type),
                              shape.vector, shape.unroll, threads),
          .shape = shape,
          .threads = threads,
          .quick = quick};
}

/// Where the stall behind V2 sits (V8), and where it does not to compare.
void add_stalls(Case& c) {
  for (const Role& role : roles())
    if (role.name.starts_with("stall_")) c.counters.push_back({role.name});
  const SourceLines lines = plain_copy_lines();
  const char* file = "copy_kernels.cu";
  c.line_shares = {{"stall_share_load", file, {lines.load_call, lines.load}},
                   {"stall_share_store", file, {lines.store_call, lines.store}}};
}

// V9: a 16-byte access to an address that is no multiple of 16. No CUDA context survives the error
// that it ends with, so a process of its own makes it: this program, started again.

/// Behind an aligned address: enough for each narrower access.
constexpr std::size_t misaligned_by = 8;
/// How long the process may take, CUDA's start on a host with many GPUs included. Then it ends.
constexpr unsigned limit_s = 60;

std::optional<std::string> run_misaligned(const DeviceFacts& device, Entry& entry) {
  entry.iterations = 1;
  std::string why_not =
      why_no_access(device.fingerprint.compute_mode, std::getenv("CUDA_MPS_PIPE_DIRECTORY"));
  int status = -1;
  if (why_not.empty()) {
    // It inherits which GPUs are visible, so their numbers are the same.
    std::string words[] = {"probe_copy_bandwidth", "--child", "--device",
                           std::to_string(device.ordinal)};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                         nullptr};
    pid_t child = 0;
    // Not fork, after which nothing of CUDA works.
    const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ);
    if (error != 0)
      why_not = fmt::format("the process that makes the misaligned access could not be started: {}",
                            std::strerror(error));
    else
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  }
  report_access(status, std::move(why_not), entry);
  return std::nullopt;
}

}  // namespace

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

std::vector<Case> best_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  const LoadHint hint =
      has_hint(LoadHint::evict_last, device.major) ? LoadHint::evict_last : LoadHint::none;
  const std::size_t base = base_bytes(device);
  for (const std::size_t bytes : {4 * gib, base}) {  // the larger first: see source_buffer
    if (bytes > base && !has_room_for_4_gib(device)) continue;
    for (const int threads : {320, 256}) {
      Case c = copy_case(device,
                         {"best", fmt::format("best/block:{}/size:{}", threads, size_name(bytes)),
                          float4_with(hint), bytes, threads, threads == 320});
      const auto opponent = [&](const char* name, auto launch) {
        c.opponents.push_back(
            {name, [=](Context& context) { return copy_workload(context, bytes, 0, launch); }});
      };
      opponent("cudaMemcpyAsync", launch_memcpy);
      opponent("cub::DeviceTransform float", launch_transform<float>);
      opponent("cub::DeviceTransform double", launch_transform<double>);
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

std::vector<Case> width_cases(const DeviceFacts& device) {
  using enum ElementType;
  std::vector<Case> cases;
  // V1 to V3, V5 to V7: one type for each width.
  const CopyShape widths[] = {{int8, 1},    {half, 1},    {float32, 1},
                              {float32, 2}, {float32, 4}, {float32, 8}};
  for (const int threads : {64, 128, 256, 512, 1024}) {
    for (const CopyShape& shape : widths) {
      const bool quick = threads == 256 || threads == 1024;
      Case c = copy_case(device, by_width("width", shape, threads, quick));
      const int bytes = pack_bytes(shape);
      if (quick && (bytes == 2 || bytes == 4 || bytes == 16)) add_stalls(c);
      cases.push_back(std::move(c));
    }
  }
  // The common types and their vectors; those above are not repeated.
  for (const CopyShape& shape : all_shapes)
    if (shape.type != float32 && shape == CopyShape{shape.type, shape.vector} &&
        std::ranges::find(widths, shape) == std::end(widths))
      cases.push_back(copy_case(device, by_width("type", shape, 256, false)));
  // V4: each element stored before the next is loaded; and all loads before the stores.
  for (const int unroll : {4, 16}) {
    Contiguous what = by_width("loop", {half, 1, unroll}, 1024, true);
    what.name = "one-by-one/" + what.name;
    what.one_by_one = true;
    cases.push_back(copy_case(device, what));
  }
  for (const int threads : {1024, 256}) {
    for (const CopyShape& shape : all_shapes) {
      if (shape.unroll == 1) continue;
      const bool quick = threads == 1024 && shape.type == half && shape.unroll >= 16;
      cases.push_back(copy_case(device, by_width("unroll", shape, threads, quick)));
    }
  }
  return cases;
}

std::vector<Case> offset_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const int vector : {1, 4}) {
    for (const std::size_t offset : {0, 4, 8, 16, 32, 64, 128}) {
      if (offset % (4 * vector) != 0) continue;  // packs are aligned
      const bool quick = vector == 1 && (offset == 0 || offset == 4 || offset == 32);
      cases.push_back(
          copy_case(device, {.sweep = "offset",
                             .name = fmt::format("offset/vector:{}/offset:{}B", vector, offset),
                             .shape = {ElementType::float32, vector},
                             .quick = quick,
                             .offset = offset}));
      cases.back().axes = {{"sweep", "offset"},
                           {"bytes per thread", 4 * vector},
                           {"base offset (B)", static_cast<std::int64_t>(offset)},
                           {"block", 256},
                           {"size", static_cast<std::int64_t>(base_bytes(device))}};
    }
  }
  return cases;
}

std::vector<Case> tail_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const ElementType type : {ElementType::float32, ElementType::half}) {
    const int element = element_bytes(type), vector = 16 / element;
    for (const int more : {0, -1, 1}) {
      const std::size_t bytes = base_bytes(device) + static_cast<std::size_t>(more * element);
      Case c = copy_case(device, {"tail",
                                  fmt::format("tail/type:{}/n{:+}", name_of(type), more),
                                  {type, vector},
                                  bytes,
                                  256,
                                  type == ElementType::float32});
      c.axes.emplace_back("elements beyond n", std::int64_t{more});
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

std::vector<Case> size_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  constexpr std::size_t kib = 1024, mib = 1024 * kib;
  for (const std::size_t bytes :
       {64 * kib, 256 * kib, mib, 4 * mib, 8 * mib, 16 * mib, 32 * mib, 64 * mib, 128 * mib,
        256 * mib, 512 * mib, gib, 2 * gib, 4 * gib}) {
    if (bytes > base_bytes(device) && !has_room_for_4_gib(device)) continue;
    const bool quick = bytes == mib || bytes == 16 * mib || bytes == 256 * mib;
    cases.push_back(copy_case(device, {"size", "size:" + size_name(bytes),
                                       float4_with(LoadHint::none), bytes, 256, quick}));
  }
  return cases;
}

std::vector<Case> hint_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  for (const CopyShape& shape : all_shapes) {
    if (shape == float4_with(shape.load, shape.store) && has_hint(shape.load, device.major) &&
        has_hint(shape.store, device.major))
      cases.push_back(copy_case(
          device,
          {"hint", fmt::format("hint/load:{}/store:{}", name_of(shape.load), name_of(shape.store)),
           shape}));
  }
  return cases;
}

ExitCode make_misaligned_access(int device) {
  alarm(limit_s);
  FATHOM_CUDA(cudaSetDevice(device));
  constexpr std::size_t bytes = 4096;
  void* memory = nullptr;
  FATHOM_CUDA(cudaMalloc(&memory, 3 * bytes));
  FATHOM_CUDA(cudaMemset(memory, 1, 3 * bytes));
  auto* const from = static_cast<std::byte*>(memory);
  const auto copy = [&](std::size_t offset) {
    launch_copy({ElementType::float32, 4}, {from + offset, from + 2 * bytes, bytes}, nullptr);
    return cudaDeviceSynchronize();
  };
  FATHOM_CUDA(copy(0));  // nothing is wrong but the address
  const cudaError_t error = copy(misaligned_by);
  if (error == cudaErrorMisalignedAddress) return ExitCode::check_failed;
  FATHOM_CUDA(error);
  return ExitCode::ok;
}

std::vector<Case> misaligned_cases(const DeviceFacts&) {
  Case c;
  c.name = "misaligned/bytes:16/offset:" + size_name(misaligned_by);
  c.axes = {{"sweep", "misaligned"},
            {"bytes per thread", 16},
            {"base offset (B)", static_cast<std::int64_t>(misaligned_by)}};
  c.metric = {"faults", "launches", Better::higher, std::nullopt};
  c.expected = Expectation{1, 0, "an access of 16 bytes needs an address that 16 divides"};
  c.mode =
      Campaign{.roles = {},
               .run = [](Context& context, CounterSession*, const std::string&, const KeepGoing&,
                         Entry& entry) { return run_misaligned(context.device(), entry); },
               .for_a_claim = true};
  return {c};
}

}  // namespace fathom::copy_bandwidth
