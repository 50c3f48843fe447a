#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "harness/cuda_check.h"
#include "probes/links/cases.h"

// Host memory to the GPU and back: by the copy engines, and by kernels that load and store mapped
// memory.

namespace fathom::links {
namespace {

enum class Direction { to_gpu, to_host, both };
constexpr Direction directions[] = {Direction::to_gpu, Direction::to_host, Direction::both};

const char* name_of(Direction direction) {
  return direction == Direction::to_gpu    ? "to GPU"
         : direction == Direction::to_host ? "to host"
                                           : "both";
}
bool to_gpu(Direction direction) { return direction != Direction::to_host; }
bool to_host(Direction direction) { return direction != Direction::to_gpu; }

enum class Memory { pinned, pageable };
enum class Engine { copy, sm };

using HostMemory = std::shared_ptr<std::byte>;

HostMemory make_host_memory(Memory memory) {
  if (memory == Memory::pinned) return make_pinned_memory<std::byte>(largest_bytes);
  return {new std::byte[largest_bytes], std::default_delete<std::byte[]>()};
}

/// Host memory to send from and to receive in, `largest_bytes` each.
class HostBuffers {
 public:
  /// Sends the same words as the GPU's node.
  HostBuffers(Memory memory, const Node& node)
      : sent_(make_host_memory(memory)), received_(make_host_memory(memory)) {
    FATHOM_CUDA(cudaMemcpy(sent(), node.sent(), largest_bytes, cudaMemcpyDeviceToHost));
    poison(largest_bytes);  // and the operating system's pages are there
  }
  std::byte* sent() const { return sent_.get(); }
  std::byte* received() const { return received_.get(); }
  void poison(std::size_t bytes) const { std::memset(received(), 0xFF, bytes); }

 private:
  HostMemory sent_, received_;
};

/// Made by the first case that needs them.
using LazyBuffers = std::shared_ptr<std::unique_ptr<HostBuffers>>;

std::byte* bytes_of(std::uint32_t* words) { return reinterpret_cast<std::byte*>(words); }

/// Pinned host memory as kernels address it.
std::byte* mapped(std::byte* host) {
  void* device = nullptr;
  FATHOM_CUDA(cudaHostGetDevicePointer(&device, host, 0));
  return static_cast<std::byte*>(device);
}

/// One direction's transfer on a stream.
using Transfer = std::function<void(cudaStream_t)>;

/// `blocks`: of a kernel; 0 is the copy engine.
Transfer transfer(const std::byte* from, std::byte* to, std::size_t bytes, int blocks) {
  if (blocks == 0) {
    return [=](cudaStream_t stream) {
      FATHOM_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    };
  }
  return [=](cudaStream_t stream) { launch_copy(from, to, bytes, blocks, stream); };
}

struct HostRun {
  Engine engine = Engine::copy;
  Memory memory = Memory::pinned;
  Direction direction = Direction::to_gpu;
  std::size_t bytes = 0;
};

Workload host_workload(Context& context, const SharedMachine& machine, const LazyBuffers& lazy,
                       const HostRun& run) {
  const Node& node = machine->gpus.node(machine->device.ordinal);
  if (*lazy == nullptr) *lazy = std::make_unique<HostBuffers>(run.memory, node);
  const HostBuffers& host = **lazy;
  cudaStream_t stream = context.stream();
  const bool sm = run.engine == Engine::sm;
  std::byte* sent = sm ? mapped(host.sent()) : host.sent();
  std::byte* received = sm ? mapped(host.received()) : host.received();
  const int blocks =
      sm ? copy_blocks(machine->device, run.direction == Direction::both ? 2 : 1) : 0;
  const Transfer in = transfer(sent, bytes_of(node.received()), run.bytes, blocks);
  const Transfer out = transfer(bytes_of(node.sent()), received, run.bytes, blocks);

  Workload workload;
  // The driver itself moves pageable memory through memory of its own, and waits for it.
  workload.host_paced = run.memory == Memory::pageable;
  if (run.direction == Direction::both) {
    // The events must be there as long as the launches are.
    const auto fork = std::make_shared<Event>(make_order_event());
    workload.launch = [=, &node] {
      FATHOM_CUDA(cudaEventRecord(fork->get(), stream));
      node.wait_for(fork->get());
      in(stream);
      out(node.stream());
      node.make_wait(stream);
    };
  } else {
    workload.launch = [=] { to_gpu(run.direction) ? in(stream) : out(stream); };
  }
  workload.poison = [=, &node, &host] {
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    node.poison(run.bytes);
    host.poison(run.bytes);
  };
  workload.verify = [=, &node, &host]() -> std::optional<std::string> {
    const std::size_t words = run.bytes / 4;
    if (to_gpu(run.direction)) {
      const std::uint64_t wrong = node.wrong_words(node.received(), words, {node.source()});
      if (wrong > 0) return fmt::format("{} of {} words did not reach the GPU", wrong, words);
    }
    if (to_host(run.direction)) {
      // Back to the GPU, which checks it: what arrived there was looked at before.
      FATHOM_CUDA(cudaMemcpy(node.received(), host.received(), run.bytes, cudaMemcpyHostToDevice));
      // From pageable memory it returns once the driver has the bytes, before the GPU does, and the
      // node's stream does not wait for the default one.
      FATHOM_CUDA(cudaStreamSynchronize(nullptr));
      const std::uint64_t wrong = node.wrong_words(node.received(), words, {node.source()});
      if (wrong > 0) return fmt::format("{} of {} words did not reach the host", wrong, words);
    }
    return std::nullopt;
  };
  return workload;
}

Case host_case(const SharedMachine& machine, const LazyBuffers& buffers, const HostRun& run) {
  const char* memory = run.memory == Memory::pinned ? "pinned" : "pageable";
  const char* engine = run.engine == Engine::copy ? "copy engine" : "SM";
  const bool both = run.direction == Direction::both;
  Case c = transfer_case(
      fmt::format("host/{}/{}/{}/{}", memory, engine, name_of(run.direction), run.bytes),
      {{"link", "host"},
       {"memory", memory},
       {"engine", engine},
       {"direction", name_of(run.direction)},
       {"size", static_cast<std::int64_t>(run.bytes)}},
      static_cast<double>(run.bytes) * (both ? 2 : 1), *machine);
  c.bound = times(machine->pcie, both ? 2 : 1);
  const bool headline = run.bytes == largest_bytes;
  c.precision = headline ? headline_precision : curve_precision;
  c.suite = quick_if(headline && run.memory == Memory::pinned && run.engine == Engine::copy);
  c.prepare = [=](Context& context) { return host_workload(context, machine, buffers, run); };
  return c;
}

/// A copy so small that nothing but its beginning and its end counts.
Case latency_case(const SharedMachine& machine, const LazyBuffers& buffers, Direction direction) {
  const HostRun run{Engine::copy, Memory::pinned, direction, 4};
  Case c = host_case(machine, buffers, run);
  c.name = fmt::format("host/latency/{}", name_of(direction));
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
  const auto pinned = std::make_shared<std::unique_ptr<HostBuffers>>();
  const auto pageable = std::make_shared<std::unique_ptr<HostBuffers>>();
  std::vector<Case> cases;
  for (const Direction direction : {Direction::to_gpu, Direction::to_host})
    cases.push_back(latency_case(machine, pinned, direction));
  for (const std::size_t bytes : sizes()) {
    for (const Direction direction : directions) {
      cases.push_back(host_case(machine, pinned, {Engine::copy, Memory::pinned, direction, bytes}));
      cases.push_back(host_case(machine, pinned, {Engine::sm, Memory::pinned, direction, bytes}));
      // Two threads of the host would be needed for both directions at once.
      if (direction == Direction::both) continue;
      cases.push_back(
          host_case(machine, pageable, {Engine::copy, Memory::pageable, direction, bytes}));
    }
  }
  return cases;
}

}  // namespace fathom::links
