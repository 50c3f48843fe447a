#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/cases.h"
#include "models/instruction_throughput.h"
#include "models/shared_memory.h"
#include "probes/warp_reduce/kernels.h"
#include "results/statistics.h"

namespace fathom::warp_reduce {
namespace {

constexpr int lanes = models::warp_size;
constexpr int throughput_warps = 32;
/// Enough that reading the clock twice is below a part in a thousand.
constexpr int reductions = 2048;

/// Latency in cycles of a dependent addition and a shared-memory load: 4 and, in double precision
/// with a full set of such units, 8 on a V100 (Jia et al., arXiv 1804.06826, table 4.1; an H100 has
/// the same), 29 from shared memory of an H100 (models/published.cpp).
constexpr double addition_latency = 4, double_addition_latency = 8, shared_latency = 29;
/// We know of no published figure for a shuffle or for the integer instruction. Fathom measured on
/// an H200 (recordings/h200) 145.7 cycles for five shuffles with their additions, and 46.1.
constexpr double shuffle_latency = 25, reduce_add_latency = 46;
constexpr double tolerance = 0.25;  ///< covers what differs between chips
constexpr int steps = 5;

const char* name_of(WarpMethod method) {
  constexpr const char* names[] = {"shuffle-xor", "shuffle-down", "reduce-add", "shared-tree",
                                   "shared-butterfly"};
  return names[static_cast<int>(method)];
}

template <class T>
using Warp = std::array<T, lanes>;

/// One reduction, lane by lane, in the order in which the method adds.
template <class T>
Warp<T> reduced(WarpMethod method, Warp<T> x) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const Warp<T> before = x;
    for (int lane = 0; lane < lanes; ++lane) {
      // Beyond the last lane shuffle-down gives a lane its own value back.
      const int down = lane + distance < lanes ? lane + distance : lane;
      if (method == WarpMethod::shuffle_down)
        x[lane] += before[down];
      else if (method != WarpMethod::shared_tree)
        x[lane] += before[lane ^ distance];
      else if (lane < distance)
        x[lane] += before[down];
    }
  }
  if (method == WarpMethod::shared_tree) x.fill(x[0]);
  return x;
}

/// What every lane must hold at the end, exactly: additions are in the GPU's order, and the
/// renormalisation is exact.
template <class T>
std::optional<std::string> verify(const WarpStage& stage, const Buffer& out, cudaStream_t stream) {
  const int repeated = reductions_per_round(stage.type);
  Warp<T> expected[max_chains];
  for (int chain = 0; chain < stage.chains; ++chain) {
    Warp<T>& x = expected[chain];
    for (int lane = 0; lane < lanes; ++lane) x[lane] = static_cast<T>(start_value(lane, chain));
    for (int round = 0; round < stage.rounds; ++round) {
      for (int i = 0; i < repeated; ++i) x = reduced(stage.method, x);
      for (T& value : x)
        for (int i = 0; i < repeated; ++i) value /= 32;
    }
  }
  return check_elements<T>(out, stream, "the value of lane", [&](std::size_t i) {
    return expected[i / lanes % stage.chains][i % lanes];
  });
}

Workload prepare(Context& context, const WarpStage& stage) {
  const int blocks = context.device().sms;
  cudaStream_t stream = context.stream();
  const std::size_t warps = static_cast<std::size_t>(blocks) * stage.warps;
  const Buffer clocks = context.buffers().output("clocks", warps * 2 * sizeof(long long));
  const Buffer out =
      context.buffers().output("lanes", warps * stage.chains * lanes * element_bytes(stage.type));
  const auto check = stage.type == Element::f32   ? verify<float>
                     : stage.type == Element::i32 ? verify<std::uint32_t>
                                                  : verify<double>;
  Workload workload = workload_of(
      context, {out, clocks},
      [=] { launch_warp_stage(stage, blocks, clocks.as<long long>(), out.data, stream); },
      [=] { return check(stage, out, stream); });
  // A block's time over all its reductions; the median over the SMs.
  workload.read_sample = [=] {
    return median(clocks_of_blocks(copy_to_host<long long>(clocks, stream), stage.warps)) /
           (double{reductions} * stage.warps * stage.chains);
  };
  return workload;
}

/// Shared-memory work of one reduction: instructions and wavefronts, of loads and of stores.
struct SharedWork {
  int instructions[2] = {}, wavefronts[2] = {};
};

SharedWork shared_work(const WarpStage& stage) {
  using enum models::Access;
  SharedWork work;
  const int bytes = element_bytes(stage.type);
  const auto access = [&](models::Access op, int active) {
    const std::uint32_t mask = models::all_lanes >> (lanes - active);
    ++work.instructions[op == store];
    work.wavefronts[op == store] +=
        models::shared_cost(models::masked(models::strided(op, bytes, bytes), mask)).wavefronts;
  };
  const bool tree = stage.method == WarpMethod::shared_tree;
  if (tree) access(store, lanes);
  for (int active = lanes / 2; active > 0; active /= 2) {
    if (!tree) access(store, lanes);
    access(load, tree ? active : lanes);
    if (tree) access(store, active);
  }
  if (tree) access(load, 1);  // every lane reads the one sum: a broadcast
  return work;
}

std::vector<CounterRequest> counters_of(const WarpStage& stage, const DeviceFacts& device) {
  if (!stage.in_shared()) return {};
  const double count = static_cast<double>(device.sms) * stage.warps * stage.chains * reductions;
  const SharedWork work = shared_work(stage);
  const char* model = "shared-memory model of the reduction's accesses";
  const auto& [loads, stores] = work.instructions;
  const auto& [load_wavefronts, store_wavefronts] = work.wavefronts;
  return {{"shared_load_instructions", count * loads, 0, model},
          {"shared_store_instructions", count * stores, 0, model},
          {"shared_load_wavefronts", count * load_wavefronts, 0, model},
          {"shared_store_wavefronts", count * store_wavefronts, 0, model},
          {"shared_load_conflicts", 0, 0, "contiguous lanes: no conflict"},
          {"shared_store_conflicts", 0, 0, "contiguous lanes: no conflict"}};
}

/// Cycles of an SM for each of many reductions at once; nothing where no guide has the rate.
std::optional<Expectation> expected_throughput(const WarpStage& stage, const DeviceFacts& device) {
  using models::NativeOperation;
  if (stage.shuffles()) {
    const int shuffles = steps * element_bytes(stage.type) / 4;
    const auto rate =
        models::native_throughput(NativeOperation::warp_shuffle, device.major, device.minor);
    if (!rate) return std::nullopt;
    return Expectation{shuffles * lanes / *rate, tolerance,
                       fmt::format("{} shuffles of 32 bits, {} lanes a clock and SM ({})", shuffles,
                                   *rate, models::native_throughput_source)};
  }
  if (stage.method == WarpMethod::reduce_add) {
    // The guides of 8.0 and 8.6 have it, and an H200 measures the same (recordings/h200).
    const auto rate = models::native_throughput(NativeOperation::warp_reduce, 8, 0);
    return Expectation{lanes / rate.value(), tolerance,
                       fmt::format("one instruction, {} lanes of it a clock and SM (CUDA C++ "
                                   "Programming Guide 11.7, table 3, for 8.0)",
                                   *rate)};
  }
  const auto [loads, stores] = shared_work(stage).wavefronts;
  return Expectation{
      static_cast<double>(loads + stores), tolerance,
      fmt::format("{} wavefronts of loads and {} of stores, one a clock and SM", loads, stores)};
}

/// Cycles of one reduction alone; nothing for double precision where the chip has few such units.
std::optional<Expectation> expected_latency(const WarpStage& stage, const DeviceFacts& device) {
  if (stage.method == WarpMethod::reduce_add)
    return Expectation{reduce_add_latency, tolerance, "what Fathom measured on an H200"};
  const bool in_double = stage.type == Element::f64;
  const bool full_double = device.minor == 0 && device.major < 12;
  if (in_double && !full_double) return std::nullopt;
  const double addition = in_double ? double_addition_latency : addition_latency;
  const double exchange = stage.in_shared() ? shared_latency : shuffle_latency;
  const bool reads_once_more = stage.method == WarpMethod::shared_tree;
  return Expectation{
      steps * (exchange + addition) + (reads_once_more ? shared_latency : 0), tolerance,
      fmt::format("{} dependent exchanges and additions of {} and {} cycles{}: additions as Jia et "
                  "al. have them of a V100, {}",
                  steps, exchange, addition, reads_once_more ? ", and one more exchange" : "",
                  stage.in_shared() ? "shared memory as published of an H100"
                                    : "a shuffle as Fathom measured it on an H200")};
}

Case make_case(const WarpStage& stage, const DeviceFacts& device) {
  const bool latency = stage.warps == 1;
  const char* mode = latency ? "latency" : "throughput";
  Case c;
  c.name = fmt::format("warp/{}/type:{}/{}", name_of(stage.method), name_of(stage.type), mode);
  c.axes = {{"part", "warp stage"},
            {"method", name_of(stage.method)},
            {"type", name_of(stage.type)},
            {"mode", mode}};
  const bool quick = stage.type == Element::f32 ||
                     (stage.type == Element::i32 && (stage.method == WarpMethod::shuffle_xor ||
                                                     stage.method == WarpMethod::reduce_add));
  c.suite = quick_if(quick);
  c.metric = {"cycles_per_reduction", "cycles", Better::lower, std::nullopt};
  c.expected = latency ? expected_latency(stage, device) : expected_throughput(stage, device);
  if (!latency && stage.shuffles() && c.expected)
    c.bound = Bound{c.expected->value, c.expected->model};
  c.counters = counters_of(stage, device);
  c.prepare = [stage](Context& context) { return prepare(context, stage); };
  return c;
}

// R3: the published block stage, with ones, as its author checked it, and with random data.

constexpr int stage_blocks = 64;

std::optional<std::string> run_block_stage(Context& context, bool random, Entry& entry) {
  constexpr int threads = block_stage_threads;
  // Five steps of the shuffle and one for each further warp, u = 2^-24, of values up to 1.
  constexpr double allowed = (5 + threads / 32 - 1) * 0x1p-24 * threads;
  std::mt19937_64 generator(context.seed());
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(stage_blocks * threads, 1.0f);
  if (random) std::ranges::generate(values, [&] { return uniform(generator); });
  const Buffer source = upload(context, "block stage's input", std::as_bytes(std::span(values)));
  const Buffer sums = context.buffers().output("block stage's sums", stage_blocks * sizeof(float));
  // How many of the blocks' sums are wrong by more than rounding explains; a NaN is.
  const auto wrong_sums = [&](bool published) {
    context.buffers().poison(sums);
    launch_block_stage(published, source.as<float>(), sums.as<float>(), stage_blocks,
                       context.stream());
    const auto found = copy_to_host<float>(sums, context.stream());
    int wrong = 0;
    for (int block = 0; block < stage_blocks; ++block) {
      const auto first = values.begin() + block * threads;
      const double right = std::accumulate(first, first + threads, 0.0);
      if (!(std::abs(found[block] - right) <= allowed)) ++wrong;
    }
    return wrong;
  };
  entry.iterations = stage_blocks;
  if (const int wrong = wrong_sums(false))
    return std::to_string(wrong) + " sums of the mended block stage are wrong";
  entry.metric.value = wrong_sums(true);
  return std::nullopt;
}

}  // namespace

std::vector<Case> warp_stage_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  for (const Element type : {Element::f32, Element::i32, Element::f64}) {
    for (const WarpMethod method :
         {WarpMethod::shuffle_xor, WarpMethod::shuffle_down, WarpMethod::reduce_add,
          WarpMethod::shared_tree, WarpMethod::shared_butterfly}) {
      const bool instruction = method == WarpMethod::reduce_add;
      if (instruction && (type != Element::i32 || device.major < 8)) continue;
      const int rounds = reductions / reductions_per_round(type);
      result.push_back(make_case({method, type, 1, 1, rounds}, device));
      result.push_back(make_case({method, type, throughput_warps, max_chains, rounds}, device));
    }
  }
  return result;
}

std::vector<Case> block_stage_cases(const DeviceFacts&) {
  std::vector<Case> cases;
  for (const bool random : {false, true}) {
    const char* data = random ? "random" : "ones";
    Case& c = cases.emplace_back();
    c.name = fmt::format("block-stage/data:{}", data);
    c.axes = {{"part", "block stage"}, {"data", data}};
    c.suite = Suite::quick;
    c.metric = {"wrong sums", "blocks", Better::lower, std::nullopt};
    c.extras = {{"blocks", stage_blocks}};
    c.mode = Campaign{
        .roles = {},
        .run = [random](Context& context, CounterSession*, const std::string&, const KeepGoing&,
                        Entry& entry) { return run_block_stage(context, random, entry); },
        .for_a_claim = true};
  }
  return cases;
}

}  // namespace fathom::warp_reduce
