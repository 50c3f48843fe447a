// The tail-effect probe's kernels, on a few blocks.

#include "probes/device/launch.h"
#include "probes/tail_effect/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::tail_effect;

TEST_CASE("chains end where the host's do", "[gpu][tail_effect][sanitized]") {
  test::Pool pool;
  constexpr int blocks = 3, threads = 64, iterations = 2;
  const Buffer out = pool.buffers.output("out", blocks * threads * sizeof(float));
  for (const int dynamic_shared : {0, 50 * 1024}) {
    CAPTURE(dynamic_shared);
    CHECK(resident_blocks_with(fma_chain, threads, dynamic_shared) > 0);
    pool.buffers.poison(out);
    launch(fma_chain, {blocks, threads, dynamic_shared}, pool.stream.get(), out.as<float>(),
           iterations);
    const std::vector<float> ends = pool.read<float>(out);
    for (std::size_t thread = 0; thread < ends.size(); ++thread) {
      float x = start_value(static_cast<int>(thread % 32));
      for (int i = 0; i < iterations * steps_per_iteration; ++i) x = std::fma(x, factor, addend);
      CAPTURE(thread);
      CHECK(ends[thread] == x);
    }
  }
  pool.check_guards();
}

TEST_CASE("chunks are copied whole and nothing else is", "[gpu][tail_effect][sanitized]") {
  test::Pool pool;
  constexpr int blocks = 3, threads = 64;
  // One vector; a turn and a part of one; several turns of the unrolled loop and a rest.
  for (const std::size_t vectors : {1, 65, 64 * 9 + 7}) {
    const std::size_t chunk = vectors * 16, bytes = chunk * blocks;
    const Buffer src = pool.buffers.input("src", bytes);
    const Buffer dst = pool.buffers.output("dst", bytes);
    for (const int dynamic_shared : {0, 50 * 1024}) {
      CAPTURE(vectors, dynamic_shared);
      CHECK(resident_blocks_with(chunk_copy, threads, dynamic_shared) > 0);
      pool.buffers.poison(dst);
      launch(chunk_copy, {blocks, threads, dynamic_shared}, pool.stream.get(), src.as<uint4>(),
             dst.as<uint4>(), vectors);
      CHECK(pool.is_copied(src, dst));
      pool.check_guards();
    }
  }
}
