// A benchmark with faults that can be switched on, to see whether `fathom check` finds them. Three
// kernels, written in Google Benchmark's JSON; tests/gpu/gate_trials.sh runs it against itself.
//
//   work         every kernel does --factor times as much: 1.03 is 3 % more
//   conflict     a share (--factor minus 1) of the shared loads has 32 lanes in one bank
//   uncoalesced  that share of the copy's loads is spread over 32 lines a warp
//   occupancy    the copy gets so much shared memory that one block fits on an SM

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "harness/cuda_handles.h"
#include "results/error.h"
#include "results/statistics.h"

namespace {

using namespace fathom;

constexpr int block = 256, grid = 1024;
constexpr int fma_steps = 40'000, shared_steps = 20'000;
constexpr std::size_t copy_elements = std::size_t{1} << 26;  // of float: 256 MiB
constexpr int warm_up = 5, samples = 31;

/// One dependent chain a thread.
__global__ void fma_chain(int steps, float* sink) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < steps; ++i) value = fmaf(value, 0.999f, 0.5f);
  if (value == -1.f) *sink = value;
}

/// `conflicts` of each 1024 loads go to one bank.
__global__ void shared_loads(int steps, int conflicts, float* sink) {
  __shared__ float tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = static_cast<float>(i & 1);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    // The sum is at most 1 here, so that each load waits for the one before.
    const int row = (i + static_cast<int>(sum)) % 32;
    const bool conflict = i % 1024 < conflicts;
    sum = tile[conflict ? lane * 32 + row : row * 32 + lane];
  }
  if (sum == -1.f) *sink = sum;
}

/// In `spread` of each 1024 tiles of 32 x 32 the lanes read a line apart: the same elements,
/// transposed.
__global__ void copy(const float* __restrict__ from, float* __restrict__ to, std::size_t count,
                     int spread) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const std::size_t tile = i / 1024, row = i / 32 % 32, column = i % 32;
    const bool spread_out = static_cast<int>(tile % 1024) < spread;
    to[i] = from[spread_out ? tile * 1024 + column * 32 + row : i];
  }
}

struct Options {
  std::string fault = "none", out, filter = ".";
  double factor = 1;
};

/// Median time of one launch in nanoseconds.
double time_ns(const std::function<void(cudaStream_t)>& launch, cudaStream_t stream) {
  const Event start = make_event(), stop = make_event();
  std::vector<double> times;
  for (int i = 0; i < warm_up + samples; ++i) {
    FATHOM_CUDA(cudaEventRecord(start.get(), stream));
    launch(stream);
    FATHOM_CUDA(cudaGetLastError());
    FATHOM_CUDA(cudaEventRecord(stop.get(), stream));
    FATHOM_CUDA(cudaEventSynchronize(stop.get()));
    float ms = 0;
    FATHOM_CUDA(cudaEventElapsedTime(&ms, start.get(), stop.get()));
    if (i >= warm_up) times.push_back(ms * 1e6);
  }
  return median(times);
}

int run(const Options& options) {
  const auto from = make_device_memory<float>(copy_elements);
  const auto to = make_device_memory<float>(copy_elements);
  FATHOM_CUDA(cudaMemset(from.get(), 0x3a, copy_elements * sizeof(float)));
  const Stream stream = make_stream();
  const bool work = options.fault == "work";
  const auto steps = [&](double base) {
    return static_cast<int>(std::lround(work ? base * options.factor : base));
  };
  const auto share = [&](const char* fault) {
    return options.fault == fault ? static_cast<int>(std::lround((options.factor - 1) * 1024)) : 0;
  };
  const auto copied = static_cast<std::size_t>(static_cast<double>(copy_elements) *
                                               (work ? 1 / 1.25 * options.factor : 1 / 1.25));
  int most_shared = 0;
  if (options.fault == "occupancy") {
    FATHOM_CUDA(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    FATHOM_CUDA(
        cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
  }
  const std::vector<std::pair<std::string, std::function<void(cudaStream_t)>>> kernels{
      {"victim/fma",
       [&](cudaStream_t s) { fma_chain<<<grid, block, 0, s>>>(steps(fma_steps), to.get()); }},
      {"victim/shared",
       [&](cudaStream_t s) {
         shared_loads<<<grid, block, 0, s>>>(steps(shared_steps), share("conflict"), to.get());
       }},
      {"victim/copy", [&](cudaStream_t s) {
         copy<<<grid, block, static_cast<std::size_t>(most_shared), s>>>(
             from.get(), to.get(), std::min(copied, copy_elements), share("uncoalesced"));
       }}};
  cudaDeviceProp properties{};
  FATHOM_CUDA(cudaGetDeviceProperties(&properties, 0));
  nlohmann::json rows = nlohmann::json::array();
  const std::regex wanted(options.filter, std::regex::extended);
  for (const auto& [name, launch] : kernels) {
    if (!std::regex_search(name, wanted)) continue;
    rows.push_back({{"name", name},
                    {"run_type", "iteration"},
                    {"iterations", samples},
                    {"real_time", time_ns(launch, stream.get())},
                    {"time_unit", "ns"}});
  }
  std::ofstream file(options.out);
  file << nlohmann::json{{"context", {{"host_name", properties.name}}}, {"benchmarks", rows}};
  return file.flush() ? 0 : to_int(ExitCode::output_unwritable);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A benchmark with faults that can be switched on.", "gate_victim");
  Options options;
  app.add_option("--fault", options.fault)
      ->check(CLI::IsMember({"none", "work", "conflict", "uncoalesced", "occupancy"}));
  app.add_option("--factor", options.factor)->check(CLI::Range(1.0, 1.25));
  app.add_option("--out", options.out)->required();
  app.add_option("--filter", options.filter);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gate_victim: %s\n", error.what());
    return 1;
  }
}
