#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases.h"
#include "probes/links/gpus.h"
#include "probes/links/nccl_library.h"

namespace fathom::links {

/// What the cases share; lives as long as any of them.
struct Machine {
  explicit Machine(const DeviceFacts& own);
  DeviceFacts device;
  Gpus gpus;
  std::optional<NcclLibrary> nccl;  ///< loaded only where there are GPUs to connect
  std::optional<Bound> pcie;        ///< of the own GPU's link to the host, one direction
};
using SharedMachine = std::shared_ptr<Machine>;

std::vector<Case> host_cases(const SharedMachine& machine);
std::vector<Case> peer_cases(const SharedMachine& machine);
std::vector<Case> nccl_cases(const SharedMachine& machine);

/// A case whose launch moves `bytes` in all, counted once for each direction. What conclusions need
/// to say why there are no other cases is in its extras: `visible_gpus`, `busy_gpus`,
/// `pairs_with_access`, `nccl_version` (0: not there).
Case transfer_case(std::string name, Axes axes, double bytes, const Machine& machine);

/// Blocks of launch_copy that fill a GPU like the own one, shared by `copies` that run side by
/// side.
int copy_blocks(const DeviceFacts& device, int copies);

/// `factor` times what is known of a link.
std::optional<Bound> times(const std::optional<Bound>& bound, double factor);

/// 4 KiB to 256 MiB, by factors of four.
std::vector<std::size_t> sizes();
inline constexpr Precision curve_precision{
    .relative_half_width = 0.01, .min_samples = 6, .time_limit_s = 0.05};
inline constexpr Precision headline_precision{
    .relative_half_width = 0.002, .min_samples = 15, .time_limit_s = 0.3};

}  // namespace fathom::links
