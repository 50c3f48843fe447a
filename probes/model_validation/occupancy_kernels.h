#pragma once

#include <cuda_runtime.h>

namespace fathom::model_validation {

/// Kernels that differ in what occupancy depends on: registers and static shared memory. The probe
/// only asks about them.
inline constexpr int occupants = 16;

/// What the driver says of a kernel; its dynamic shared memory may then be as large as the device
/// allows beside the static.
cudaFuncAttributes occupant_attributes(int occupant);

/// cudaOccupancyMaxActiveBlocksPerMultiprocessor with the kernel's preferred carve-out set to
/// `carveout_percent`, -1 for the driver's choice.
int driver_blocks(int occupant, int threads, int dynamic_shared, int carveout_percent);

/// One thread of it, for whoever wants to see a kernel run. `memory`: one word, 0.
void launch_occupant(int occupant, unsigned* memory, cudaStream_t stream);

}  // namespace fathom::model_validation
