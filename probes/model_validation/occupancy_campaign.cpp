#include "probes/model_validation/campaigns.h"

#include <fmt/format.h>

#include <random>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "models/occupancy.h"
#include "probes/device/launch.h"
#include "probes/model_validation/kernels.h"
#include "results/error.h"

namespace fathom::model_validation {
namespace {

struct Configuration {
  Occupant kernel;
  models::KernelResources block;
};

Configuration random_configuration(std::mt19937_64& random,
                                   const std::vector<cudaFuncAttributes>& attributes) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::size_t occupant = random() % occupants.size();
  const cudaFuncAttributes& function = attributes[occupant];
  Configuration c{occupants[occupant],
                  {.registers_per_thread = function.numRegs,
                   .static_shared_bytes = static_cast<int>(function.sharedSizeBytes)}};
  // Whole warps as most kernels have them, and any other number.
  c.block.threads_per_block = random() % 2 == 0 ? 32 * (1 + below(32)) : 1 + below(1024);
  const int most = function.maxDynamicSharedSizeBytes;
  // None, as much as there may be, or, twice as often, less.
  const int kind = below(4);
  c.block.dynamic_shared_bytes =
      kind == 0 ? 0 : below((kind == 1 ? most : std::min(most, 20 * 1024)) + 1);
  c.block.carveout_percent = random() % 3 == 0 ? below(101) : -1;
  return c;
}

/// What the driver says of a kernel, once its dynamic shared memory may be as large as the device
/// allows beside the static.
cudaFuncAttributes attributes_of(Occupant kernel, const DeviceFacts& device) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, function));
  FATHOM_CUDA(cudaFuncSetAttribute(
      function, cudaFuncAttributeMaxDynamicSharedMemorySize,
      static_cast<int>(device.shared_bytes_per_block_max - attributes.sharedSizeBytes)));
  FATHOM_CUDA(cudaFuncGetAttributes(&attributes, function));
  return attributes;
}

int driver_blocks(const Configuration& c) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(c.kernel),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   c.block.carveout_percent));
  return resident_blocks_of(c.kernel, c.block.threads_per_block,
                            static_cast<std::size_t>(c.block.dynamic_shared_bytes));
}

CampaignResult run(Context& context, const DeviceFacts& device, const KeepGoing& keep_going,
                   Entry& entry) {
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  std::vector<cudaFuncAttributes> attributes;
  for (const Occupant occupant : occupants) attributes.push_back(attributes_of(occupant, device));

  CampaignResult result{
      "the occupancy model",
      {{"driver_blocks", "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "blocks per SM"}}};
  std::mt19937_64 random(context.seed());
  double& launchable = entry.extras["launchable"];
  for (; result.trials < context.option("configurations") && keep_going(); ++result.trials) {
    const Configuration c = random_configuration(random, attributes);
    const auto describe = [&block = c.block] {
      return fmt::format(
          "a block of {} threads, {} registers, {} + {} bytes of shared memory, carve-out {}",
          block.threads_per_block, block.registers_per_thread, block.static_shared_bytes,
          block.dynamic_shared_bytes,
          block.carveout_percent < 0 ? "open" : fmt::format("{} %", block.carveout_percent));
    };
    const int model = models::occupancy(sm, c.block).blocks;
    result.differing += result.comparisons.front().add(driver_blocks(c), model, describe) ? 0 : 1;
    launchable += model > 0 ? 1 : 0;
  }
  return result;
}

}  // namespace

Case occupancy_case(const DeviceFacts& device) {
  Case c;
  c.name = "occupancy";
  c.axes = {{"model", "occupancy"}};
  c.suite = Suite::quick;
  c.metric = {"mismatches", "configurations", Better::lower, std::nullopt};
  c.mode = Campaign{{},
                    [device](Context& context, CounterSession*, const std::string&,
                             const KeepGoing& keep_going, Entry& entry) {
                      try {
                        return report(run(context, device, keep_going, entry), entry);
                      } catch (const std::invalid_argument& error) {  // an SM that no table has
                        throw Error(ExitCode::bad_input, error.what());
                      }
                    }};
  return c;
}

}  // namespace fathom::model_validation
