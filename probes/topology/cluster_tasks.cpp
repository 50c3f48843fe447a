#include "probes/topology/cluster_tasks.h"

#include <fmt/format.h>

namespace fathom::topology {

ClusterTask cluster_task(const DeviceFacts& device, int cluster_size, int blocks,
                         int blocks_per_sm) {
  ClusterTask task;
  task.cluster_size = cluster_size;
  task.blocks = blocks / cluster_size * cluster_size;
  task.shared_bytes = blocks_per_sm == 1
                          ? static_cast<int>(device.shared_bytes_per_block_max)
                          : static_cast<int>(device.shared_bytes_per_sm / blocks_per_sm -
                                             device.reserved_shared_bytes_per_block);
  return task;
}

std::optional<std::string> check_placements(const std::vector<Placement>& placements,
                                            int cluster_size, int sms) {
  for (std::size_t b = 0; b < placements.size(); ++b) {
    const std::size_t cluster = b / static_cast<std::size_t>(cluster_size);
    if (placements[b].cluster != cluster) {
      return fmt::format("block {} reports cluster {} instead of {}", b, placements[b].cluster,
                         cluster);
    }
    if (placements[b].smid >= static_cast<std::uint32_t>(sms)) {
      return fmt::format("block {} ran on SM {} of {}: they are not numbered in one piece", b,
                         placements[b].smid, sms);
    }
  }
  return std::nullopt;
}

}  // namespace fathom::topology
