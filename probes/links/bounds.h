#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

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

/// What the bus bandwidth of a collective over these GPUs cannot pass, since it counts what each
/// has to send and to receive: the least of their NVLinks, told as above, whichever of the others
/// they lead to; of a GPU that has none, its PCIe link. Not where switches do a part of the work.
std::optional<Bound> bus_bound(const Topology& topology, std::span<const int> gpus);

}  // namespace fathom::links
