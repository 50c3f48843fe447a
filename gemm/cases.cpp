#include "gemm/cases.h"

#include <fmt/format.h>

#include <memory>

#include "gemm/opponents.h"
#include "gemm/verification.h"
#include "harness/cuda_check.h"

namespace fathom::gemm {
namespace {

constexpr std::int64_t ladder_size = 4096;
/// Of the quick sweep: large enough that a tile has its full depth, small enough for the first rungs.
constexpr std::int64_t quick_size = 1024;

/// Where contenders meet the vendor's library beside the ladder's own size: twice as large, one less than
/// whole tiles and 16-byte rows, and skinny.
struct Shape {
  std::int64_t m, n, k;
};
constexpr Shape contested_shapes[] = {
    {8192, 8192, 8192}, {4095, 4095, 4095}, {16, 8192, 8192}, {128, 8192, 8192}};

/// The path of a rung below its class: "01_naive".
std::string short_name(const Rung& rung) { return rung.id.substr(rung.id.find('/') + 1); }

std::string layout_of(const Problem& p) {
  return std::string(p.transa == Transpose::no ? "N" : "T") +
         (p.transb == Transpose::no ? "N" : "T");
}

/// What the arithmetic units can do at most; nothing where the bound of this class is not known.
std::optional<Bound> arithmetic_bound(const DeviceFacts& device, Class of) {
  if (of != Class::fp32) return std::nullopt;
  const DeviceBound& fma = bound(device, "fp32_fma");
  return Bound{fma.value, fma.source};
}

/// Resources of the rung's own kernel as the driver sees them.
std::map<std::string, double> kernel_resources(const RungKernel& kernel) {
  if (kernel.function == nullptr) return {};
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel.function));
  int blocks = 0;
  FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, kernel.threads,
                                                            kernel.dynamic_shared_bytes));
  return {{"registers", double(attributes.numRegs)},
          {"shared_bytes", double(attributes.sharedSizeBytes) + kernel.dynamic_shared_bytes},
          {"threads_per_block", double(kernel.threads)},
          {"resident_warps", double(blocks) * kernel.threads / 32}};
}

Workload prepare(Context& context, const Rung& rung, const Problem& problem,
                 const std::shared_ptr<ReferenceStore>& references) {
  const auto operands = std::make_shared<Operands>(context, references, problem, "rung");
  const int sms = context.device().sms;
  const std::size_t scratch = rung.workspace_bytes(problem, sms);
  Workspace workspace{nullptr, scratch, sms};
  if (scratch != 0) workspace.data = context.buffers().output("workspace of rung", scratch).data;
  const auto accuracy = std::make_shared<Accuracy>();
  Workload workload;
  workload.launch = [&rung, operands, workspace, stream = context.stream()] {
    rung.launch(operands->arguments(), workspace, stream);
  };
  workload.poison = [operands] { operands->reset_c(); };
  workload.verify = [operands, accuracy] { return operands->verify(*accuracy); };
  workload.extras = [&rung, accuracy] {
    std::map<std::string, double> extras = kernel_resources(rung.kernel);
    extras["relative_frobenius_error"] = accuracy->relative_frobenius;
    extras["worst_error_of_allowed"] = accuracy->worst;
    return extras;
  };
  return workload;
}

/// Counters that explain a step from one rung to the next.
std::vector<CounterRequest> counters_of_a_step() {
  std::vector<CounterRequest> requests;
  for (const char* role :
       {"global_load_sectors", "global_load_requests", "shared_load_wavefronts", "shared_load_conflicts",
        "shared_store_conflicts", "l2_read_sectors", "dram_read_bytes", "fma_instructions",
        "instructions_executed", "issue_active", "achieved_occupancy", "stall_long_scoreboard",
        "stall_short_scoreboard", "stall_mio_throttle", "stall_lg_throttle", "stall_barrier",
        "stall_math_pipe_throttle", "stall_not_selected"}) {
    requests.push_back({role, std::nullopt, 0, ""});
  }
  return requests;
}

/// Sectors that the blocks of a rung with a tile in shared memory read in all, each its own operands, where
/// tiles are whole and their lines are whole sectors: what claim GT1 says. Nothing for asynchronous
/// copies, which are no loads to the counters.
std::optional<double> tile_read_sectors(const Rung& rung, const Problem& p) {
  const RungKernel& k = rung.kernel;
  if (rung.of != Class::fp32 || k.tile_k <= 1 || rung.capability > 75) return std::nullopt;
  if (p.n % k.tile_m != 0 || p.m % k.tile_n != 0 || p.k % 8 != 0 || p.k % k.tile_k != 0) return std::nullopt;
  if (k.tile_k % 8 != 0 || p.lda % 8 != 0 || p.ldb % 8 != 0 || !rung.takes_own_path(p)) return std::nullopt;
  if (layout_of(p) != "NN") return std::nullopt;
  constexpr double elements_per_sector = 8;
  return p.flops() / 2 * (1.0 / k.tile_m + 1.0 / k.tile_n) / elements_per_sector;
}

Case make_case(const DeviceFacts& device, const Rung& rung, const Problem& problem, Suite suite,
               const std::string& part, const std::shared_ptr<ReferenceStore>& references) {
  Case c;
  const std::string layout = layout_of(problem);
  c.name = fmt::format("{}/{}/{}/{}x{}x{}", traits(rung.of).name, short_name(rung), layout, problem.m,
                       problem.n, problem.k);
  if (part == "sustained") {
    c.name += "/sustained";
    c.sustained = SustainedLoad{};
  }
  c.axes = {{"part", part},        {"type", traits(rung.of).name}, {"rung", short_name(rung)},
            {"layout", layout},    {"m", problem.m},               {"n", problem.n},
            {"k", problem.k},      {"alpha", problem.alpha},       {"beta", problem.beta}};
  c.suite = suite;
  if (problem.flops() > 0) {
    c.metric = {"throughput", "FLOP/s", Better::higher, std::nullopt};
    c.value = rate(problem.flops());
    c.bound = arithmetic_bound(device, rung.of);
  } else {
    c.metric = {"time", "s", Better::lower, std::nullopt};
    c.value = [](double seconds) { return seconds; };
  }
  // The first rungs take a fifth of a second a launch, and nobody asks them for a ratio.
  c.precision = rung.contender
                    ? Precision{.relative_half_width = 0.001, .min_samples = 24, .time_limit_s = 0.6}
                    : Precision{.relative_half_width = 0.0025, .min_samples = 6, .time_limit_s = 0.1};
  if (part != "sustained") c.counters = counters_of_a_step();
  c.extras = {{"own_path", rung.takes_own_path(problem) ? 1.0 : 0.0},
              {"intensity_FLOP_per_byte", problem.flops() / std::max(1.0, problem.minimum_bytes())}};
  if (const auto sectors = tile_read_sectors(rung, problem)) c.extras["tile_read_sectors"] = *sectors;
  if (rung.contender && problem.flops() > 0) 
    c.opponents = opponents(problem, references, !rung.promoted);
  c.prepare = [&rung, problem, references](Context& context) {
    return prepare(context, rung, problem, references);
  };
  return c;
}

/// The layout in which a class is held against the library: of 8-bit floating point it has only one.
Problem contested(Class of, std::int64_t m, std::int64_t n, std::int64_t k) {
  return make_problem(of, m, n, k, of == Class::fp8 ? Transpose::yes : Transpose::no);
}

}  // namespace

std::vector<Case> ladder_cases(const DeviceFacts& device, const Request& request) {
  const auto references = std::make_shared<ReferenceStore>();
  std::vector<const Rung*> rungs;
  for (const Rung& rung : all_rungs()) {
    if (request.wants(rung) && runs_on(rung, device.major, device.minor)) rungs.push_back(&rung);
  }
  std::vector<Case> cases;
  const auto add = [&](const Rung& rung, const Problem& problem, Suite suite, const char* part) {
    cases.push_back(make_case(device, rung, problem, suite, part, references));
  };
  // All rungs of one product in a row: they share its reference.
  if (request.problem) {
    for (const Rung* rung : rungs) {
      Problem problem = *request.problem;
      problem.of = rung->of;
      add(*rung, problem, Suite::quick, "request");
    }
    return cases;
  }
  for (const ClassTraits& row : all_classes()) {
    for (const auto& [size, suite] :
         {std::pair{quick_size, Suite::quick}, {ladder_size, Suite::standard}}) {
      for (const Rung* rung : rungs) {
        if (rung->of == row.of) add(*rung, contested(row.of, size, size, size), suite, "ladder");
      }
    }
  }
  for (const Shape& shape : contested_shapes) {
    for (const Rung* rung : rungs) {
      if (!rung->contender) continue;
      add(*rung, contested(rung->of, shape.m, shape.n, shape.k), Suite::standard, "contest");
    }
  }
  // Under lasting load: last, since what it leaves is a hot card.
  for (const Rung* rung : rungs) {
    if (!rung->contender) continue;
    add(*rung, contested(rung->of, ladder_size, ladder_size, ladder_size), Suite::standard, "sustained");
  }
  return cases;
}

}  // namespace fathom::gemm
