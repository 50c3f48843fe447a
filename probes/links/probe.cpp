#include "probes/links/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/nvml_library.h"
#include "models/bandwidth.h"
#include "probes/claims.h"
#include "probes/device/launch.h"

namespace fathom::links {
namespace {

/// Whether nobody else holds it; the lock is then added to `locks`.
bool take(const CudaDevice& device, std::vector<FileDescriptor>& locks) {
  try {
    locks.push_back(lock_gpu(uuid_hash(device.uuid)));
  } catch (const Error& error) {
    if (error.code() != ExitCode::gpu_busy) throw;
    return false;
  }
  return true;
}

std::optional<Bound> nvlinks_of(const NvmlDevice& gpu) {
  const NvmlNvLinks links = gpu.nvlinks().value_or({});
  if (links.active == 0 || links.bytes_per_second == 0) return std::nullopt;
  return Bound{links.active * links.bytes_per_second,
               fmt::format("{} NVLinks x {:.4g} GB/s, one direction (NVML)", links.active,
                           links.bytes_per_second / 1e9)};
}

/// Nothing where the host is not on PCIe: only other links (NVLink, NVLink-C2C) carry the
/// processor's native atomics.
std::optional<Bound> pcie_of(const NvmlDevice& gpu, int ordinal) {
  int native_atomics = 0;
  FATHOM_CUDA(
      cudaDeviceGetAttribute(&native_atomics, cudaDevAttrHostNativeAtomicSupported, ordinal));
  const NvmlPcieLink link = gpu.pcie_link().value_or({});
  if (native_atomics != 0 || link.generation_max == 0 || link.width == 0) return std::nullopt;
  try {
    // It trains down while the GPU idles: the highest generation is what it has under load.
    const models::PhysicalBound bound = models::pcie_bandwidth_bound(
        static_cast<int>(link.generation_max), static_cast<int>(link.width));
    return Bound{bound.value, bound.source};
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a generation to come
  }
}

GpuLinks links_of(const NvmlLibrary& nvml, const CudaDevice& device) {
  const Reading<NvmlDevice> gpu = nvml.device_by_pci_bus_id(device.pci_bus_id);
  if (!gpu) return {device.name, {}, {}};
  return {device.name, nvlinks_of(*gpu), pcie_of(*gpu, device.ordinal)};
}

/// An event that says when, not how long it took; of the current device.
Event make_order_event() {
  cudaEvent_t event = nullptr;
  FATHOM_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

}  // namespace

OnDevice::OnDevice(int ordinal) {
  FATHOM_CUDA(cudaGetDevice(&before_));
  FATHOM_CUDA(cudaSetDevice(ordinal));
}
OnDevice::~OnDevice() { cudaSetDevice(before_); }

Node::Node(int ordinal, std::uint32_t source) : ordinal(ordinal), source(source) {
  const OnDevice here(ordinal);
  stream_ = make_stream();
  done_ = make_order_event();
  sent_ = make_device_memory<std::uint32_t>(largest_bytes / 4);
  received_ = make_device_memory<std::uint32_t>(largest_bytes / 4);
  wrong_ = make_device_memory<unsigned long long>(1);
  launch(fill, threads_for(largest_bytes / 4, word_threads, word_blocks), stream(), sent(),
         largest_bytes / 4, source);
  FATHOM_CUDA(cudaStreamSynchronize(stream()));
}

bool Node::at_rest() const {
  const cudaError_t status = cudaStreamQuery(stream());
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // clears it: it is an answer
    return false;
  }
  FATHOM_CUDA(status);
  return true;
}

void Node::poison(std::size_t bytes) const {
  const OnDevice here(ordinal);
  FATHOM_CUDA(cudaMemsetAsync(received(), 0xFF, bytes, stream()));
  FATHOM_CUDA(cudaStreamSynchronize(stream()));
}

std::uint64_t Node::wrong_words(std::size_t words, const Arrival& arrival,
                                std::size_t first) const {
  const OnDevice here(ordinal);
  FATHOM_CUDA(cudaMemsetAsync(wrong_.get(), 0, sizeof(unsigned long long), stream()));
  launch(check, threads_for(words, word_threads, word_blocks), stream(), received() + first, words,
         arrival, wrong_.get());
  unsigned long long wrong = ~0ull;
  FATHOM_CUDA(
      cudaMemcpyAsync(&wrong, wrong_.get(), sizeof wrong, cudaMemcpyDeviceToHost, stream()));
  FATHOM_CUDA(cudaStreamSynchronize(stream()));
  return wrong;
}

Machine::Machine(const DeviceFacts& own) : device(own), usable{own.ordinal} {
  const NvmlLibrary nvml;
  FATHOM_CUDA(cudaGetDeviceCount(&visible));
  for (int ordinal = 0; ordinal < visible; ++ordinal) {
    const CudaDevice gpu = read_cuda_device(ordinal, nvml);
    if (ordinal != own.ordinal) {
      if (!take(gpu, locks)) {
        ++busy;
        continue;
      }
      usable.push_back(ordinal);
    }
    topology.gpus[ordinal] = links_of(nvml, gpu);
  }
  for (const int from : usable) {
    for (const int to : usable) {
      if (from == to) continue;
      int can = 0, atomics = 0;
      FATHOM_CUDA(cudaDeviceCanAccessPeer(&can, from, to));
      if (can != 0) topology.access.insert({from, to});
      FATHOM_CUDA(
          cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to));
      if (atomics != 0) topology.native_atomics.insert({from, to});
    }
  }
  if (usable.size() > 1) nccl_version = links::nccl_version();
}

const Node& Machine::node(int ordinal) {
  std::unique_ptr<Node>& node = nodes[ordinal];
  if (node) return *node;
  const OnDevice here(ordinal);
  for (const int peer : usable) {
    if (peer == ordinal || !access(ordinal, peer)) continue;
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    cudaGetLastError();  // clears what is no error: that it is enabled already
    if (status != cudaErrorPeerAccessAlreadyEnabled) FATHOM_CUDA(status);
  }
  const auto place = std::ranges::find(usable, ordinal) - usable.begin();
  node = std::make_unique<Node>(ordinal, static_cast<std::uint32_t>(place));
  return *node;
}

std::function<void()> tied(const Nodes& nodes, cudaStream_t stream, std::function<void()> queue) {
  // The event must be there as long as the launches are.
  return [=, fork = std::make_shared<Event>(make_order_event())] {
    FATHOM_CUDA(cudaEventRecord(fork->get(), stream));
    for (const Node* node : nodes) {
      const OnDevice here(node->ordinal);
      FATHOM_CUDA(cudaStreamWaitEvent(node->stream(), fork->get(), 0));
    }
    queue();
    for (const Node* node : nodes) {
      {
        const OnDevice here(node->ordinal);
        FATHOM_CUDA(cudaEventRecord(node->done(), node->stream()));
      }
      FATHOM_CUDA(cudaStreamWaitEvent(stream, node->done(), 0));
    }
  };
}

std::function<void()> poisoning(const Nodes& nodes, cudaStream_t stream, std::size_t bytes) {
  return [=] {
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    for (const Node* node : nodes) node->poison(bytes);
  };
}

Case transfer_case(std::string name, Axes axes, double bytes, const Machine& machine) {
  Case c;
  c.name = std::move(name);
  c.axes = std::move(axes);
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.value = rate(bytes);
  c.extras = {{"visible_gpus", machine.visible},
              {"busy_gpus", machine.busy},
              {"pairs_with_access", static_cast<double>(machine.topology.access.size())},
              {"nccl_version", machine.nccl_version}};
  return c;
}

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 4096; bytes <= largest_bytes; bytes *= 4) all.push_back(bytes);
  return all;
}

namespace {

std::vector<Case> cases(const DeviceFacts& device) {
  const auto machine = std::make_shared<Machine>(device);
  std::vector<Case> result;
  for (const auto part : {host_cases, peer_cases, nccl_cases})
    for (Case& c : part(machine)) result.push_back(std::move(c));
  return result;
}

const Probe probe{
    .name = "links",
    .question =
        "How much do the links to the host and to other GPUs carry, by which engine, in which "
        "direction and from which size on?",
    .method =
        "Copies of random words by copy engines (cudaMemcpyAsync) and by kernels that move 16 "
        "bytes a thread, timed by events and checked word by word. A byte counts once for each "
        "direction, as nvbandwidth counts. Between GPUs the sender's copy engine writes, unless "
        "the receiver's, which reads, is named. The time of a load is that of a chase through 2 "
        "MiB of the other GPU's memory. GPUs in use by another Fathom are left out, the others "
        "locked meanwhile. Collectives are NCCL's over all GPUs, out of place, on 32-bit integers, "
        "counted and timed as nccl-tests does: by the host's clock over 20 calls (fewer above 64 "
        "MiB). Up to 4 MiB they are timed again by events, 32 of them queued before the first "
        "begins (NCCL, queued). Reduction in the NVLink switches is off unless NCCL_NVLS_ENABLE is "
        "set.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace
}  // namespace fathom::links

FATHOM_PROBE(fathom::links::probe)
