#include "models/occupancy.h"
#include "tests/testing.h"

#include <cuda_occupancy.h>

namespace fathom::models {
namespace {

/// The toolkit's calculator on the same SM: the reference.
cudaOccResult reference(const SmLimits& sm, const KernelResources& kernel) {
  cudaOccDeviceProp device;
  device.computeMajor = sm.major;
  device.computeMinor = sm.minor;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = sm.warps * 32;
  device.regsPerBlock = 65536;
  device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = static_cast<size_t>(sm.shared_bytes);
  device.numSms = 1;
  device.sharedMemPerBlockOptin = static_cast<size_t>(sm.shared_bytes_per_block);
  device.reservedSharedMemPerBlock = static_cast<size_t>(sm.shared_reserved_per_block);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 1024;
  function.numRegs = kernel.registers_per_thread;
  function.sharedSizeBytes = static_cast<size_t>(kernel.static_shared_bytes);
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = static_cast<size_t>(kernel.dynamic_shared_bytes);
  function.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = kernel.carveout_percent;
  cudaOccResult result{};
  REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(
              &result, &device, &function, &state, kernel.threads_per_block,
              static_cast<size_t>(kernel.dynamic_shared_bytes)) == CUDA_OCC_SUCCESS);
  return result;
}

KernelResources random_kernel(std::mt19937_64& random, const SmLimits& sm) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  KernelResources kernel;
  kernel.threads_per_block = random() % 2 == 0 ? 32 * (1 + below(32)) : 1 + below(1100);
  kernel.registers_per_thread = below(256);
  kernel.static_shared_bytes = random() % 3 == 0 ? below(48 * 1024 + 1) : 0;
  kernel.dynamic_shared_bytes = random() % 2 == 0 ? below(sm.shared_bytes + 4096) : 0;
  kernel.carveout_percent = random() % 3 == 0 ? below(101) : -1;
  return kernel;
}

TEST_CASE("Occupancy equals the toolkit's calculator over random kernels", "[models]") {
  std::mt19937_64 random(20260602);
  int launchable = 0;
  for (const SmLimits& sm : all_sm_limits()) {
    for (int trial = 0; trial < 10'000; ++trial) {
      const KernelResources kernel = random_kernel(random, sm);
      const Occupancy ours = occupancy(sm, kernel);
      const cudaOccResult theirs = reference(sm, kernel);
      CAPTURE(sm.major, sm.minor, trial, kernel.threads_per_block, kernel.registers_per_thread,
              kernel.static_shared_bytes, kernel.dynamic_shared_bytes, kernel.carveout_percent);
      REQUIRE(ours.blocks == theirs.activeBlocksPerMultiprocessor);
      REQUIRE(ours.warps == ours.blocks * ((kernel.threads_per_block + 31) / 32));
      REQUIRE(ours.fraction == static_cast<double>(ours.warps) / sm.warps);
      REQUIRE(ours.blocks_by_warps == theirs.blockLimitWarps);
      REQUIRE(ours.blocks_by_shared == theirs.blockLimitSharedMem);
      REQUIRE(ours.blocks_by_blocks == theirs.blockLimitBlocks);
      REQUIRE(ours.shared_per_block == static_cast<int>(theirs.allocatedSharedMemPerBlock));
      if (kernel.threads_per_block <= 1024) {
        REQUIRE(ours.blocks_by_registers == theirs.blockLimitRegs);
        REQUIRE(ours.registers_per_block == theirs.allocatedRegistersPerBlock);
      }
      const unsigned limiter = ours.limiter == "warps"           ? OCC_LIMIT_WARPS
                               : ours.limiter == "registers"     ? OCC_LIMIT_REGISTERS
                               : ours.limiter == "shared memory" ? OCC_LIMIT_SHARED_MEMORY
                                                                 : OCC_LIMIT_BLOCKS;
      REQUIRE((theirs.limitingFactors & limiter) != 0);
      launchable += ours.blocks > 0 ? 1 : 0;
    }
  }
  CHECK(launchable > 25'000);  // the comparison is of more than failed launches
}

TEST_CASE("Next steps are the largest values that help", "[models]") {
  std::mt19937_64 random(5);
  int steps_seen = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const SmLimits& sm = all_sm_limits()[random() % all_sm_limits().size()];
    KernelResources kernel = random_kernel(random, sm);
    const int now = occupancy(sm, kernel).warps;
    for (const OccupancyStep& step : next_occupancy_steps(sm, kernel)) {
      CAPTURE(trial, step.resource, step.now, step.needed, now);
      ++steps_seen;
      REQUIRE(step.needed < step.now);
      REQUIRE(step.then.warps > now);
      const auto with = [&](int value) {
        KernelResources changed = kernel;
        if (step.resource == "registers per thread") {
          changed.registers_per_thread = value;
        } else if (step.resource == "threads per block") {
          changed.threads_per_block = value;
        } else {
          changed.static_shared_bytes = 0;
          changed.dynamic_shared_bytes = value;
        }
        return occupancy(sm, changed).warps;
      };
      REQUIRE(with(step.needed) == step.then.warps);
      // One more of it does not help; for a block, one more warp.
      const int unit = step.resource == "threads per block" ? 32 : 1;
      if (step.needed + unit < step.now) REQUIRE(with(step.needed + unit) <= now);
    }
  }
  CHECK(steps_seen > 300);

  CHECK(next_occupancy_steps(sm_limits(9, 0), {.threads_per_block = 256}).empty());
}

TEST_CASE("Unknown GPUs and impossible kernels are refused", "[models]") {
  CHECK_THROWS_AS(sm_limits(7, 0), std::invalid_argument);
  const SmLimits& sm = sm_limits(9, 0);
  for (const KernelResources& bad : {KernelResources{.threads_per_block = 0},
                                     {.registers_per_thread = -1},
                                     {.static_shared_bytes = 49153},
                                     {.carveout_percent = 101}})
    CHECK_THROWS_AS(occupancy(sm, bad), std::invalid_argument);
  CHECK_THAT(occupancy(sm, {.dynamic_shared_bytes = 227 * 1024 + 1}).sentence,
             contains("too many shared bytes"));
  CHECK(occupancy(sm, {.registers_per_thread = 256}).blocks == 0);  // random_kernel asks for fewer
}

}  // namespace
}  // namespace fathom::models
