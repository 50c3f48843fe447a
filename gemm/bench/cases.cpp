#include "gemm/bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ranges>

#include "gemm/bench/shapes.h"
#include "models/gpu_table.h"
#include "models/instruction_throughput.h"

namespace fathom::gemm {
namespace {

/// What multiplies a class, FMA units, tensor cores or the faster, and the published peak.
struct Units {
  Class of;
  std::optional<models::NativeOperation> fma{};
  std::optional<models::TensorType> tensor{};
  models::Sourced<double> models::GpuSpec::*published = nullptr;
};
using models::GpuSpec, models::NativeOperation, models::TensorType;
constexpr Units units[] = {{Class::fp32, NativeOperation::f32_arithmetic},
                           {Class::fp64, NativeOperation::f64_arithmetic, TensorType::f64},
                           {Class::fp32_3xtf32, {}, TensorType::tf32},
                           {Class::tf32, {}, TensorType::tf32, &GpuSpec::tf32_flops},
                           {Class::fp16, {}, TensorType::f16, &GpuSpec::fp16_flops},
                           {Class::bf16, {}, TensorType::bf16, &GpuSpec::bf16_flops},
                           {Class::fp8, {}, TensorType::fp8, &GpuSpec::fp8_flops},
                           {Class::int8, {}, TensorType::s8, &GpuSpec::int8_ops}};

const Units& units_of(Class of) { return *std::ranges::find(units, of, &Units::of); }

/// Roles of counters that explain a step between rungs, and say how many bytes it moved.
constexpr const char* counters_of_a_step[] = {"global_load_sectors",      "global_load_requests",
                                              "shared_load_wavefronts",   "shared_load_conflicts",
                                              "shared_store_wavefronts",  "shared_store_conflicts",
                                              "l2_read_sectors",          "l2_write_sectors",
                                              "dram_read_bytes",          "dram_write_bytes",
                                              "fma_instructions",         "tensor_pipe_active",
                                              "instructions_executed",    "issue_active",
                                              "achieved_occupancy",       "stall_long_scoreboard",
                                              "stall_short_scoreboard",   "stall_mio_throttle",
                                              "stall_lg_throttle",        "stall_barrier",
                                              "stall_math_pipe_throttle", "stall_gmma",
                                              "stall_not_selected",       "global_store_sectors"};
/// Those that say how much the library moved, and where.
constexpr const char* counters_of_the_library[] = {
    "l2_read_sectors",  "l2_write_sectors",       "dram_read_bytes",
    "dram_write_bytes", "shared_load_wavefronts", "instructions_executed"};

/// Sectors that the blocks of a rung with a tile in shared memory read, each its own operands, of
/// whole tiles and lines of whole sectors: claim GT1. Nothing for asynchronous copies.
std::optional<double> tile_read_sectors(const Rung& rung, const Problem& p, const RungPlan& plan) {
  const RungKernel& k = plan.kernel;
  // Which of the variants' tiles it will be is not known yet.
  if (rung.of != Class::fp32 || rung.capability > 75 || !plan.own_path || !plan.variants.empty())
    return std::nullopt;
  if (k.tile_k <= 1 || k.tile_k % 8 != 0 || p.k % k.tile_k != 0 || p.n % k.tile_m != 0 ||
      p.m % k.tile_n != 0 || p.lda % 8 != 0 || p.ldb % 8 != 0)
    return std::nullopt;
  constexpr double elements_per_sector = 8;
  return p.flops() / 2 * (1.0 / k.tile_m + 1.0 / k.tile_n) / elements_per_sector;
}

/// What the cases of a part (ladder_cases) have in common.
struct Part {
  const char* name;
  /// A curve of many points: none of them needs what a headline needs.
  bool curve = false;
  /// With counters. The others' names end with the part: they may have the same product.
  bool counted = false;
  int samples = 24;  ///< at least, of a contender and its library
  double time_limit_s = 1;
  /// Seconds that a launch may take at the arithmetic peak: slow GPUs skip the largest products.
  double longest_launch_s = 0.25;
};
constexpr Part ladder{.name = "ladder", .counted = true};
constexpr Part contest{.name = "contest", .counted = true};
constexpr Part claimed{.name = claimed_part, .counted = true};
constexpr Part requested{.name = "request", .counted = true};
constexpr Part sizes{.name = "sizes", .curve = true};
// They are many, and say the same of any size.
constexpr Part tiles{.name = "tiles", .curve = true, .longest_launch_s = 0.02};
// There are three a class, beside the contest itself.
constexpr Part layouts{.name = "layouts", .samples = 12, .time_limit_s = 0.3};
constexpr Part sustained{.name = "sustained"};

/// A ratio is one of bursts: what lasting load makes of it is the sustained part's. Only the
/// ladder's contenders are asked for one; the others are sampled in short, since the first take a
/// quarter of a second a launch, but in bursts too: a step's gain is against one that had rested as
/// long. `seconds`: of a launch at the arithmetic peak, 0 where that is not known.
Precision precision_of(bool contender, const Part& part, double seconds) {
  constexpr double long_launch_s = 0.025;  // slower than any contested product of the largest GPUs
  if (part.curve || !contender)
    return {.relative_half_width = 0.0025,
            .min_samples = 6,
            .time_limit_s = 0.1,
            .rest = part.curve ? 0 : rest_of_bursts};
  return {.relative_half_width = 0.001,
          .min_samples = seconds > long_launch_s ? 6 : part.samples,
          .time_limit_s = part.time_limit_s,
          .rest = rest_of_bursts};
}

/// Whether a rung that this GPU runs is held against the vendor's library there: a contender by
/// itself, or where the GPU runs none of its class the last one that it does run.
bool contends(const Rung& rung, const DeviceFacts& device) {
  if (rung.contender) return true;
  // Among all rungs, not only those asked for: what a rung is does not depend on the command line.
  const Rung* last = nullptr;
  for (const Rung* other : rungs_of(rung.of)) {
    if (!runs_on(*other, device.major, device.minor)) continue;
    if (other->contender) return false;
    last = other;
  }
  return last == &rung;
}

/// What the cases of one run share.
struct Shared {
  const DeviceFacts& device;
  std::shared_ptr<RunMemory> memory = std::make_shared<RunMemory>();
};

/// A case of a product, without what is particular to whoever computes it.
Case product_case(const Shared& shared, const Problem& p, const char* rung, const Part& part) {
  Case c;
  c.axes = {
      {"part", part.name}, {"type", traits(p.of).name}, {"rung", rung},  {"m", p.m}, {"n", p.n},
      {"k", p.k},          {"alpha", p.alpha},          {"beta", p.beta}};
  if (p.flops() > 0) {
    c.metric = {"throughput", "FLOP/s", Better::higher, std::nullopt};
    c.value = rate(p.flops());
    c.bound = arithmetic_peak(shared.device, p.of);
  } else {
    c.metric = {"time", "s", Better::lower, std::nullopt};
    c.value = [](double seconds) { return seconds; };
  }
  c.extras = {{"flop", p.flops()}, {"compulsory_bytes", p.minimum_bytes()}};
  return c;
}

Case rung_case(const Shared& shared, const Rung& rung, const Problem& problem, Suite suite,
               const Part& part) {
  Case c = product_case(shared, problem, rung.name, part);
  c.name = fmt::format("{}/{}/{}x{}x{}{}", rung.id(), problem.layout(), problem.m, problem.n,
                       problem.k, part.counted ? "" : std::string("/") + part.name);
  c.axes.insert(c.axes.begin() + 3, {"layout", problem.layout()});
  c.suite = suite;
  if (&part == &sustained) c.mode = SustainedLoad{};
  const RungPlan plan = rung.plan(problem, 1);  // what is read of it is the same on every GPU
  const bool contender = contends(rung, shared.device);
  c.precision = precision_of(contender, part, c.bound ? problem.flops() / c.bound->value : 0);
  if (part.counted) {
    const int capability = 10 * shared.device.major + shared.device.minor;
    for (const CounterModel& m : known_counters(rung, problem, plan, capability))
      c.counters.push_back({m.role, m.value, m.tolerance, m.model});
    for (const char* role : counters_of_a_step)
      if (std::ranges::find(c.counters, role, &CounterRequest::role) == c.counters.end())
        c.counters.push_back({role});
  }
  c.extras["own_path"] = plan.own_path ? 1 : 0;
  if (const auto sectors = tile_read_sectors(rung, problem, plan))
    c.extras["tile_read_sectors"] = *sectors;
  if (&part == &ladder || &part == &requested) {
    c.notes = {{"idea", rung.idea}, {"gain", rung.gain}};
    if (!rung.contender) c.notes["parent"] = *rung.parent == 0 ? "none" : rung.parent;
  }
  if (const auto peak = published_peak(shared.device.name, rung.of); peak && &part == &claimed)
    c.extras[published_peak_key] = *peak;
  if (contender && problem.flops() > 0)
    c.opponents = opponents(problem, shared.memory, !rung.promoted);
  // A curve has the library's default alone: trying its algorithms takes longer than a point.
  if (part.curve && c.opponents.size() > 1) c.opponents.resize(1);
  c.prepare = [&rung, problem, memory = shared.memory](Context& context) {
    return rung_workload(context, rung, problem, memory);
  };
  return c;
}

/// The vendor's library, as it is called by default, on a product by itself and with counters: what
/// the ladder's claims compare their traffic with. Nothing where there is no library.
std::optional<Case> library_case(const Shared& shared, const Problem& problem) {
  const std::vector<OpponentCase> found = opponents(problem, shared.memory, true);
  if (found.empty()) return std::nullopt;
  Case c = product_case(shared, problem, library_alone, claimed);
  c.name = fmt::format("{}/{}/{}x{}x{}/{}", traits(problem.of).name, library_alone, problem.m,
                       problem.n, problem.k, claimed_part);
  c.precision = Precision{.relative_half_width = 0.0025, .min_samples = 6, .time_limit_s = 0.1};
  for (const char* role : counters_of_the_library) c.counters.push_back({role});
  c.prepare = found.front().prepare;
  return c;
}

/// The contenders among the rungs that no later one of their class supersedes. Under lasting load a
/// rung takes fourteen seconds, so that only these are measured there. `of_each_sums`: one that is
/// held against the library in another mode supersedes none.
std::vector<const Rung*> last_contenders(const std::vector<const Rung*>& rungs,
                                         const DeviceFacts& device, bool of_each_sums) {
  std::vector<const Rung*> found;
  for (const Rung* rung : rungs | std::views::reverse) {
    const bool superseded = std::ranges::any_of(found, [&](const Rung* later) {
      return later->of == rung->of && (!of_each_sums || later->promoted == rung->promoted);
    });
    if (contends(*rung, device) && !superseded) found.insert(found.begin(), rung);
  }
  return found;
}

}  // namespace

Problem contested_problem(Class of, const Shape& shape) {
  const bool along_k = of == Class::fp8 || of == Class::int8;
  return make_problem(of, shape.m, shape.n, shape.k, along_k ? Transpose::yes : Transpose::no);
}

std::vector<Problem> other_layouts(const Problem& problem) {
  const Problem& p = problem;
  std::vector<Problem> found;
  for (const Transpose a : {Transpose::no, Transpose::yes}) {
    for (const Transpose b : {Transpose::no, Transpose::yes}) {
      if (a == p.transa && b == p.transb) continue;
      found.push_back(make_problem(p.of, p.m, p.n, p.k, a, b, p.alpha, p.beta));
    }
  }
  return found;
}

std::optional<Bound> arithmetic_peak(const DeviceFacts& device, Class of) {
  const Units& u = units_of(of);
  const double native =
      u.fma ? models::native_throughput(*u.fma, device.major, device.minor).value_or(0) : 0;
  const double tensor =
      u.tensor ? models::tensor_fma_per_clock(*u.tensor, device.major, device.minor).value_or(0)
               : 0;
  // Multiply-adds of one SM in a clock.
  const double rate = std::max(native, tensor) / (of == Class::fp32_3xtf32 ? 3 : 1);
  if (rate <= 0 || device.sms <= 0 || device.sm_clock_max_hz <= 0) return std::nullopt;
  Bound bound;
  bound.value = 2 * rate * device.sms * device.sm_clock_max_hz;
  bound.source =
      fmt::format("{} SMs x {:g} FMA of {}{} x 2 x {:.0f} MHz", device.sms, rate,
                  tensor >= native ? "tensor cores" : "FMA units",
                  of == Class::fp32_3xtf32 ? ", tf32 / 3" : "", device.sm_clock_max_hz * 1e-6);
  bound.clock_hz = device.sm_clock_max_hz;
  return bound;
}

bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s) {
  // Eight classes keep their largest matrices, most of smaller elements, and C once more.
  constexpr double share_of_memory = 1.0 / 12;
  const auto memory = static_cast<double>(device.memory_bytes);
  if (memory > 0 && problem.minimum_bytes() > share_of_memory * memory) return false;
  const auto peak = arithmetic_peak(device, problem.of);
  return !peak || problem.flops() <= longest_s * peak->value;
}

std::optional<double> published_peak(const std::string& device, Class of) {
  const auto published = units_of(of).published;
  const GpuSpec* gpu = models::find_gpu(device);
  if (gpu == nullptr || published == nullptr || !(gpu->*published).known()) return std::nullopt;
  return (gpu->*published).value;
}

Problem ladder_problem(const Rung& rung, std::int64_t size) {
  const Problem plain = contested_problem(rung.of, {size, size, size});
  if (rung.takes_own_path(plain) || rung.contender) return plain;
  const Problem along_k = make_problem(rung.of, size, size, size, Transpose::yes);
  return rung.takes_own_path(along_k) ? along_k : plain;
}

std::vector<Case> ladder_cases(const DeviceFacts& device, const Request& request) {
  const Shared shared{.device = device};
  const std::vector<const Rung*> rungs = request.rungs_on(device);
  std::vector<Case> cases;
  const auto add = [&](const Rung& rung, const Problem& problem, const Part& part,
                       Suite suite = Suite::standard) {
    if (!request.problem && !within_reach(device, problem, part.longest_launch_s)) return;
    cases.push_back(rung_case(shared, rung, problem, suite, part));
  };
  const auto cube = [](const Rung& rung, std::int64_t size) {
    return contested_problem(rung.of, {size, size, size});
  };
  // All rungs of one product in a row: they share its reference.
  if (request.problem) {
    for (const Rung* rung : rungs) {
      Problem problem = *request.problem;
      problem.of = rung->of;
      add(*rung, problem, requested, Suite::quick);
    }
    return cases;
  }
  for (const ClassTraits& row : all_classes()) {
    for (const auto& [size, suite] :
         {std::pair{quick_size, Suite::quick}, {ladder_size, Suite::standard}}) {
      for (const Rung* rung : rungs)
        if (rung->of == row.of) add(*rung, ladder_problem(*rung, size), ladder, suite);
    }
  }
  for (const Shape& shape : contested_shapes) {
    for (const Rung* rung : rungs)
      if (contends(*rung, device)) add(*rung, contested_problem(rung->of, shape), contest);
  }
  for (const Rung* rung : last_contenders(rungs, device, false)) {
    for (const std::int64_t size : swept_sizes) add(*rung, cube(*rung, size), sizes);
    for (const std::int64_t m : sizes_around_tiles)
      add(*rung, contested_problem(rung->of, {m, ladder_size, ladder_size}), tiles);
  }
  const std::vector<const Rung*> last = last_contenders(rungs, device, true);
  for (const Rung* rung : last) {
    for (const Problem& problem : other_layouts(cube(*rung, ladder_size)))
      add(*rung, problem, layouts);
  }
  for (const Rung* rung : rungs) {
    if (rung->id() == "fp16/02_wmma_shared") {  // claim G6
      constexpr std::int64_t size = 8192;
      add(*rung, make_problem(rung->of, size, size, size, Transpose::no, Transpose::no, 0.5, 0.5),
          claimed);
    }
    if (rung->id() != "fp32/column_major/01_naive") continue;  // claim GC10
    const Problem compared = cube(*rung, ladder_size);
    if (!within_reach(device, compared, claimed.longest_launch_s)) continue;
    if (auto library = library_case(shared, compared)) cases.push_back(std::move(*library));
  }
  // Last, under lasting load, since it leaves the card hot. fp16 and bf16, which the power limit
  // holds hardest, also do a product eight times as long.
  for (const Rung* rung : last) {
    add(*rung, cube(*rung, ladder_size), sustained);
    if (rung->of == Class::fp16 || rung->of == Class::bf16)
      add(*rung, cube(*rung, 2 * ladder_size), sustained);
  }
  return cases;
}

}  // namespace fathom::gemm
