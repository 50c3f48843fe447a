// R3: the published block stage, with ones, as its author checked it, and with random data.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/cases.h"
#include "probes/warp_reduce/warp_stage_kernels.h"

namespace fathom::warp_reduce {
namespace {

constexpr int stage_blocks = 64;

/// How many of the blocks' sums are wrong by more than rounding explains: five steps of the shuffle
/// and one for each further warp, u = 2^-24, of values up to 1.
int wrong_sums(Context& context, bool published, const Buffer& source,
               const std::vector<float>& values) {
  constexpr int threads = block_stage_threads;
  constexpr double allowed = (5 + threads / 32 - 1) * 0x1p-24 * threads;
  const Buffer sums = context.buffers().output("block stage's sums", stage_blocks * sizeof(float));
  context.buffers().poison(sums);
  launch_block_stage(published, source.data, sums.data, stage_blocks, context.stream());
  const auto found = copy_to_host<float>(sums, context.stream());
  int wrong = 0;
  for (int block = 0; block < stage_blocks; ++block) {
    const auto first = values.begin() + block * threads;
    const double right = std::accumulate(first, first + threads, 0.0);
    if (!(std::abs(found[block] - right) <= allowed)) ++wrong;  // a NaN too
  }
  return wrong;
}

std::optional<std::string> run_block_stage(Context& context, bool random, Entry& entry) {
  std::mt19937_64 generator(context.seed());
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(stage_blocks * block_stage_threads, 1.0f);
  if (random) std::ranges::generate(values, [&] { return uniform(generator); });
  const Buffer source = upload(context, "block stage's input", std::as_bytes(std::span(values)));
  entry.iterations = stage_blocks;
  if (const int wrong = wrong_sums(context, false, source, values))
    return std::to_string(wrong) + " sums of the mended block stage are wrong";
  entry.metric.value = wrong_sums(context, true, source, values);
  return std::nullopt;
}

}  // namespace

std::vector<Case> block_stage_cases(const DeviceFacts&) {
  std::vector<Case> cases;
  for (const bool random : {false, true}) {
    Case& c = cases.emplace_back();
    c.name = random ? "block-stage/data:random" : "block-stage/data:ones";
    c.axes = {{"part", "block stage"}, {"data", random ? "random" : "ones"}};
    c.suite = Suite::quick;
    c.metric = {"wrong sums", "blocks", Better::lower, std::nullopt};
    c.extras = {{"blocks", stage_blocks}};
    c.mode = Campaign{
        .roles = {},
        .run = [random](Context& context, CounterSession*, const std::string&, const KeepGoing&,
                        Entry& entry) { return run_block_stage(context, random, entry); },
        .for_a_claim = true};
  }
  return cases;
}

}  // namespace fathom::warp_reduce
