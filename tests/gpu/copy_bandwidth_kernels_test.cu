// Every kernel of the copy probe on little data: where a copy is most likely to be wrong, and
// little enough for each of the sanitizer's tools, which the sweep's gigabytes are not.

#include "probes/copy_bandwidth/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::copy_bandwidth;

namespace {

/// Launches a copy of `bytes` into poison: it must give the source and nothing beyond.
template <class Launch>
void check_copy(test::Pool& pool, const Buffer& src, std::size_t bytes, Launch&& launch) {
  CAPTURE(bytes);
  const Buffer dst = pool.poisoned("dst", bytes);
  launch(CopyRun{src.data, dst.data, bytes, 256});
  CHECK(pool.is_copied(src, dst));
  pool.check_guards();
}

/// The checking kernel must find the output right, and one word of it that is made wrong: outputs
/// are never all ones at their start.
template <class Check>
void check_by_kernel(test::Pool& pool, const Buffer& out, Check&& check) {
  CHECK(pool.wrong_by(check) == 0);
  pool.set(out.data, 0xFF, 4);
  CHECK(pool.wrong_by(check) == 1);
  pool.check_guards();
}

}  // namespace

TEST_CASE("copies of every shape copy everything and nothing else",
          "[gpu][copy_bandwidth][sanitized]") {
  test::Pool pool;
  const Buffer src = pool.buffers.input("src", std::size_t{1} << 20);
  for (const CopyShape& shape : all_shapes) {
    CAPTURE(static_cast<int>(shape.type), shape.vector, shape.unroll, static_cast<int>(shape.load),
            static_cast<int>(shape.store));
    const std::size_t element = element_bytes(shape.type), pack = pack_bytes(shape);
    for (const int threads : {32, 256}) {
      CAPTURE(threads);
      const std::size_t tile = static_cast<std::size_t>(threads) * shape.unroll;
      const std::size_t leftover = (shape.vector - 1) * element;
      // One element; two whole tiles; a tile, a warp and a lane, and the longest tail of elements.
      for (const std::size_t bytes : {element, 2 * tile * pack, (tile + 33) * pack + leftover}) {
        check_copy(pool, src, bytes, [&](CopyRun run) {
          run.threads = threads;
          launch_copy(shape, run, pool.stream.get());
        });
      }
    }
  }
}

TEST_CASE("copies through shared memory copy everything and nothing else",
          "[gpu][copy_bandwidth][sanitized]") {
  test::Pool pool;
  const Buffer src = pool.buffers.input("src", std::size_t{1} << 20);
  // On older GPUs these kernels are empty.
  if (pool.facts.major >= 8) {
    for (const std::size_t packs : {1, 256, 1000}) {
      check_copy(pool, src, packs * 16,
                 [&](const CopyRun& run) { launch_async_copy(run, pool.stream.get()); });
    }
  }
  if (pool.facts.major >= 9) {
    for (const int tile : {16, 2048, 16384}) {
      for (const bool evict_last : {false, true}) {
        CAPTURE(tile, evict_last);
        check_copy(pool, src, std::size_t{5} * tile, [&](const CopyRun& run) {
          launch_bulk_copy({run.src, run.dst, run.bytes, tile, evict_last}, pool.stream.get());
        });
      }
    }
  }
}

TEST_CASE("strided copies put every pack where it belongs", "[gpu][copy_bandwidth][sanitized]") {
  test::Pool pool;
  constexpr std::size_t packs = 1000;
  for (const Strided side : {Strided::loads, Strided::stores}) {
    for (const int pack : {4, 16}) {
      for (const unsigned stride : {1u, 3u, 32u}) {
        CAPTURE(static_cast<int>(side), pack, stride);
        const std::size_t near = packs * pack, far = near * stride;
        const bool loads = side == Strided::loads;
        const Buffer src = pool.buffers.input("src", loads ? far : near);
        const Buffer dst = pool.poisoned("dst", loads ? near : far);
        const StridedRun run{src.data, dst.data, packs, pack, stride, side, 256};
        launch_strided_copy(run, pool.stream.get());
        check_by_kernel(pool, dst, [&](unsigned long long* wrong) {
          launch_check_strided_copy(run, wrong, pool.stream.get());
        });
      }
    }
  }
}

TEST_CASE("rows are folded along and across the lanes", "[gpu][copy_bandwidth][sanitized]") {
  test::Pool pool;
  constexpr std::uint32_t rows = 512, columns = 37;  // no multiple of the loop's unrolling
  const Buffer src = pool.buffers.input("src", std::size_t{rows} * columns * 4);
  const Buffer dst = pool.buffers.output("dst", std::size_t{rows} * 4);
  for (const bool along : {true, false}) {
    CAPTURE(along);
    pool.buffers.poison(dst);
    const RowRun run{src.as<std::uint32_t>(), dst.as<std::uint32_t>(), rows, columns,
                     along ? 1u : columns,    along ? rows : 1u,       256};
    launch_fold_rows(run, pool.stream.get());
    check_by_kernel(pool, dst, [&](unsigned long long* wrong) {
      launch_check_rows(run, wrong, pool.stream.get());
    });
  }
}

TEST_CASE("the mixes compute what they are named for", "[gpu][copy_bandwidth][sanitized]") {
  test::Pool pool;
  for (const ElementType type : {ElementType::float32, ElementType::float64}) {
    const Fill fill = type == ElementType::float32 ? Fill::uniform_float : Fill::uniform_double;
    for (const Mix mix : {Mix::read, Mix::write, Mix::scale, Mix::add, Mix::triad}) {
      CAPTURE(static_cast<int>(type), static_cast<int>(mix));
      // Reading folds whole warps' shares of whole blocks; the others end within a block.
      const std::size_t bytes = mix == Mix::read ? 3 * 8 * read_bytes_per_fold : 16 * 1001;
      const Buffer a = pool.buffers.input("a", bytes, fill);
      const Buffer b = pool.buffers.input("b", bytes, fill);
      const Buffer out =
          pool.buffers.output("out", mix == Mix::read ? bytes / read_bytes_per_fold * 4 : bytes);
      pool.buffers.poison(out);
      const MixRun run{a.data, b.data, out.data, bytes, 256};
      launch_mix(mix, type, run, nullptr, pool.stream.get());
      check_by_kernel(pool, out, [&](unsigned long long* wrong) {
        launch_mix(mix, type, run, wrong, pool.stream.get());
      });
    }
  }
}
