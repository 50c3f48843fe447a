#include <fmt/format.h>

#include <random>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "models/occupancy.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/model_validation/campaigns.h"
#include "probes/model_validation/kernels.h"
#include "results/error.h"

namespace fathom::model_validation {
namespace {

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

models::KernelResources random_block(std::mt19937_64& random, const cudaFuncAttributes& function) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  models::KernelResources block{.registers_per_thread = function.numRegs,
                                .static_shared_bytes = static_cast<int>(function.sharedSizeBytes)};
  // Whole warps as most kernels have them, and any other number.
  block.threads_per_block = random() % 2 == 0 ? 32 * (1 + below(32)) : 1 + below(1024);
  const int most = function.maxDynamicSharedSizeBytes;
  // None, as much as there may be, or, twice as often, less.
  const int kind = below(4);
  block.dynamic_shared_bytes =
      kind == 0 ? 0 : below((kind == 1 ? most : std::min(most, 20 * 1024)) + 1);
  block.carveout_percent = random() % 3 == 0 ? below(101) : -1;
  return block;
}

int driver_blocks(Occupant kernel, const models::KernelResources& block) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   block.carveout_percent));
  return resident_blocks_of(kernel, block.threads_per_block,
                            static_cast<std::size_t>(block.dynamic_shared_bytes));
}

/// Random block sizes, shared memory and carve-outs of kernels with different registers: resident
/// blocks by the model and by the driver.
CampaignResult run_occupancy(Context& context, const KeepGoing& keep_going, Entry& entry) {
  const DeviceFacts& device = context.device();
  const models::SmLimits& sm = models::sm_limits(device.major, device.minor);
  std::vector<cudaFuncAttributes> attributes;
  for (const Occupant occupant : occupants) attributes.push_back(attributes_of(occupant, device));

  CampaignResult result{
      "the occupancy model",
      {{"driver_blocks", "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "blocks per SM"}}};
  std::mt19937_64 random(context.seed());
  double& launchable = entry.extras["launchable"];
  for (; result.trials < context.option("configurations") && keep_going(); ++result.trials) {
    const std::size_t occupant = random() % occupants.size();
    const models::KernelResources block = random_block(random, attributes[occupant]);
    const auto describe = [&] {
      return fmt::format(
          "a block of {} threads, {} registers, {} + {} bytes of shared memory, carve-out {}",
          block.threads_per_block, block.registers_per_thread, block.static_shared_bytes,
          block.dynamic_shared_bytes,
          block.carveout_percent < 0 ? "open" : fmt::format("{} %", block.carveout_percent));
    };
    const int model = models::occupancy(sm, block).blocks;
    const int driver = driver_blocks(occupants[occupant], block);
    result.differing += result.comparisons.front().add(driver, model, describe) ? 0 : 1;
    launchable += model > 0 ? 1 : 0;
  }
  return result;
}

Case occupancy_case() {
  Case c;
  c.name = "occupancy";
  c.axes = {{"model", "occupancy"}};
  c.suite = Suite::quick;
  c.metric = {"mismatches", "configurations", Better::lower, std::nullopt};
  c.mode = Campaign{{},
                    [](Context& context, CounterSession*, const std::string&,
                       const KeepGoing& keep_going, Entry& entry) {
                      try {
                        return report(run_occupancy(context, keep_going, entry), entry);
                      } catch (const std::invalid_argument& error) {  // an SM that no table has
                        throw Error(ExitCode::bad_input, error.what());
                      }
                    }};
  return c;
}

std::vector<Case> cases(const DeviceFacts&) {
  std::vector<Case> result;
  for (const Space space : {Space::shared, Space::global})
    for (const models::Access op : {models::Access::load, models::Access::store})
      for (const int bytes : {1, 2, 4, 8, 16}) result.push_back(warp_case(space, op, bytes));
  result.push_back(occupancy_case());
  return result;
}

const Probe probe{
    .name = "model_validation",
    .question =
        "Do the models of shared memory, global memory and occupancy predict this GPU exactly, "
        "whatever the pattern?",
    .method =
        "Random warp patterns, structured and not, many with inactive lanes: strides, broadcasts, "
        "pairs, permutations, tiles plain, padded and swizzled, structures, few banks, scattered "
        "words. Each is one memory instruction of one warp in a kernel of its own, whose addresses "
        "come from the constant bank, so that wavefronts, conflicts, sectors, requests and "
        "instructions by counter are its alone; each must equal the model. What each lane read or "
        "stored is checked in a separate launch. Random block sizes, registers, shared memory and "
        "carve-outs go to the occupancy model and to the driver. The same seed gives the same "
        "patterns.",
    .conclude = conclude,
    .cases = {cases},
    // A pattern takes about a millisecond, most of it the profiler's.
    .options = {
        {"patterns", "Random warp patterns in all, shared equally by the cases; about 900 a second",
         2'000, 20'000, 1, 100'000'000},
        {"configurations", "Random configurations of the occupancy model", 10'000, 10'000, 1,
         100'000'000}}};

}  // namespace
}  // namespace fathom::model_validation

FATHOM_PROBE(fathom::model_validation::probe)
