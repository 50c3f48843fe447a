#include <fmt/format.h>

#include <algorithm>

#include "harness/cuda_check.h"
#include "probes/links/cases.h"

// Every ordered pair of GPUs, one way and, where the first is the lower one, both ways at once.

namespace fathom::links {
namespace {

/// Who moves the bytes: a copy engine of the sending GPU, the receiver's SMs by loads, or the sender's by stores.
enum class Engine { copy, loads, stores };

const char* name_of(Engine engine) {
  return engine == Engine::copy ? "copy engine" : engine == Engine::loads ? "SM loads" : "SM stores";
}

/// Copies in one launch: so many that the microseconds in which GPUs wait for each other's streams do
/// not count.
constexpr int copies_per_launch = 4;
constexpr Precision pair_precision{
    .relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.03};

/// Copies so small that nothing but their beginning and end counts, and so many in one launch that what
/// the GPUs wait for each other's streams does not.
constexpr std::size_t latency_bytes = 4;
constexpr int latency_copies = 64;

struct PeerRun {
  Engine engine = Engine::copy;
  int from = 0, to = 0;
  bool both = false;
  std::size_t bytes = largest_bytes;
  int copies = copies_per_launch;
};

/// The GPU that works for a transfer.
int worker(Engine engine, int from, int to) { return engine == Engine::loads ? to : from; }

void queue_copies(const PeerRun& run, const Node& from, const Node& to, const Node& on, int blocks) {
  const OnDevice here(on.ordinal());
  const auto* source = reinterpret_cast<const std::byte*>(from.sent());
  auto* destination = reinterpret_cast<std::byte*>(to.received());
  for (int i = 0; i < run.copies; ++i) {
    if (run.engine == Engine::copy) {
      FATHOM_CUDA(cudaMemcpyPeerAsync(destination, to.ordinal(), source, from.ordinal(), run.bytes,
                                      on.stream()));
    } else {
      launch_copy(source, destination, run.bytes, blocks, on.stream());
    }
  }
}

Workload peer_workload(Context& context, const SharedMachine& machine, const PeerRun& run) {
  cudaStream_t stream = context.stream();
  const Node& from = machine->gpus.node(run.from);
  const Node& to = machine->gpus.node(run.to);
  const auto fork = std::make_shared<Event>(make_order_event());
  const int blocks = copy_blocks(machine->device, 1);  // a pair is of one kind, as a rule
  Workload workload;
  // Without access the driver moves the bytes through the host, and waits for them.
  workload.host_paced = !machine->gpus.access(run.from, run.to);
  workload.capturable = run.engine != Engine::copy;
  workload.launch = [=, &from, &to] {
    const Node& first = worker(run.engine, run.from, run.to) == run.from ? from : to;
    const Node& second = &first == &from ? to : from;
    FATHOM_CUDA(cudaEventRecord(fork->get(), stream));
    first.wait_for(fork->get());
    if (run.both) second.wait_for(fork->get());
    queue_copies(run, from, to, first, blocks);
    if (run.both) queue_copies(run, to, from, second, blocks);
    first.make_wait(stream);
    if (run.both) second.make_wait(stream);
  };
  workload.poison = [=, &from, &to] {
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    to.poison(run.bytes);
    if (run.both) from.poison(run.bytes);
  };
  workload.verify = [=, &from, &to]() -> std::optional<std::string> {
    const auto missing = [bytes = run.bytes](const Node& sender, const Node& receiver) {
      return receiver.wrong_words(receiver.received(), bytes / 4, {sender.source()});
    };
    std::uint64_t wrong = missing(from, to);
    if (run.both) wrong += missing(to, from);
    if (wrong == 0) return std::nullopt;
    return fmt::format("{} words did not arrive", wrong);
  };
  return workload;
}

/// The least of both GPUs' NVLinks; where the way leads through the host, that of the own GPU's PCIe
/// link if it takes part. Nothing for GPUs that reach each other without NVML saying by which links:
/// inside a virtual machine it may name none and there be eighteen.
std::optional<Bound> link_bound(const Machine& machine, int from, int to) {
  const std::optional<Bound> a = machine.gpus.nvlink_bound(from), b = machine.gpus.nvlink_bound(to);
  if (a && b) return a->value <= b->value ? a : b;
  if (a || b || machine.gpus.access(from, to)) return std::nullopt;
  const int own = machine.device.ordinal;
  return from == own || to == own ? machine.pcie : std::nullopt;
}

Case peer_case(const SharedMachine& machine, const PeerRun& run) {
  const char* way = run.both ? "both" : "one way";
  const bool access = machine->gpus.access(run.from, run.to);
  Case c = transfer_case(fmt::format("peer/{}/{}/{}to{}", name_of(run.engine), way, run.from, run.to),
                         {{"link", "peer"},
                          {"engine", name_of(run.engine)},
                          {"direction", way},
                          {"from GPU", std::int64_t{run.from}},
                          {"to GPU", std::int64_t{run.to}},
                          {"path", access ? "peer access" : "through the host"},
                          {"size", static_cast<std::int64_t>(largest_bytes)}},
                         static_cast<double>(largest_bytes) * copies_per_launch * (run.both ? 2 : 1),
                         *machine);
  if (access) c.bound = times(link_bound(*machine, run.from, run.to), run.both ? 2 : 1);
  c.precision = pair_precision;
  c.suite = run.engine == Engine::copy ? Suite::quick : Suite::standard;
  c.prepare = [=](Context& context) { return peer_workload(context, machine, run); };
  return c;
}

/// How long a small copy of the sender's copy engine takes.
Case latency_case(const SharedMachine& machine, int from, int to) {
  const PeerRun run{Engine::copy, from, to, false, latency_bytes, latency_copies};
  Case c = peer_case(machine, run);
  c.name = fmt::format("peer/latency/{}to{}", from, to);
  c.axes[0] = {"link", "peer, latency"};
  c.axes.back() = {"size", static_cast<std::int64_t>(latency_bytes)};
  c.metric = {"latency", "s", Better::lower, std::nullopt};
  c.value = [](double seconds) { return seconds / latency_copies; };
  c.bound.reset();
  return c;
}

}  // namespace

std::vector<Case> peer_cases(const SharedMachine& machine) {
  std::vector<Case> cases;
  const std::vector<int>& gpus = machine->gpus.usable();
  for (const int from : gpus)
    for (const int to : gpus)
      if (from != to) cases.push_back(latency_case(machine, from, to));
  for (const Engine engine : {Engine::copy, Engine::loads, Engine::stores}) {
    for (const bool both : {false, true}) {
      for (const int from : gpus) {
        for (const int to : gpus) {
          if (from == to || (both && from > to)) continue;
          // Loads and stores need each GPU to reach the other's memory.
          const bool reach = machine->gpus.access(from, to) && machine->gpus.access(to, from);
          if (engine != Engine::copy && !reach) continue;
          cases.push_back(peer_case(machine, {engine, from, to, both}));
        }
      }
    }
  }
  return cases;
}

}  // namespace fathom::links
