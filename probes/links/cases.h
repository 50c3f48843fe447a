#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/buffers.h"
#include "harness/cases.h"
#include "probes/links/bounds.h"
#include "probes/links/kernels.h"

#include "results/files.h"

namespace fathom::links {

/// The most that any case moves at once in one direction.
inline constexpr std::size_t largest_bytes = std::size_t{256} << 20;

/// Makes a device the current one for a while.
class OnDevice {
 public:
  explicit OnDevice(int ordinal);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// One GPU's part in a transfer: a stream, words to send that name it as their source, and room to
/// receive, `largest_bytes` each.
class Node {
 public:
  Node(int ordinal, std::uint32_t source);
  cudaStream_t stream() const { return stream_.get(); }
  std::uint32_t* sent() const { return sent_.get(); }
  std::uint32_t* received() const { return received_.get(); }

  cudaEvent_t done() const { return done_.get(); }  ///< `tied` records it on the stream
  bool at_rest() const;
  /// Fills what is received with a pattern that is never sent.
  void poison(std::size_t bytes) const;
  /// How many of the words received from word `first` on are not what should have arrived;
  /// synchronises.
  std::uint64_t wrong_words(std::size_t words, const Arrival& arrival, std::size_t first = 0) const;

  const int ordinal;
  const std::uint32_t source;  ///< of its words: its place among the usable GPUs

 private:
  Stream stream_;
  Event done_;
  DeviceMemory<std::uint32_t> sent_, received_;
  DeviceMemory<unsigned long long> wrong_;
};

/// What the cases share; lives as long as any of them. The GPUs that this process may use are its
/// own and the others that it sees and nobody else holds, which are locked meanwhile.
struct Machine {
  explicit Machine(const DeviceFacts& own);
  bool access(int from, int to) const { return topology.access.contains({from, to}); }
  /// Made at the first call, with access to all peers that allow it.
  const Node& node(int ordinal);

  DeviceFacts device;
  int visible = 0;          ///< GPUs that this process sees, its own included
  int busy = 0;             ///< of them, held by another Fathom
  std::vector<int> usable;  ///< its own first
  Topology topology;        ///< how the usable ones are connected
  std::vector<FileDescriptor> locks;
  std::map<int, std::unique_ptr<Node>> nodes;
  int nccl_version = 0;  ///< 22809 is 2.28.9; 0: not there, or there are no GPUs to connect
};
using SharedMachine = std::shared_ptr<Machine>;

using Nodes = std::vector<const Node*>;
/// A launch of `queue`, which queues on the nodes' own streams, between what is before and behind
/// it on `stream`.
std::function<void()> tied(const Nodes& nodes, cudaStream_t stream, std::function<void()> queue);
/// Workload::poison of what the nodes receive.
std::function<void()> poisoning(const Nodes& nodes, cudaStream_t stream, std::size_t bytes);

std::vector<Case> host_cases(const SharedMachine& machine);
std::vector<Case> peer_cases(const SharedMachine& machine);
std::vector<Case> nccl_cases(const SharedMachine& machine);
/// Loads libnccl.so.2, or the file that FATHOM_NCCL_LIBRARY names; 0 where that cannot be. Unless
/// NCCL_NVLS_ENABLE is set, reduction in the NVLink switches (NVLS) is off: it counts fewer bytes
/// on the links than bus bandwidth does.
int nccl_version();

/// A case whose launch moves `bytes` in all, counted once for each direction. What conclusions need
/// to say why there are no other cases is in its extras: `visible_gpus`, `busy_gpus`,
/// `pairs_with_access`, `nccl_version` (0: not there).
Case transfer_case(std::string name, Axes axes, double bytes, const Machine& machine);

std::vector<std::size_t> sizes();  ///< 4 KiB to 256 MiB
inline constexpr Precision curve_precision{
    .relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.05};
inline constexpr Precision short_precision{
    .relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.03};
inline constexpr Precision headline_precision{
    .relative_half_width = 0.002, .min_samples = 15, .time_limit_s = 0.3};

}  // namespace fathom::links
