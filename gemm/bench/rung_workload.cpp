#include "gemm/bench/cases.h"

#include <cuda.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "gemm/bench/shapes.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/timing.h"
#include "models/waves.h"
#include "results/error.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

constexpr TimingPolicy final_run{.target_relative_half_width = 0.001,
                                 .min_samples = 6,
                                 .max_samples = 60,
                                 .time_limit_s = 0.4,
                                 .rest = rest_of_bursts};

/// The lower of two single launches of each way that works: leaves out what is far slower.
std::vector<double> screened(std::size_t ways, const std::function<bool(std::size_t)>& works,
                             const std::function<void(std::size_t)>& launch, cudaStream_t stream) {
  std::vector<double> seconds(ways, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> working;
  for (std::size_t i = 0; i < ways; ++i) {  // the first launch loads the kernel
    if (works(i)) working.push_back(i);
  }
  FATHOM_CUDA(cudaStreamSynchronize(stream));
  const Event start = make_event(), end = make_event();
  constexpr int rounds = 2;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t i : working) {
      FATHOM_CUDA(cudaEventRecord(start.get(), stream));
      launch(i);
      FATHOM_CUDA(cudaEventRecord(end.get(), stream));
      FATHOM_CUDA(cudaEventSynchronize(end.get()));
      float milliseconds = 0;
      FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
      seconds[i] = std::min(seconds[i], milliseconds * 1e-3);
    }
  }
  return seconds;
}

/// The name of the kernel that a graph node launches.
std::string name_of(cudaGraphNode_t node) {
  static const auto get_parameters =
      driver_function<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)>(
          "cuGraphKernelNodeGetParams");
  static const auto function_of =
      driver_function<CUresult(CUfunction*, CUkernel)>("cuKernelGetFunction");
  static const auto get_name =
      driver_function<CUresult(const char**, CUfunction)>("cuFuncGetName", 12030);
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  if (get_parameters(node, &parameters) != CUDA_SUCCESS) return "unknown";
  CUfunction function = parameters.func;
  const char* name = nullptr;
  if (function == nullptr) function_of(&function, parameters.kern);
  if (get_name(&name, function) != CUDA_SUCCESS || name == nullptr) return "unknown";
  return readable_name(name);
}

using Extras = std::map<std::string, double>;

/// What the kernel that multiplies takes of an SM, and what tiles cost it. It has run before.
Extras kernel_extras(const RungKernel& kernel, const Problem& problem, const DeviceFacts& device) {
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, kernel.function));
  int blocks = 0;
  FATHOM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel.function, kernel.threads,
      static_cast<std::size_t>(kernel.dynamic_shared_bytes)));
  const double resident = double(blocks) * kernel.threads;
  Extras extras = tile_losses(kernel, problem, blocks, device.sms);
  extras["registers"] = attributes.numRegs;
  extras["shared_bytes"] = double(attributes.sharedSizeBytes) + kernel.dynamic_shared_bytes;
  extras["threads_per_block"] = kernel.threads;
  extras["resident_warps"] = resident / 32;
  extras["theoretical_occupancy"] = 100 * resident / device.threads_per_sm;
  return extras;
}

/// The fastest of a plan's variants.
const RungPlan& autotune(Context& context, const Rung& rung, const std::vector<RungPlan>& variants,
                         Operands& operands, const Workspace& workspace, Choice& choice) {
  const auto launch = [&](std::size_t i) {
    variants[i].launch(operands.arguments(), workspace, context.stream());
  };
  const auto is_right = [&](std::size_t i) {
    operands.reset_c();
    launch(i);
    FATHOM_CUDA(cudaStreamSynchronize(context.stream()));
    if (const auto wrong = operands.verify())
      throw Error(ExitCode::check_failed,
                  fmt::format("{} as {}: {}", rung.id(), variants[i].name, *wrong));
    return true;
  };
  return variants[find_fastest(context, choice, variants.size(), is_right, launch).value()];
}

}  // namespace

Choice find_fastest(Context& context, Choice& choice, std::size_t ways,
                    const std::function<bool(std::size_t)>& works,
                    const std::function<void(std::size_t)>& launch) {
  if (choice) return choice;
  const std::vector<std::size_t> few = finalists(screened(ways, works, launch, context.stream()));
  if (few.empty()) return std::nullopt;
  if (few.size() == 1) return choice = few.front();
  std::vector<Workload> workloads(few.size());
  for (std::size_t i = 0; i < few.size(); ++i)
    workloads[i].launch = [&launch, way = few[i]] { launch(way); };
  Sampler sampler(context.device(), context.stream());
  const Samples samples = sampler.sample(workloads, CacheState::hot, final_run);
  const auto fastest = std::ranges::min_element(
      samples.of_workload, {}, [](const std::vector<double>& seconds) { return median(seconds); });
  return choice = few[static_cast<std::size_t>(fastest - samples.of_workload.begin())];
}

std::vector<std::size_t> finalists(std::span<const double> lowest_seconds) {
  constexpr double within = 1.5, launch_s = 3e-6;
  constexpr std::size_t most = 8;
  std::vector<std::size_t> found;
  if (lowest_seconds.empty()) return found;
  const double limit = within * std::ranges::min(lowest_seconds) + launch_s;
  for (std::size_t i = 0; i < lowest_seconds.size(); ++i) {
    if (std::isfinite(lowest_seconds[i]) && lowest_seconds[i] <= limit) found.push_back(i);
  }
  std::ranges::stable_sort(found, {}, [&](std::size_t i) { return lowest_seconds[i]; });
  if (found.size() > most) found.resize(most);
  return found;
}

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  for (const std::string_view dropped : {"fathom::gemm::", "(anonymous namespace)::"}) {
    for (std::size_t at = name.find(dropped); at != std::string::npos; at = name.find(dropped, at))
      name.erase(at, dropped.size());
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  // The arguments begin at the first bracket outside of <>, where it is a cast.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) name.erase(i);
  }
  return name;
}

std::string kernel_name(const void* function) {
  const char* name = nullptr;
  FATHOM_CUDA(cudaFuncGetName(&name, function));
  return readable_name(name);
}

std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream) try {
  const Graph graph = capture(launch, stream);
  std::size_t count = 0;
  FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nodes.data(), &count));
  std::string names;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    FATHOM_CUDA(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) names += (names.empty() ? "" : ", ") + name_of(node);
  }
  return names.empty() ? "none" : names;
} catch (const Error& error) {
  if (error.code() == ExitCode::gpu_lost) throw;
  return std::string("unknown: ") + error.what();
}

std::map<std::string, double> tile_losses(const RungKernel& kernel, const Problem& p,
                                          int blocks_per_sm, int sms) {
  const bool shared_equally = kernel.parts == 0;
  const int parts = shared_equally ? 1 : kernel.parts;
  if (kernel.tile_m == 0 || blocks_per_sm <= 0 || p.k < std::int64_t{kernel.tile_k} * parts)
    return {};
  const auto whole = [](auto value) { return static_cast<std::uint64_t>(value); };
  // The rung's own view is row-major: its rows are BLAS's columns.
  const models::TileQuantisation q = models::tile_quantisation(
      {.m = whole(p.n),
       .n = whole(p.m),
       .k = whole(p.k),
       .tile_m = whole(kernel.tile_m),
       .tile_n = whole(kernel.tile_n),
       .tile_k = whole(kernel.tile_k),
       .split_k = whole(parts),
       .cluster_m = whole(kernel.cluster_m),
       .cluster_n = whole(kernel.cluster_n),
       .blocks_per_sm = blocks_per_sm,
       .sms = sms,
       .cost = blocks_per_sm > 1 ? models::BlockCost::throughput : models::BlockCost::latency});
  return {{"waves", q.waves.waves},
          {"tile_efficiency", shared_equally ? q.padding_efficiency : q.efficiency}};
}

Workload rung_workload(Context& context, const Rung& rung, const Problem& problem,
                       const std::shared_ptr<RunMemory>& memory) {
  const auto operands = std::make_shared<Operands>(context, memory, problem, "rung", rung.promoted);
  const int sms = context.device().sms;
  RungPlan plan = rung.plan(problem, sms);
  Workspace workspace{nullptr, plan.workspace_bytes, sms};
  if (workspace.bytes != 0)
    workspace.data = context.buffers().output("workspace of rung", workspace.bytes).data;
  if (!plan.variants.empty())
    plan = RungPlan(autotune(context, rung, plan.variants, *operands, workspace,
                             memory->choices[rung.id() + " " + problem.describe()]));

  Workload workload = verified_workload(
      [launch = plan.launch, operands, workspace, stream = context.stream()] {
        launch(operands->arguments(), workspace, stream);
      },
      operands);
  workload.extras = [kernel = plan.kernel, problem, operands, &device = context.device()] {
    Extras extras = kernel.function ? kernel_extras(kernel, problem, device) : Extras{};
    extras["relative_frobenius_error"] = operands->accuracy().relative_frobenius;
    extras["worst_error_of_allowed"] = operands->accuracy().worst;
    return extras;
  };
  workload.notes = [plan] {
    std::map<std::string, std::string> all;
    if (!plan.name.empty()) all["variant"] = plan.name + ", tuned";
    if (plan.kernel.function != nullptr) all[kernel_note] = kernel_name(plan.kernel.function);
    return all;
  };
  return workload;
}

}  // namespace fathom::gemm
