// Another load beside a measurement: keeps a GPU busy with FMAs, with copies or with both in turn,
// until it is told to stop. It takes no lock: that is the point.

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include "harness/cuda_handles.h"
#include "results/error.h"
#include "results/flag_checks.h"

namespace {

using namespace fathom;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t told_to_stop = 0;
extern "C" void stop(int) { told_to_stop = 1; }

constexpr int block = 256, blocks_per_sm = 8;
constexpr int fma_steps = 200'000;  // about half a millisecond a launch
constexpr std::size_t copy_bytes = std::size_t{512} << 20;

__global__ void fma_chains(int steps, float* sink) {
  float x = static_cast<float>(threadIdx.x) / 1024, y = x / 2;
  for (int i = 0; i < steps; i += 2) {
    x = fmaf(-x, x, 1.75f);
    y = fmaf(-y, y, 1.5f);
  }
  if (x == 3.f && y == 3.f) *sink = x;  // never, but the compiler does not know
}

int load(const std::string& kind, double seconds, int device) {
  FATHOM_CUDA(cudaSetDevice(device));
  int sms = 0;
  FATHOM_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const auto sink = make_device_memory<float>(1);
  const auto from = make_device_memory<std::byte>(copy_bytes);
  const auto to = make_device_memory<std::byte>(copy_bytes);
  const Stream stream = make_stream();
  const auto start = Clock::now();
  const auto done = [&] {
    return told_to_stop != 0 ||
           std::chrono::duration<double>(Clock::now() - start).count() > seconds;
  };
  while (!done()) {
    // A few at a time, so that the GPU is never idle and an end is never far.
    for (int i = 0; i < 4; ++i) {
      if (kind != "copy")
        fma_chains<<<sms * blocks_per_sm, block, 0, stream.get()>>>(fma_steps, sink.get());
      FATHOM_CUDA(cudaGetLastError());
      if (kind != "fma")
        FATHOM_CUDA(cudaMemcpyAsync(to.get(), from.get(), copy_bytes, cudaMemcpyDeviceToDevice,
                                    stream.get()));
    }
    FATHOM_CUDA(cudaStreamSynchronize(stream.get()));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Keeps a GPU busy until SIGTERM or for a time.", "gate_load");
  std::string kind = "both";
  double seconds = 600;
  int device = 0;
  app.add_option("--kind", kind, "fma, copy or both")
      ->check(fathom::one_of({"fma", "copy", "both"}))
      ->capture_default_str();
  app.add_option("--seconds", seconds, "How long at most")
      ->check(fathom::seconds())
      ->capture_default_str();
  app.add_option("--device", device, "CUDA device ordinal")->capture_default_str();
  app.footer("Example:\n  gate_load --kind copy --seconds 10");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGTERM, stop);
  std::signal(SIGINT, stop);
  try {
    return load(kind, seconds, device);
  } catch (const Error& error) {
    std::fprintf(stderr, "gate_load: %s\n", error.what());
    return to_int(error.code());
  }
}
