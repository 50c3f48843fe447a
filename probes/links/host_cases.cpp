#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "harness/cuda_check.h"
#include "probes/links/cases.h"

// Host memory to the GPU and back: by the copy engines, and by kernels that load and store mapped
// memory.

namespace fathom::links {
namespace {

struct Direction {
  const char* name;
  bool to_gpu, to_host;
  bool both() const { return to_gpu && to_host; }
};
constexpr Direction directions[] = {
    {"to GPU", true, false}, {"to host", false, true}, {"both", true, true}};

using HostMemory = std::shared_ptr<std::byte>;

HostMemory make_host_memory(bool pinned) {
  if (pinned) return make_pinned_memory<std::byte>(largest_bytes);
  return {new std::byte[largest_bytes], std::default_delete<std::byte[]>()};
}

/// Host memory to send from and to receive in, `largest_bytes` each; there once a case needed it.
struct HostBuffers {
  HostMemory sent, received;
  void poison(std::size_t bytes) const { std::memset(received.get(), 0xFF, bytes); }

  /// Sends the same words as the GPU's node.
  void make(bool pinned, const Node& node) {
    if (sent) return;
    HostBuffers made{make_host_memory(pinned), make_host_memory(pinned)};
    FATHOM_CUDA(cudaMemcpy(made.sent.get(), node.sent(), largest_bytes, cudaMemcpyDeviceToHost));
    made.poison(largest_bytes);  // and the operating system's pages are there
    *this = std::move(made);
  }
};
using SharedBuffers = std::shared_ptr<HostBuffers>;

/// Pinned host memory as kernels address it.
std::byte* mapped(std::byte* host) {
  void* device = nullptr;
  FATHOM_CUDA(cudaHostGetDevicePointer(&device, host, 0));
  return static_cast<std::byte*>(device);
}

struct HostRun {
  bool sm;      ///< by a kernel; else by the copy engine
  bool pinned;  ///< memory; else pageable
  Direction direction;
  std::size_t bytes;
};

Workload host_workload(Context& context, const SharedMachine& machine, const SharedBuffers& buffers,
                       const HostRun& run) {
  const Node& node = machine->node(machine->device.ordinal);
  buffers->make(run.pinned, node);
  const HostBuffers& host = *buffers;
  cudaStream_t stream = context.stream();
  std::byte* sent = run.sm ? mapped(host.sent.get()) : host.sent.get();
  std::byte* received = run.sm ? mapped(host.received.get()) : host.received.get();
  const auto transfer = [=](const void* from, void* to, cudaStream_t on) {
    if (run.sm)
      queue_copy(*machine, from, to, run.bytes, run.direction.both() ? 2 : 1, on);
    else
      FATHOM_CUDA(cudaMemcpyAsync(to, from, run.bytes, cudaMemcpyDefault, on));
  };
  const auto in = [=, &node](cudaStream_t on) { transfer(sent, node.received(), on); };
  const auto out = [=, &node](cudaStream_t on) { transfer(node.sent(), received, on); };

  Workload workload;
  // The driver itself moves pageable memory through memory of its own, and waits for it.
  workload.host_paced = !run.pinned;
  workload.launch = [=] { run.direction.to_gpu ? in(stream) : out(stream); };
  if (run.direction.both()) {
    workload.launch = tied(
        {&node}, stream,
        [=, &node] {
          in(stream);
          out(node.stream());
        });
  }
  workload.poison = [=, &host, poison = poisoning({&node}, stream, run.bytes)] {
    poison();
    host.poison(run.bytes);
  };
  workload.verify = [=, &node, &host]() -> std::optional<std::string> {
    for (const bool at_host : {false, true}) {
      if (!(at_host ? run.direction.to_host : run.direction.to_gpu)) continue;
      if (at_host) {
        // Back to the GPU, which checks it: what arrived there was looked at before.
        FATHOM_CUDA(
            cudaMemcpy(node.received(), host.received.get(), run.bytes, cudaMemcpyHostToDevice));
        // From pageable memory it returns once the driver has the bytes, before the GPU does, and
        // the node's stream does not wait for the default one.
        FATHOM_CUDA(cudaStreamSynchronize(nullptr));
      }
      if (const std::uint64_t wrong = node.wrong_words(run.bytes / 4, {node.source}))
        return fmt::format("{} of {} words did not reach the {}", wrong, run.bytes / 4,
                           at_host ? "host" : "GPU");
    }
    return std::nullopt;
  };
  return workload;
}

Case host_case(const SharedMachine& machine, const SharedBuffers& buffers, const HostRun& run) {
  const char* memory = run.pinned ? "pinned" : "pageable";
  const char* engine = run.sm ? "SM" : "copy engine";
  const int both = run.direction.both() ? 2 : 1;
  Case c =
      transfer_case(fmt::format("host/{}/{}/{}/{}", memory, engine, run.direction.name, run.bytes),
                    {{"link", "host"},
                     {"memory", memory},
                     {"engine", engine},
                     {"direction", run.direction.name},
                     {"size", static_cast<std::int64_t>(run.bytes)}},
                    static_cast<double>(run.bytes) * both, *machine);
  c.bound = times(machine->topology.gpus.at(machine->device.ordinal).pcie, both);
  const bool headline = run.bytes == largest_bytes;
  c.precision = headline ? headline_precision : curve_precision;
  c.suite = quick_if(headline && run.pinned && !run.sm);
  c.prepare = [=](Context& context) { return host_workload(context, machine, buffers, run); };
  return c;
}

/// A copy so small that nothing but its beginning and its end counts.
Case latency_case(const SharedMachine& machine, const SharedBuffers& buffers, Direction direction) {
  Case c = host_case(machine, buffers, {false, true, direction, 4});
  c.name = fmt::format("host/latency/{}", direction.name);
  c.axes[0] = {"link", "host, latency"};
  c.suite = Suite::quick;
  c.metric = {"latency", "s", Better::lower, std::nullopt};
  c.value = [](double seconds) { return seconds; };
  c.bound.reset();
  c.precision = headline_precision;
  return c;
}

}  // namespace

std::vector<Case> host_cases(const SharedMachine& machine) {
  const auto pinned = std::make_shared<HostBuffers>(), pageable = std::make_shared<HostBuffers>();
  std::vector<Case> cases;
  for (const Direction& direction : directions)
    if (!direction.both()) cases.push_back(latency_case(machine, pinned, direction));
  for (const std::size_t bytes : sizes()) {
    for (const Direction& direction : directions) {
      for (const bool sm : {false, true})
        cases.push_back(host_case(machine, pinned, {sm, true, direction, bytes}));
      // Two threads of the host would be needed for both directions at once.
      if (!direction.both())
        cases.push_back(host_case(machine, pageable, {false, false, direction, bytes}));
    }
  }
  return cases;
}

}  // namespace fathom::links
