#pragma once

#include <set>
#include <span>

#include "results/document.h"

namespace fathom::links {

/// What is known of the links of one GPU. Rates in B/s, of one direction.
struct GpuLinks {
  std::string name;            ///< as CUDA says: cudaDeviceProp::name
  std::optional<Bound> named;  ///< of all its NVLinks together, where NVML names them
  std::optional<Bound> pcie;   ///< empty where it is unknown, or the host is on another link
};

/// GPUs by ordinal, and what goes from the first of a pair to the second.
struct Topology {
  using Pairs = std::set<std::pair<int, int>>;
  std::map<int, GpuLinks> gpus;
  Pairs access;          ///< cudaDeviceCanAccessPeer
  Pairs native_atomics;  ///< cudaDevP2PAttrNativeAtomicSupported
};

/// What cannot be passed from one GPU to another in one direction: the least of both GPUs' NVLinks,
/// by NVML; where it names none, as in some containers and virtual machines, by their data sheets
/// (models::gpu_table), if the pair has native atomics, which peers have over NVLink and not over
/// PCIe. The least of both PCIe links where a data sheet knows of no NVLink, or the way leads
/// through the host. Empty where none of this is known: a bound that is too low would fail a run.
std::optional<Bound> peer_bound(const Topology& topology, int from, int to);

/// What the bus bandwidth of a collective over these GPUs cannot pass: the least of their NVLinks,
/// told as above, and of a GPU that has none its PCIe link. Not where switches do a part of the
/// work.
std::optional<Bound> bus_bound(const Topology& topology, std::span<const int> gpus);

enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_receive  ///< each rank sends to the next one and receives from the one before it
};
struct NamedCollective {
  Collective collective;
  const char* name;  ///< "all-reduce"
  const char* id;    ///< in a fact's id: "all_reduce"
};
inline constexpr NamedCollective collectives[] = {
    {Collective::all_reduce, "all-reduce", "all_reduce"},
    {Collective::all_gather, "all-gather", "all_gather"},
    {Collective::reduce_scatter, "reduce-scatter", "reduce_scatter"},
    {Collective::broadcast, "broadcast", "broadcast"},
    {Collective::all_to_all, "all-to-all", "all_to_all"},
    {Collective::send_receive, "send and receive", "send_receive"}};

constexpr int rank_before(int rank, int ranks) { return (rank + ranks - 1) % ranks; }

/// Bus bandwidth over algorithm bandwidth (size over time): nccl-tests, doc/PERFORMANCE.md. The
/// size is that of all ranks' shares together where each sends or receives one of `ranks`.
constexpr double bus_factor(Collective collective, int ranks) {
  using enum Collective;
  if (collective == broadcast || collective == send_receive) return 1;
  return (collective == all_reduce ? 2 : 1) * (ranks - 1.0) / ranks;
}

}  // namespace fathom::links
