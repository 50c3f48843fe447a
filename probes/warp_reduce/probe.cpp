#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/cases.h"
#include "models/global_memory.h"
#include "probes/claims.h"
#include "probes/warp_reduce/kernels.h"

namespace fathom::warp_reduce {
namespace {

constexpr std::size_t KiB = 1024, MiB = KiB * KiB, GiB = KiB * MiB;

constexpr double model_tolerance = 0.25;  ///< of the streaming model by its default parameters
/// What a sum takes beside the stream: clearing the result or the counters, and adding up the
/// blocks' sums. Fitted to sums of 1 KiB to 16 MiB on an H200, which take 1.4 to 2.2 us more.
constexpr double combining_seconds = 1.9e-6;
constexpr std::size_t dram_sized = GiB;  ///< from here on DRAM must have moved every byte
/// A cold launch is one whose input the L2 cannot hold anyway: below, the flush would be measured
/// against a working set that in practice would be found there.
constexpr std::size_t cold_multiple_of_l2 = 4;

const char* name_of(Recipe recipe) {
  constexpr const char* names[] = {"tile", "loop", "scalar-loop", "dynamic"};
  return names[static_cast<int>(recipe)];
}

Fill fill_of(Element element) {
  constexpr Fill fills[] = {Fill::uniform_float, Fill::uniform_double, Fill::random_bits,
                            Fill::uniform_half, Fill::uniform_bfloat16};
  return fills[static_cast<int>(element)];
}

/// One sum of the sweep: `bytes` of elements and `more` elements beside them, `offset` elements
/// behind a 4096-byte boundary.
struct Sum {
  SumKernel kernel;
  std::size_t bytes = GiB;
  bool quick = false;
  bool against_cub = false;
  int more = 0;
  int offset = 0;

  std::size_t elements() const { return bytes / element_bytes(kernel.element) + more; }
  std::size_t offset_bytes() const {
    return static_cast<std::size_t>(offset) * element_bytes(kernel.element);
  }
  SumLayout layout() const {
    return sum_layout(offset_bytes(), elements(), element_bytes(kernel.element), kernel.threads);
  }
};

constexpr std::size_t partial_sums = std::size_t{reference_blocks} * reference_threads;

/// How far a sum of `elements` random values in [-1, 1) may be from the exact one, as an absolute
/// error. Such values have a variance of 1/3, so that a partial sum of m of them is of the size
/// sqrt(m / 3); an addition errs by at most u times its result, u = 2^-24 for float and 2^-53 for
/// double; and roundings behave as if independent, so that their squares add up (Higham and Mary,
/// "A new approach to probabilistic rounding error analysis", 2019). Added over a thread's
/// elements, a block's threads and the grid's blocks one after the other:
///   variance <= u^2 * elements / 3 * (elements per thread + threads per block + blocks)
/// The tolerance is ten times its root. It is far below what one missing tile would change; a
/// single missing element of a large sum is for the integers to show, whose sums are exact.
double sum_tolerance(Element element, double elements, double threads_per_block, double blocks) {
  constexpr double in_float = 0x1p-24, in_double = 0x1p-53, standard_deviations = 10;
  const auto deviation = [&](double unit_roundoff, double terms) {
    return unit_roundoff * std::sqrt(elements / 3 * terms);
  };
  const double per_thread = elements / (threads_per_block * blocks);
  const double own = deviation(element == Element::f64 ? in_double : in_float,
                               per_thread + threads_per_block + blocks);
  // The reference rounds too; its partial sums are added up with more than double's precision.
  return standard_deviations * (own + deviation(in_double, elements / partial_sums + 1));
}

/// A sum by a grid of so many threads and blocks, checked against the sum of what an independent
/// kernel leaves of the same data: integers must be equal modulo 2^32. `launch_of` makes the launch
/// of what it reads and where its result goes.
template <class LaunchOf>
Workload sum_workload(Context& context, const Sum& sum, const std::string& result_name,
                      double threads, double blocks, LaunchOf&& launch_of) {
  const Element element = sum.kernel.element;
  const std::size_t bytes = (sum.elements() + sum.offset) * element_bytes(element);
  const std::byte* source =
      context.buffers().input("source", bytes, fill_of(element)).data + sum.offset_bytes();
  const Buffer result = context.buffers().output(result_name, accumulator_bytes(element));
  const double tolerance =
      sum_tolerance(element, static_cast<double>(sum.elements()), threads, blocks);
  const Buffer partial = context.buffers().output("reference", partial_sums * sizeof(double));
  const auto error = std::make_shared<double>(0);
  const auto check = [=, stream = context.stream()]() -> std::optional<std::string> {
    launch_reference(element, source, sum.elements(), partial.data, stream);
    if (element == Element::i32) {
      const auto parts = copy_to_host<std::uint64_t>(partial, stream);
      const auto expected =
          static_cast<std::uint32_t>(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}));
      const std::uint32_t got = copy_to_host<std::uint32_t>(result.data, 1, stream)[0];
      if (got == expected) return std::nullopt;
      return fmt::format("the sum is {} instead of {} (modulo 2^32)", got, expected);
    }
    const auto parts = copy_to_host<double>(partial, stream);
    const long double expected = std::accumulate(parts.begin(), parts.end(), 0.0L);
    const double got = element == Element::f64 ? copy_to_host<double>(result.data, 1, stream)[0]
                                               : copy_to_host<float>(result.data, 1, stream)[0];
    *error = static_cast<double>(std::abs(got - expected));
    if (*error <= tolerance) return std::nullopt;  // false for a NaN too
    return fmt::format(
        "the sum is {} instead of {}, off by more than the {} that rounding explains", got,
        static_cast<double>(expected), tolerance);
  };
  Workload workload = workload_of(context, {result}, launch_of(source, result.data), check);
  if (element != Element::i32)
    workload.extras = [=] {
      return std::map<std::string, double>{{"absolute_error", *error},
                                           {"allowed_error", tolerance}};
    };
  return workload;
}

Workload prepare(Context& context, const Sum& sum, std::size_t blocks) {
  const Buffer state = context.buffers().output("dynamic state", sizeof(DynamicState));
  const Buffer block_sums =
      context.buffers().output("block sums", max_dynamic_blocks * sizeof(double));
  cudaStream_t stream = context.stream();
  FATHOM_CUDA(cudaMemsetAsync(state.data, 0, state.bytes, stream));
  return sum_workload(
      context, sum, "result", sum.kernel.threads, static_cast<double>(blocks),
      [&](const std::byte* source, std::byte* result) {
        const SumRun run{source, sum.layout(), result, state.as<DynamicState>(), block_sums.data};
        return [=, sms = context.device().sms] { launch_sum(sum.kernel, run, sms, stream); };
      });
}

Workload prepare_cub(Context& context, const Sum& sum, int count_bits) {
  const Element element = sum.kernel.element;
  const std::string suffix = fmt::format(" int{}", count_bits);
  std::size_t bytes = 0;
  cub_sum(element, nullptr, sum.elements(), count_bits, nullptr, nullptr, bytes, nullptr);
  const Buffer temporary =
      context.buffers().output("cub temporary" + suffix, std::max<std::size_t>(bytes, 1));
  // CUB's own shape is not ours to know: it has the tolerance of a grid as large as our largest.
  return sum_workload(context, sum, "cub result" + suffix, 512, 65536,
                      [&](const std::byte* source, std::byte* result) {
                        return [=, stream = context.stream()]() mutable {
                          bytes = temporary.bytes;
                          cub_sum(element, source, sum.elements(), count_bits, result,
                                  temporary.data, bytes, stream);
                        };
                      });
}

models::StreamCost loads_of(const Sum& sum, const SumLayout& layout, std::size_t blocks) {
  const int size = element_bytes(sum.kernel.element);
  const std::uint64_t start = sum.offset_bytes();
  const auto stream = [&](std::size_t accesses, int bytes, std::uint64_t offset) {
    return models::stream_cost({.accesses = accesses,
                                .bytes_per_instruction = bytes,
                                .base_offset = offset,
                                .threads_per_block = sum.kernel.threads});
  };
  if (sum.kernel.recipe == Recipe::scalar_loop) return stream(layout.elements, size, start);
  const std::uint64_t body = start + layout.head_elements * std::uint64_t(size);
  const std::uint64_t tail = body + layout.vectors * vector_bytes;
  models::StreamCost cost = stream(layout.head_elements, size, start) +
                            stream(layout.vectors, vector_bytes, body) +
                            stream(layout.tail_elements, size, tail);
  if (sum.kernel.recipe == Recipe::dynamic)  // the last block reads all blocks' sums
    cost += stream(blocks, accumulator_bytes(sum.kernel.element), 0);
  return cost;
}

std::vector<CounterRequest> counters_of(const Sum& sum, const SumLayout& layout,
                                        std::size_t blocks) {
  const models::StreamCost loads = loads_of(sum, layout, blocks);
  const auto requests = static_cast<double>(loads.requests);
  const char* model = "global-memory model of every load, head and tail included";
  std::vector<CounterRequest> counters{
      {"global_load_sectors", static_cast<double>(loads.sectors), 0, model},
      {"global_load_requests", requests, 0, model},
      {"global_load_instructions", requests, 0, model}};
  if (sum.kernel.recipe != Recipe::dynamic)
    counters.push_back({"global_reduction_requests", static_cast<double>(blocks), 0,
                        "one atomic addition a block"});
  if (sum.bytes >= dram_sized) {
    const double bytes = static_cast<double>(sum.elements()) * element_bytes(sum.kernel.element);
    counters.push_back({"dram_read_bytes", bytes, 0.01, "every element once"});
    counters.push_back({"achieved_occupancy"});
    counters.push_back({"stall_long_scoreboard"});
  }
  return counters;
}

Expectation expectation(const DeviceFacts& device, const Sum& sum, std::size_t blocks,
                        CacheState cache) {
  const Recipe recipe = sum.kernel.recipe;
  const int resident =
      std::min(resident_blocks(sum.kernel), recipe == Recipe::dynamic ? dynamic_blocks_per_sm : 64);
  const bool tiles = recipe == Recipe::tile || recipe == Recipe::dynamic;
  const int per_access =
      recipe == Recipe::scalar_loop ? element_bytes(sum.kernel.element) : vector_bytes;
  const double threads = static_cast<double>(blocks) * sum.kernel.threads;
  const models::StreamExpectation expected = expected_stream(
      device,
      {.read_bytes = sum.bytes,
       .write_bytes = 0,
       .bytes_per_access = per_access,
       .independent_loads = tiles ? double{vectors_per_batch} : 1.0,
       .accesses_per_thread = std::max(1.0, static_cast<double>(sum.bytes) / per_access / threads),
       .resident_threads_per_sm = std::max(1, resident) * sum.kernel.threads,
       .threads = static_cast<std::uint64_t>(threads),
       .hot = cache == CacheState::hot});
  return {static_cast<double>(sum.bytes) / (expected.seconds + combining_seconds), model_tolerance,
          fmt::format("{}; and {:.1f} us to clear and to combine", expected.sentence,
                      1e6 * combining_seconds)};
}

/// What sums and the copy have in common: bytes over time, against what the DRAM can move.
Case bandwidth_case(const DeviceFacts& device, std::string name, double bytes, bool bounded) {
  Case c;
  c.name = std::move(name);
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.value = rate(bytes);
  const DeviceBound& dram = bound(device, "dram_bandwidth");
  if (bounded) c.bound = Bound{dram.value, dram.source};
  return c;
}

Case make_case(const DeviceFacts& device, const Sum& sum) {
  const auto& [recipe, element, threads] = sum.kernel;
  const SumLayout layout = sum.layout();
  const std::size_t blocks = grid_blocks(sum.kernel, layout, device.sms);
  std::string name = fmt::format("sum/{}/type:{}/block:{}/size:{}", name_of(recipe),
                                 name_of(element), threads, size_name(sum.bytes));
  if (sum.more != 0) name += fmt::format("{:+}", sum.more);
  if (sum.offset != 0) name += fmt::format("/offset:{}", sum.offset);
  Case c =
      bandwidth_case(device, name, static_cast<double>(sum.elements()) * element_bytes(element),
                     sum.bytes >= dram_sized);
  const bool cold = sum.bytes >= cold_multiple_of_l2 * device.l2_bytes;
  c.cache = cold ? CacheState::cold : CacheState::hot;
  c.axes = {{"part", "sum"},
            {"recipe", name_of(recipe)},
            {"type", name_of(element)},
            {"block", threads},
            {"size (B)", static_cast<std::int64_t>(sum.bytes)},
            {"further elements", std::int64_t{sum.more}},
            {"offset (elements)", std::int64_t{sum.offset}},
            {"cache", cold ? "cold" : "hot"}};
  c.suite = quick_if(sum.quick);
  c.expected = expectation(device, sum, blocks, c.cache);
  c.extras = {{"blocks", static_cast<double>(blocks)}};
  c.counters = counters_of(sum, layout, blocks);
  c.prepare = [=](Context& context) { return prepare(context, sum, blocks); };
  if (!sum.against_cub || !cub_can_sum(element)) return c;
  for (const int bits : {32, 64})
    c.opponents.push_back({fmt::format("cub::DeviceReduce::Sum, int{} count", bits),
                           [=](Context& context) { return prepare_cub(context, sum, bits); }});
  return c;
}

/// What R1 calls copy bandwidth: the driver's copy, read and written bytes both counted.
Case copy_case(const DeviceFacts& device) {
  Case c = bandwidth_case(device, "copy/size:1GiB", 2.0 * GiB, true);
  c.axes = {{"part", "copy"},
            {"recipe", "cudaMemcpyAsync"},
            {"size (B)", static_cast<std::int64_t>(GiB)}};
  c.suite = Suite::quick;
  c.cache = CacheState::cold;
  const models::StreamExpectation expected =
      expected_stream(device, {.read_bytes = GiB,
                               .write_bytes = GiB,
                               .bytes_per_access = vector_bytes,
                               .independent_loads = vectors_per_batch});
  c.expected = Expectation{expected.bytes_per_second, model_tolerance, expected.sentence};
  c.prepare = [](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer source = context.buffers().input("source", GiB, Fill::uniform_float);
    const Buffer copy = context.buffers().output("copy", GiB);
    return copying(context, source, copy, [=] {
      FATHOM_CUDA(cudaMemcpyAsync(copy.data, source.data, GiB, cudaMemcpyDeviceToDevice, stream));
    });
  };
  return c;
}

/// The largest first: a buffer that grows between cases is a new one.
std::vector<Sum> sums(const DeviceFacts& device) {
  const SumKernel tile{}, dynamic{Recipe::dynamic}, loop{Recipe::loop, Element::f32, loop_threads},
      scalar{Recipe::scalar_loop, Element::f32, loop_threads};
  std::vector<Sum> result;
  if (device.memory_bytes >= 12 * GiB)
    for (const SumKernel& kernel : {tile, dynamic}) result.push_back({kernel, 4 * GiB, true, true});
  for (const SumKernel& kernel : {tile, dynamic, loop, scalar})
    result.push_back({kernel, GiB, true, true});
  for (const int threads : {128, 256, 1024})
    result.push_back({{Recipe::tile, Element::f32, threads}, GiB});
  for (const SumKernel& kernel : {tile, dynamic}) {
    for (std::size_t bytes = KiB; bytes < GiB; bytes *= 4) {
      const bool quick =
          kernel.recipe == Recipe::tile && (bytes == KiB || bytes == 64 * KiB || bytes == MiB ||
                                            bytes == 16 * MiB || bytes == 256 * MiB);
      result.push_back({kernel, bytes, quick, true});
    }
  }
  // Tails and starts between vectors; float for the speed, integers because their sums are exact.
  for (const Element element : {Element::f32, Element::i32}) {
    for (const auto& [more, offset] : {std::pair{-1, 0}, {1, 0}, {0, 1}, {2, 3}, {8191, 2}}) {
      const bool quick = element == Element::i32 && more == 2;
      result.push_back({{Recipe::tile, element}, GiB, quick, false, more, offset});
    }
    result.push_back({{Recipe::dynamic, element}, GiB, false, false, 2, 3});
    result.push_back({{Recipe::loop, element, loop_threads}, GiB, false, false, 2, 3});
  }
  for (const Element element : {Element::i32, Element::f64, Element::f16, Element::bf16}) {
    const bool quick = element == Element::i32 || element == Element::f64;
    result.push_back({{Recipe::tile, element}, GiB, quick, true});
    result.push_back({{Recipe::dynamic, element}, GiB, false, true});
  }
  return result;
}

std::vector<Case> sum_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const Sum& sum : sums(device)) result.push_back(make_case(device, sum));
  result.push_back(copy_case(device));
  return result;
}

const Probe probe{
    .name = "warp_reduce",
    .question =
        "Does a sum run at the speed of memory, and what is the cheapest way to add up a warp?",
    .method =
        "Sums of random data from 1 KiB to 4 GiB, timed with everything that they need, the "
        "zeroing of the result included, and alternately with cub::DeviceReduce::Sum; inputs of "
        "more than four times the L2 are read with the L2 flushed before. Results are held against "
        "an fp64 sum by another kernel: integers must be equal, floating point within ten standard "
        "deviations of what rounding explains. The warp stage is timed by clock64 in the kernel: "
        "one warp whose reductions each need the last one's result (latency), and 32 warps of two "
        "such chains on every SM (throughput); all lanes must hold the exact values. The published "
        "block stage adds up ones and random data, held against sums in double.",
    .conclude = conclude,
    .cases = {sum_cases, warp_stage_cases, block_stage_cases}};

}  // namespace
}  // namespace fathom::warp_reduce

FATHOM_PROBE(fathom::warp_reduce::probe)
