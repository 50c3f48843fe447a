#include <fmt/format.h>

#include "harness/cuda_check.h"
#include "probes/links/cases.h"

// Every ordered pair of GPUs, one way and, where the first is the lower one, both ways at once.

namespace fathom::links {
namespace {

/// Who moves the bytes: a copy engine of the sending GPU (it writes) or of the receiving one (it
/// reads), the receiver's SMs by loads, or the sender's by stores.
enum class Engine { copy, copy_reads, loads, stores };
constexpr Engine engines[] = {Engine::copy, Engine::copy_reads, Engine::loads, Engine::stores};

const char* name_of(Engine engine) {
  constexpr const char* names[] = {"copy engine", "copy engine reads", "SM loads", "SM stores"};
  return names[static_cast<int>(engine)];
}
bool by_copy_engine(Engine engine) {
  return engine == Engine::copy || engine == Engine::copy_reads;
}

/// Copies in one launch: so many that the microseconds in which GPUs wait for each other's streams
/// do not count.
constexpr int copies_per_launch = 4;
constexpr Precision pair_precision{
    .relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.03};

/// Copies so small that nothing but their beginning and end counts, and so many in one launch that
/// what the GPUs wait for each other's streams does not.
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
int worker(Engine engine, int from, int to) {
  return engine == Engine::loads || engine == Engine::copy_reads ? to : from;
}

void queue_copies(const PeerRun& run, const Node& from, const Node& to, const Node& on,
                  int blocks) {
  const OnDevice here(on.ordinal());
  const auto* source = reinterpret_cast<const std::byte*>(from.sent());
  auto* destination = reinterpret_cast<std::byte*>(to.received());
  for (int i = 0; i < run.copies; ++i) {
    if (by_copy_engine(run.engine)) {
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
  workload.capturable = !by_copy_engine(run.engine);
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

Case peer_case(const SharedMachine& machine, const PeerRun& run) {
  const char* way = run.both ? "both" : "one way";
  const bool access = machine->gpus.access(run.from, run.to);
  Case c = transfer_case(
      fmt::format("peer/{}/{}/{}to{}", name_of(run.engine), way, run.from, run.to),
      {{"link", "peer"},
       {"engine", name_of(run.engine)},
       {"direction", way},
       {"from GPU", std::int64_t{run.from}},
       {"to GPU", std::int64_t{run.to}},
       {"path", access ? "peer access" : "through the host"},
       {"size", static_cast<std::int64_t>(largest_bytes)}},
      static_cast<double>(largest_bytes) * copies_per_launch * (run.both ? 2 : 1), *machine);
  c.bound = times(peer_bound(machine->gpus.topology(), run.from, run.to), run.both ? 2 : 1);
  c.precision = pair_precision;
  c.suite = quick_if(run.engine == Engine::copy);
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

/// A chase takes so many loads on each of so many SMs, spread over the GPU: how far an SM is from
/// the links differs. One pass is over `chase_lines` different lines, more than any L1 holds.
constexpr int chase_loads = 512, chase_sms = 8;

/// How long a load of another GPU's memory takes: a chase of one thread, whose every load needs the
/// one before it.
Workload chase_workload(Context& context, const SharedMachine& machine, int from, int to) {
  cudaStream_t stream = context.stream();
  const Node& memory = machine->gpus.node(from);
  const Node& reader = machine->gpus.node(to);
  const auto fork = std::make_shared<Event>(make_order_event());
  const int sms = machine->device.sms;
  {
    const OnDevice there(from);
    launch_chain(memory.received(), memory.stream());
    FATHOM_CUDA(cudaStreamSynchronize(memory.stream()));
  }
  Workload workload;
  workload.launch = [=, &memory, &reader] {
    FATHOM_CUDA(cudaEventRecord(fork->get(), stream));
    reader.wait_for(fork->get());
    {
      const OnDevice here(reader.ordinal());
      for (int i = 0; i < chase_sms; ++i)
        launch_chase(memory.received(), i * chase_loads, chase_loads, sms, i * sms / chase_sms,
                     reader.received() + i, reader.stream());
    }
    reader.make_wait(stream);
  };
  workload.poison = [=, &reader] {
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    reader.poison(chase_sms * 4);
  };
  workload.verify = [=, &reader]() -> std::optional<std::string> {
    std::uint32_t ends[chase_sms] = {};
    FATHOM_CUDA(cudaMemcpy(ends, reader.received(), sizeof ends, cudaMemcpyDeviceToHost));
    for (int i = 0; i < chase_sms; ++i) {
      const std::uint32_t want = (i + 1) * chase_loads % chase_lines;
      if (ends[i] != want) {
        return fmt::format("chase {} ended at line {} instead of {}", i, ends[i], want);
      }
    }
    return std::nullopt;
  };
  return workload;
}

Case chase_case(const SharedMachine& machine, int from, int to) {
  Case c = peer_case(machine, {Engine::loads, from, to, false});
  c.name = fmt::format("peer/load latency/{}to{}", from, to);
  c.axes[0] = {"link", "peer, latency"};
  c.axes.back() = {"size", std::int64_t{chase_lines} * chase_line_bytes};
  c.metric = {"latency", "s", Better::lower, std::nullopt};
  c.value = [](double seconds) { return seconds / (chase_loads * chase_sms); };
  c.bound.reset();
  c.prepare = [=](Context& context) { return chase_workload(context, machine, from, to); };
  return c;
}

/// Loads and stores need each GPU to reach the other's memory.
bool reach_each_other(const Machine& machine, int a, int b) {
  return machine.gpus.access(a, b) && machine.gpus.access(b, a);
}

}  // namespace

std::vector<Case> peer_cases(const SharedMachine& machine) {
  std::vector<Case> cases;
  const std::vector<int>& gpus = machine->gpus.usable();
  for (const int from : gpus)
    for (const int to : gpus)
      if (from != to) cases.push_back(latency_case(machine, from, to));
  for (const int from : gpus)
    for (const int to : gpus)
      if (from != to && reach_each_other(*machine, from, to))
        cases.push_back(chase_case(machine, from, to));
  for (const Engine engine : engines) {
    for (const bool both : {false, true}) {
      for (const int from : gpus) {
        for (const int to : gpus) {
          if (from == to || (both && from > to)) continue;
          // Without access the driver goes through the host, whoever asks.
          if (engine != Engine::copy && !reach_each_other(*machine, from, to)) continue;
          cases.push_back(peer_case(machine, {engine, from, to, both}));
        }
      }
    }
  }
  return cases;
}

}  // namespace fathom::links
