// The warp stages of a sum: every method, type and number of chains, for one round.

#include "probes/warp_reduce/warp_stage_kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::warp_reduce;

namespace {

/// What the lanes must hold after one round: several reductions, then a division by 32 for each.
/// The first reduction gives every lane the sum, and the next ones multiply it by 32 exactly, so it
/// is the mean of the start values, rounded down for integers.
template <class T>
std::array<T, 32> lanes_after_round(int chain) {
  int sum = 0;
  for (int lane = 0; lane < 32; ++lane) sum += start_value(lane, chain);
  std::array<T, 32> lanes;
  lanes.fill(static_cast<T>(sum) / 32);
  return lanes;
}

/// Shuffling down gives the sum to lane 0 only, and what the others hold is in lane 0's next one.
template <class T>
std::array<T, 32> lanes_after_shuffling_down(int chain, int reductions) {
  std::array<T, 32> lanes;
  for (int lane = 0; lane < 32; ++lane) lanes[lane] = static_cast<T>(start_value(lane, chain));
  for (int reduction = 0; reduction < reductions; ++reduction) {
    for (int distance = 16; distance > 0; distance /= 2) {
      // Upwards, so that each lane takes what its partner held before this step.
      for (int lane = 0; lane < 32; ++lane) {
        lanes[lane] += lane + distance < 32 ? lanes[lane + distance] : lanes[lane];
      }
    }
  }
  for (T& lane : lanes) {
    for (int reduction = 0; reduction < reductions; ++reduction) lane /= 32;
  }
  return lanes;
}

template <class T>
void check_stage(test::Pool& pool, WarpMethod method, StageType type, int warps, int chains) {
  CAPTURE(static_cast<int>(method), static_cast<int>(type), warps, chains);
  constexpr int blocks = 2;
  const Buffer clocks = pool.buffers.output("clocks", blocks * warps * 2 * sizeof(long long));
  const Buffer out =
      pool.buffers.output("out", std::size_t{blocks} * warps * chains * 32 * sizeof(T));
  pool.buffers.poison(clocks);
  pool.buffers.poison(out);
  launch_warp_stage({method, type, warps, chains, 1}, blocks, clocks.as<long long>(), out.data,
                    pool.stream.get());
  const std::vector<T> lanes = pool.read<T>(out);
  for (int chain = 0; chain < chains; ++chain) {
    const std::array<T, 32> expected =
        method == WarpMethod::shuffle_down
            ? lanes_after_shuffling_down<T>(chain, reductions_per_round(type))
            : lanes_after_round<T>(chain);
    for (int warp = 0; warp < blocks * warps; ++warp) {
      for (int lane = 0; lane < 32; ++lane) {
        CAPTURE(chain, warp, lane);
        CHECK(lanes[(static_cast<std::size_t>(warp) * chains + chain) * 32 + lane] ==
              expected[lane]);
      }
    }
  }
  const std::vector<long long> times = pool.read<long long>(clocks);
  for (std::size_t i = 0; i < times.size(); i += 2) {
    CHECK(times[i] >= 0);  // poison is -1
    CHECK(times[i + 1] >= times[i]);
  }
  pool.check_guards();
}

}  // namespace

TEST_CASE("each way to add up a warp leaves the lanes as it must",
          "[gpu][warp_reduce][sanitized]") {
  test::Pool pool;
  for (const WarpMethod method :
       {WarpMethod::shuffle_xor, WarpMethod::shuffle_down, WarpMethod::reduce_add,
        WarpMethod::shared_tree, WarpMethod::shared_butterfly}) {
    for (const int warps : {1, 32}) {
      for (const int chains : {1, max_chains}) {
        if (method != WarpMethod::reduce_add) {
          check_stage<float>(pool, method, StageType::f32, warps, chains);
          check_stage<double>(pool, method, StageType::f64, warps, chains);
        } else if (pool.facts.major < 8) {
          continue;
        }
        check_stage<std::uint32_t>(pool, method, StageType::i32, warps, chains);
      }
    }
  }
}
