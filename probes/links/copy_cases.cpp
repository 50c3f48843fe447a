#include <fmt/format.h>

#include <cstring>

#include "probes/device/launch.h"
#include "probes/links/cases.h"

namespace fathom::links {
namespace {

/// Queues a copy by a kernel of the current device, of a multiple of 16 bytes. Its blocks fill a
/// GPU like the own one, shared by `copies` that run side by side.
void queue_copy(const Machine& machine, const void* from, void* to, std::size_t bytes, int copies,
                cudaStream_t stream) {
  const int blocks = machine.device.sms * (machine.device.threads_per_sm / copy_threads) / copies;
  const std::size_t packs = bytes / sizeof(uint4);
  launch(copy_packs, threads_for(packs, copy_threads, blocks), stream,
         static_cast<const uint4*>(from), static_cast<uint4*>(to), packs);
}

std::optional<Bound> times(const std::optional<Bound>& bound, double factor) {
  if (!bound || factor == 1) return bound;
  return Bound{bound->value * factor, fmt::format("{} x ({})", factor, bound->source)};
}

/// Turns a case into one that measures the time of one operation; a launch has `operations`.
void measure_latency(Case& c, std::string name, int operations) {
  c.name = std::move(name);
  std::get<std::string>(c.axes[0].second) += ", latency";
  c.metric = {"latency", "s", Better::lower, std::nullopt};
  c.value = [=](double seconds) { return seconds / operations; };
  c.bound.reset();
}

/// Copies so small that nothing but their beginning and end counts.
constexpr std::size_t latency_bytes = 4;

// Host memory to the GPU and back, by copy engines and by kernels.

struct Direction {
  const char* name;
  bool to_gpu, to_host;
  bool both() const { return to_gpu && to_host; }
};
constexpr Direction directions[] = {
    {"to GPU", true, false}, {"to host", false, true}, {"both", true, true}};

/// Host memory to send from and to receive in, `largest_bytes` each; there once a case needed it.
struct HostBuffers {
  std::shared_ptr<std::byte> sent, received;
  void poison(std::size_t bytes) const { std::memset(received.get(), 0xFF, bytes); }

  /// Sends the same words as the GPU's node.
  void make(bool pinned, const Node& node) {
    if (sent) return;
    const auto make_one = [=]() -> std::shared_ptr<std::byte> {
      if (pinned) return make_pinned_memory<std::byte>(largest_bytes);
      return {new std::byte[largest_bytes], std::default_delete<std::byte[]>()};
    };
    HostBuffers made{make_one(), make_one()};
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
  Workload workload;
  // The driver itself moves pageable memory through memory of its own, and waits for it.
  workload.host_paced = !run.pinned;
  workload.launch = [=, &node] {
    if (run.direction.to_gpu) transfer(sent, node.received(), stream);
    if (run.direction.to_host)
      transfer(node.sent(), received, run.direction.both() ? node.stream() : stream);
  };
  if (run.direction.both()) workload.launch = tied({&node}, stream, workload.launch);
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

// Every ordered pair of GPUs, one way and, where the first is the lower one, both ways at once.

/// Who moves the bytes: a copy engine of the sending GPU (it writes) or of the receiving one (it
/// reads), the receiver's SMs by loads, or the sender's by stores.
struct Engine {
  const char* name;
  bool by_sm, by_receiver;
  bool is_plain_copy() const { return !by_sm && !by_receiver; }
};
constexpr Engine copy_engine{"copy engine", false, false}, sm_loads{"SM loads", true, true};
constexpr Engine engines[] = {
    copy_engine, {"copy engine reads", false, true}, sm_loads, {"SM stores", true, false}};

/// So many in one launch that what GPUs wait for each other's streams does not count.
constexpr int copies_per_launch = 4;
constexpr int latency_copies = 64;

struct PeerRun {
  Engine engine;
  int from = 0, to = 0;
  bool both = false;
  std::size_t bytes = largest_bytes;
  int copies = copies_per_launch;
};

void queue_copies(const Machine& machine, const PeerRun& run, const Node& from, const Node& to,
                  const Node& on) {
  const OnDevice here(on.ordinal);
  for (int i = 0; i < run.copies; ++i)
    if (run.engine.by_sm)  // a pair is of one kind, as a rule
      queue_copy(machine, from.sent(), to.received(), run.bytes, 1, on.stream());
    else
      FATHOM_CUDA(cudaMemcpyPeerAsync(to.received(), to.ordinal, from.sent(), from.ordinal,
                                      run.bytes, on.stream()));
}

Workload peer_workload(Context& context, const SharedMachine& machine, const PeerRun& run) {
  cudaStream_t stream = context.stream();
  const Node& from = machine->node(run.from);
  const Node& to = machine->node(run.to);
  const Node& first = run.engine.by_receiver ? to : from;
  const Node& second = run.engine.by_receiver ? from : to;
  const Nodes queueing = run.both ? Nodes{&first, &second} : Nodes{&first};
  const Nodes receiving = run.both ? Nodes{&to, &from} : Nodes{&to};
  Workload workload;
  // Without access the driver moves the bytes through the host, and waits for them.
  workload.host_paced = !machine->access(run.from, run.to);
  workload.capturable = run.engine.by_sm;
  workload.launch = tied(queueing, stream, [=, &from, &to, &first, &second] {
    queue_copies(*machine, run, from, to, first);
    if (run.both) queue_copies(*machine, run, to, from, second);
  });
  workload.poison = poisoning(receiving, stream, run.bytes);
  workload.verify = [=, &from, &to]() -> std::optional<std::string> {
    std::uint64_t wrong = to.wrong_words(run.bytes / 4, {from.source});
    if (run.both) wrong += from.wrong_words(run.bytes / 4, {to.source});
    if (wrong == 0) return std::nullopt;
    return fmt::format("{} words did not arrive", wrong);
  };
  return workload;
}

Case peer_case(const SharedMachine& machine, const PeerRun& run) {
  const char* way = run.both ? "both" : "one way";
  const bool access = machine->access(run.from, run.to);
  Case c = transfer_case(
      fmt::format("peer/{}/{}/{}to{}", run.engine.name, way, run.from, run.to),
      {{"link", "peer"},
       {"engine", run.engine.name},
       {"direction", way},
       {"from GPU", std::int64_t{run.from}},
       {"to GPU", std::int64_t{run.to}},
       {"path", access ? "peer access" : "through the host"},
       {"size", static_cast<std::int64_t>(largest_bytes)}},
      static_cast<double>(largest_bytes) * copies_per_launch * (run.both ? 2 : 1), *machine);
  c.bound = times(peer_bound(machine->topology, run.from, run.to), run.both ? 2 : 1);
  c.precision = short_precision;
  c.suite = quick_if(run.engine.is_plain_copy());
  c.prepare = [=](Context& context) { return peer_workload(context, machine, run); };
  return c;
}

/// `operations` of a launch are on `bytes` together.
Case latency_case(const SharedMachine& machine, const PeerRun& run, const char* what,
                  std::int64_t bytes, int operations) {
  Case c = peer_case(machine, run);
  measure_latency(c, fmt::format("peer/{}/{}to{}", what, run.from, run.to), operations);
  c.axes.back().second = bytes;
  return c;
}

/// A chase takes so many loads on each of so many SMs, spread over the GPU: how far an SM is from
/// the links differs. One pass is over `chase_lines` different lines, more than any L1 holds.
constexpr int chase_loads = 512, chase_sms = 8;

Workload chase_workload(Context& context, const SharedMachine& machine, int from, int to) {
  cudaStream_t stream = context.stream();
  const Node& memory = machine->node(from);
  const Node& reader = machine->node(to);
  const int sms = machine->device.sms;
  {
    const OnDevice there(from);
    launch(chain, threads_for(chase_lines, word_threads), memory.stream(), memory.received());
    FATHOM_CUDA(cudaStreamSynchronize(memory.stream()));
  }
  Workload workload;
  workload.launch = tied({&reader}, stream, [=, &memory, &reader] {
    const OnDevice here(reader.ordinal);
    for (int i = 0; i < chase_sms; ++i)
      launch(chase, {sms, 1}, reader.stream(), memory.received(), i * chase_loads % chase_lines,
             chase_loads, i * sms / chase_sms, reader.received() + i);
  });
  workload.poison = poisoning({&reader}, stream, chase_sms * 4);
  workload.verify = [=, &reader]() -> std::optional<std::string> {
    std::uint32_t ends[chase_sms] = {};
    FATHOM_CUDA(cudaMemcpy(ends, reader.received(), sizeof ends, cudaMemcpyDeviceToHost));
    for (int i = 0; i < chase_sms; ++i) {
      const std::uint32_t want = (i + 1) * chase_loads % chase_lines;
      if (ends[i] != want)
        return fmt::format("chase {} ended at line {} instead of {}", i, ends[i], want);
    }
    return std::nullopt;
  };
  return workload;
}

Case chase_case(const SharedMachine& machine, int from, int to) {
  Case c = latency_case(machine, {sm_loads, from, to}, "load latency",
                        std::int64_t{chase_lines} * chase_line_bytes, chase_loads * chase_sms);
  c.prepare = [=](Context& context) { return chase_workload(context, machine, from, to); };
  return c;
}

}  // namespace

std::vector<Case> host_cases(const SharedMachine& machine) {
  const auto pinned = std::make_shared<HostBuffers>(), pageable = std::make_shared<HostBuffers>();
  std::vector<Case> cases;
  for (const Direction& direction : directions) {
    if (direction.both()) continue;
    Case& c =
        cases.emplace_back(host_case(machine, pinned, {false, true, direction, latency_bytes}));
    measure_latency(c, fmt::format("host/latency/{}", direction.name), 1);
    c.suite = Suite::quick;
    c.precision = headline_precision;
  }
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

std::vector<Case> peer_cases(const SharedMachine& machine) {
  // Loads and stores need each GPU to reach the other's memory.
  const auto reach_each_other = [&](int a, int b) {
    return machine->access(a, b) && machine->access(b, a);
  };
  std::vector<Case> cases;
  std::vector<std::pair<int, int>> pairs;
  for (const int from : machine->usable)
    for (const int to : machine->usable)
      if (from != to) pairs.emplace_back(from, to);
  for (const auto& [from, to] : pairs)
    cases.push_back(latency_case(machine,
                                 {copy_engine, from, to, false, latency_bytes, latency_copies},
                                 "latency", latency_bytes, latency_copies));
  for (const auto& [from, to] : pairs)
    if (reach_each_other(from, to)) cases.push_back(chase_case(machine, from, to));
  for (const Engine& engine : engines) {
    for (const bool both : {false, true}) {
      for (const auto& [from, to] : pairs) {
        // Without access the driver goes through the host, whoever asks.
        const bool possible = engine.is_plain_copy() || reach_each_other(from, to);
        if (possible && !(both && from > to))
          cases.push_back(peer_case(machine, {engine, from, to, both}));
      }
    }
  }
  return cases;
}

}  // namespace fathom::links
