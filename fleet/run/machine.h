#pragma once

#include <string>
#include <vector>

#include "fleet/run/measure.h"

namespace fathom {

/// What tells this machine from others of its name, for as long as it is up: FATHOM_MACHINE where
/// it is set, else the kernel's boot id, which all of a machine's containers share. Empty: not
/// known.
std::string machine_id();

/// Gives the jobs a host's name that no other machine has in this folder, whoever else writes
/// there: their own, or that with a number behind it; and the machine, which after a restart stays
/// what it was: one under whose name one of these GPUs has been measured is the same. Returns the
/// name. Throws Error(output_unwritable) or Error(output_full).
std::string claim_host_name(const FleetFolder& folder, const std::string& name,
                            const std::string& machine, std::vector<GpuJob>& jobs);

}  // namespace fathom
