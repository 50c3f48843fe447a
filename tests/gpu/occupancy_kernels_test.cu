// Every copy of the occupancy probe, on a few blocks.

#include "probes/device/launch.h"
#include "probes/occupancy/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::occupancy_probe;

namespace {

std::vector<Variant> every_variant() {
  std::vector<Variant> variants{{}, {false, 4}, {true, 4}};
  for (const int ballast : ballasts) variants.push_back({true, 1, ballast});
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
    const std::vector<int> grids =
        variant.persistent ? std::vector<int>{1, 3, shares + 1} : std::vector<int>{shares};
    const Kernel kernel = kernel_of(variant);
    for (const int dynamic_shared : {0, 50 * 1024}) {
      CHECK(resident_blocks_with(kernel, threads, dynamic_shared) > 0);
      for (const int blocks : grids) {
        CAPTURE(variant.persistent, variant.vectors, variant.ballast, blocks, dynamic_shared);
        pool.buffers.poison(dst);
        launch(kernel, {blocks, threads, dynamic_shared}, pool.stream.get(), src.as<uint4>(),
               dst.as<uint4>(), bytes / sizeof(uint4), 1u);
        CHECK(pool.is_copied(src, dst));
        pool.check_guards();
      }
    }
  }
}
