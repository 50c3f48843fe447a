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
  std::size_t occupant;
  int threads;
  int dynamic_shared;
  int carveout_percent;
};

Configuration random_configuration(std::mt19937_64& random,
                                   const std::vector<cudaFuncAttributes>& attributes) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Configuration c;
  c.occupant = random() % occupants.size();
  // Whole warps as most kernels have them, and any other number.
  c.threads = random() % 2 == 0 ? 32 * (1 + below(32)) : 1 + below(1024);
  const int most = attributes[c.occupant].maxDynamicSharedSizeBytes;
  // None, as much as there may be, or, twice as often, less.
  const int kind = below(4);
  c.dynamic_shared = kind == 0 ? 0 : below((kind == 1 ? most : std::min(most, 20 * 1024)) + 1);
  c.carveout_percent = random() % 3 == 0 ? below(101) : -1;
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
  const Occupant kernel = occupants[c.occupant];
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   c.carveout_percent));
  return resident_blocks_of(kernel, c.threads, static_cast<std::size_t>(c.dynamic_shared));
}

int model_blocks(const models::SmLimits& sm, const cudaFuncAttributes& attributes,
                 const Configuration& c) {
  return models::occupancy(sm, {.threads_per_block = c.threads,
                                .registers_per_thread = attributes.numRegs,
                                .static_shared_bytes = static_cast<int>(attributes.sharedSizeBytes),
                                .dynamic_shared_bytes = c.dynamic_shared,
                                .carveout_percent = c.carveout_percent})
      .blocks;
}

CampaignResult run(Context& context, const DeviceFacts& device, const KeepGoing& keep_going,
                   Entry& entry) {
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  std::vector<cudaFuncAttributes> attributes;
  for (const Occupant occupant : occupants) attributes.push_back(attributes_of(occupant, device));

  CampaignResult result;
  const std::int64_t wanted = context.option("configurations");
  Comparison driver{"driver_blocks", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                    "blocks per SM", "the occupancy model"};
  std::mt19937_64 random(context.seed());
  std::int64_t launchable = 0;
  for (; result.trials < wanted && keep_going(); ++result.trials) {
    const Configuration c = random_configuration(random, attributes);
    const cudaFuncAttributes& function = attributes[c.occupant];
    const auto describe = [&] {
      return fmt::format(
          "a block of {} threads, {} registers, {} + {} bytes of shared memory, carve-out {}",
          c.threads, function.numRegs, function.sharedSizeBytes, c.dynamic_shared,
          c.carveout_percent < 0 ? "open" : fmt::format("{} %", c.carveout_percent));
    };
    const int model = model_blocks(sm, function, c);
    result.differing += driver.add(driver_blocks(c), model, describe) ? 0 : 1;
    launchable += model > 0 ? 1 : 0;
  }
  result.comparisons = {std::move(driver)};
  entry.extras["launchable"] = static_cast<double>(launchable);
  return result;
}

}  // namespace

Case occupancy_case(const DeviceFacts& device) {
  Case c;
  c.name = "occupancy";
  c.axes = {{"model", "occupancy"}};
  c.suite = Suite::quick;
  c.metric = mismatches_of("configurations");
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
