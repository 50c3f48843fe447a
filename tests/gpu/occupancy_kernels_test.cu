// Every copy of the occupancy probe, on a few blocks.

#include "probes/occupancy/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::occupancy_probe;

namespace {

std::vector<Variant> every_variant() {
  std::vector<Variant> variants{
      {GridKind::one_shot, 1, 0}, {GridKind::one_shot, 4, 0}, {GridKind::persistent, 4, 0}};
  for (const int ballast : ballasts) variants.push_back({GridKind::persistent, 1, ballast});
  return variants;
}

}  // namespace

TEST_CASE("every variant copies everything and nothing else", "[gpu][occupancy][sanitized]") {
  test::Pool pool;
  constexpr int threads = 128, shares = 5;  // a share is what a block moves in one turn
  for (const Variant& variant : every_variant()) {
    const std::size_t bytes = std::size_t{16} * variant.vectors * threads * shares;
    const Buffer src = pool.buffers.input("src", bytes);
    const Buffer dst = pool.buffers.output("dst", bytes);
    // Persistent grids: several turns a block, unequal ones, and a block without any.
    const std::vector<int> grids = variant.grid == GridKind::one_shot
                                       ? std::vector<int>{shares}
                                       : std::vector<int>{1, 3, shares + 1};
    // Above 48 KiB only where the probe's own query raised the kernel's limit.
    for (const int dynamic_shared : {0, 50 * 1024}) {
      CHECK(facts_of(variant, threads, dynamic_shared).resident_blocks > 0);
      for (const int blocks : grids) {
        CAPTURE(static_cast<int>(variant.grid), variant.vectors, variant.ballast, blocks,
                dynamic_shared);
        pool.buffers.poison(dst);
        launch_copy(variant, {src.data, dst.data, bytes, blocks, threads, dynamic_shared},
                    pool.stream.get());
        CHECK(pool.is_copied(src, dst));
        pool.check_guards();
      }
    }
  }
}
