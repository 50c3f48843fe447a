// Every kernel of the memory-bandwidth probe: short walks through little memory.

#include "probes/memory_bandwidth/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::memory_bandwidth;

namespace {

struct Memory : test::Pool {
  static constexpr int max_warps = 64;
  Buffer reports = buffers.output("reports", max_warps * sizeof(WarpReport));

  std::uint32_t sum_of_words(const Buffer& buffer) const {
    std::uint32_t sum = 0;
    for (const std::uint32_t word : read<std::uint32_t>(buffer)) sum += word;
    return sum;
  }

  /// Wrong words of what `blocks` blocks stored.
  unsigned long long wrong_in(const Buffer& dst, const Access& access, int blocks, int warps) {
    return wrong_by([&](unsigned long long* wrong) {
      launch(count_wrong_words, check_grid, stream.get(), dst.as<std::uint32_t>(), dst.bytes / 4,
             access, static_cast<std::uint32_t>(blocks * warps), wrong);
    });
  }

  std::vector<WarpReport> read_reports(int warps) {
    auto all = read<WarpReport>(reports);
    all.resize(static_cast<std::size_t>(warps));
    for (const WarpReport& r : all) {
      CHECK(r.end > r.start);
      CHECK(r.ns_end >= r.ns_start);
      CHECK(r.sm < static_cast<std::uint32_t>(facts.sms));
    }
    check_guards();
    return all;
  }
};

std::uint32_t sum_of(const std::vector<WarpReport>& reports) {
  std::uint32_t sum = 0;
  for (const WarpReport& r : reports) sum += r.sum;
  return sum;
}

/// What a block's shared memory holds in the end: every warp stores its own values over and over in
/// its part, copies fill the second half with the first.
std::vector<std::uint32_t> words_after(Operation operation, int width) {
  constexpr std::uint32_t all = shared_bytes_used / 4, part = all / shared_warps;
  std::vector<std::uint32_t> words(all);
  for (std::uint32_t i = 0; i < all; ++i)
    words[i] = shared_word(operation == Operation::copy ? i % (all / 2) : i);
  if (operation != Operation::store) return words;
  const auto of_lane = static_cast<std::uint32_t>(width / 4);
  std::size_t next = 0;
  for (std::uint32_t warp = 0; warp < shared_warps; ++warp)
    for (std::uint32_t row = 0; row < part / (of_lane * warp_lanes); ++row)
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        for (std::uint32_t word = 0; word < of_lane; ++word)
          words[next++] = store_value(warp * warp_lanes + lane, word);
  return words;
}

std::vector<Access> all_accesses() {
  std::vector<Access> result;
  for (const int width : {4, 8, 16}) {
    for (const Path path : {Path::cached, Path::l2_only, Path::no_allocate}) {
      result.push_back({Operation::load, path, width, 4});
    }
    result.push_back({Operation::store, Path::l2_only, width, 4});
    result.push_back({Operation::copy, Path::l2_only, width, 4});
  }
  for (const int loads : {1, 2, 8}) {
    for (const Path path : {Path::cached, Path::l2_only, Path::no_allocate}) {
      result.push_back({Operation::load, path, 16, loads});
    }
  }
  return result;
}

}  // namespace

TEST_CASE("walks through global memory move every byte", "[gpu][memory_bandwidth][sanitized]") {
  Memory memory;
  cudaStream_t stream = memory.stream.get();
  const Buffer word = memory.buffers.output("word", sizeof(std::uint32_t));
  constexpr int blocks = 3, warps = 4, passes = 2;
  for (const Access& access : all_accesses()) {
    for (const Sharing sharing : {Sharing::interleaved, Sharing::by_block, Sharing::by_all}) {
      // Only interleaved warps store each its own.
      if (access.operation != Operation::load && sharing != Sharing::interleaved) continue;
      CAPTURE(static_cast<int>(access.operation), static_cast<int>(access.path), access.width,
              access.loads, static_cast<int>(sharing));
      const WalkShape shape{sharing, blocks, warps, access.tile()};
      const std::uint64_t bytes = 5 * granule(shape);
      const Buffer src = memory.buffers.input("src", bytes);
      const Buffer dst = memory.buffers.output("dst", bytes);
      memory.buffers.poison(memory.reports);
      memory.buffers.poison(dst);
      const GlobalRun run{
          access,   plan_walk(shape, bytes, passes), blocks, warps * warp_lanes, src.data,
          dst.data, memory.reports.as<WarpReport>()};
      const auto kernel = global_kernel(access);
      CHECK(resident_blocks_of(kernel, run.threads) >= 1);
      launch(kernel, {run.blocks, run.threads}, stream, run);
      const auto reports = memory.read_reports(blocks * warps);
      if (access.operation == Operation::load) {
        memory.set(word, 0);
        launch(sum_words, check_grid, stream, src.as<std::uint32_t>(), bytes / 4,
               word.as<std::uint32_t>());
        const std::uint32_t by_host = memory.sum_of_words(src);
        CHECK(memory.read<std::uint32_t>(word).front() == by_host);
        CHECK(sum_of(reports) ==
              by_host * passes * static_cast<std::uint32_t>(touches_per_pass(shape)));
      } else if (access.operation == Operation::store) {
        CHECK(memory.wrong_in(dst, access, blocks, warps) == 0);
        // One word off must be seen.
        memory.set(dst.data + bytes / 2, 0x11, 4);
        CHECK(memory.wrong_in(dst, access, blocks, warps) == 1);
      } else {
        CHECK(memory.is_copied(src, dst));
      }
    }
  }
}

TEST_CASE("single tiles move every byte as often as the grid goes over them",
          "[gpu][memory_bandwidth][sanitized]") {
  Memory memory;
  cudaStream_t stream = memory.stream.get();
  const Buffer sums = memory.buffers.output("sums", tile_sums * sizeof(std::uint32_t));
  constexpr int parts = 3, warps = 4, passes = 2;
  for (const Operation operation : {Operation::load, Operation::store, Operation::copy}) {
    for (const int loads : {1, 2, 4}) {
      if (operation != Operation::load && loads > 2) continue;
      CAPTURE(static_cast<int>(operation), loads);
      const Access access{operation, Path::l2_only, 16, loads};
      const std::uint64_t bytes = parts * warps * access.tile();
      const Buffer src = memory.buffers.input("src", bytes);
      const Buffer dst = memory.poisoned("dst", bytes);
      memory.set(sums, 0);
      const TileRun run{access,   parts,    passes * parts,          warps * warp_lanes,
                        src.data, dst.data, sums.as<std::uint32_t>()};
      const auto kernel = tile_kernel(access);
      CHECK(resident_blocks_of(kernel, run.threads) >= 1);
      launch(kernel, {run.blocks, run.threads}, stream, run);
      if (operation == Operation::load) {
        CHECK(memory.sum_of_words(sums) == passes * memory.sum_of_words(src));
      } else if (operation == Operation::store) {
        CHECK(memory.wrong_in(dst, access, parts, warps) == 0);
      } else {
        CHECK(memory.is_copied(src, dst));
      }
      memory.check_guards();
    }
  }
}

TEST_CASE("chosen SMs load their parts and no other SM takes part",
          "[gpu][memory_bandwidth][sanitized]") {
  Memory memory;
  cudaStream_t stream = memory.stream.get();
  const auto sms = static_cast<std::uint32_t>(memory.facts.sms);
  const Buffer started = memory.buffers.output("started", sizeof(unsigned));
  memory.set(started, 0);
  constexpr int warps = 4, passes = 2;
  for (const int chosen : {1, 3}) {
    if (chosen > memory.facts.sms) continue;
    CAPTURE(chosen);
    const Access access{};
    const WalkShape shape{Sharing::interleaved, chosen, warps, access.tile()};
    const std::uint64_t bytes = 5 * granule(shape);
    const Buffer src = memory.buffers.input("src", bytes);
    memory.buffers.poison(memory.reports);
    const SmRun run{{access, plan_walk(shape, bytes, passes), chosen, warps * warp_lanes, src.data,
                     nullptr, memory.reports.as<WarpReport>()},
                    memory.facts.sms,
                    static_cast<int>(std::min(memory.facts.shared_bytes_per_sm / 2 + 1024,
                                              memory.facts.shared_bytes_per_block_max)),
                    started.as<unsigned>()};
    resident_blocks_with(stream_on_sms, run.global.threads, run.shared_bytes);
    launch(stream_on_sms, {run.sms, run.global.threads, run.shared_bytes}, stream, run);
    const auto reports = memory.read_reports(chosen * warps);
    CHECK(sum_of(reports) == passes * memory.sum_of_words(src));
    for (std::size_t i = 0; i < reports.size(); ++i) {
      CHECK(place_of_sm(reports[i].sm, sms) == i / warps);
    }
  }
}

TEST_CASE("walks through shared memory and clusters move every byte",
          "[gpu][memory_bandwidth][sanitized]") {
  Memory memory;
  cudaStream_t stream = memory.stream.get();
  std::vector<int> sizes{1};
  for (const int size : {2, 4}) {
    if (cluster_blocks(memory.facts.major, size, shared_bytes_used) > 0) sizes.push_back(size);
  }
  CHECK((memory.facts.major < 9) == (sizes.size() == 1));
  for (const Operation operation : {Operation::load, Operation::store, Operation::copy}) {
    for (const int width : {4, 8, 16}) {
      for (const int size : sizes) {
        CAPTURE(static_cast<int>(operation), width, size);
        const int blocks = size == 1 ? 2 : size;
        const Buffer after =
            memory.buffers.output("after", static_cast<std::size_t>(blocks) * shared_bytes_used);
        memory.buffers.poison(memory.reports);
        memory.buffers.poison(after);
        constexpr std::uint32_t passes = 3;
        const SharedRun run{operation,
                            width,
                            shared_walk(operation, width, passes),
                            blocks,
                            size,
                            shared_bytes_used,
                            memory.reports.as<WarpReport>(),
                            after.as<std::uint32_t>()};
        prepare_shared(operation, width, size > 1, shared_bytes_used);
        launch_shared(run, stream);
        const auto reports = memory.read_reports(blocks * shared_warps);
        const auto held = copy_to_host<std::uint32_t>(after, stream);
        const auto wanted = words_after(operation, width);
        int wrong = 0;
        for (std::size_t i = 0; i < held.size(); ++i) wrong += held[i] != wanted[i % wanted.size()];
        CHECK(wrong == 0);
        if (operation != Operation::load) continue;
        const auto sum = std::accumulate(wanted.begin(), wanted.end(), std::uint32_t{0});
        for (const WarpReport& r : reports) CHECK(r.sum == passes * sum);
      }
    }
  }
}

TEST_CASE("chains of multiply-adds end where the host's do", "[gpu][memory_bandwidth][sanitized]") {
  Memory memory;
  cudaStream_t stream = memory.stream.get();
  constexpr int blocks = 2, iterations = 2;
  const Buffer inputs = memory.filled("operands", register_operands());
  const Buffer after = memory.buffers.output(
      "after", std::size_t{blocks} * register_threads * register_chains * sizeof(float));
  memory.buffers.poison(memory.reports);
  memory.buffers.poison(after);
  launch(read_registers, {blocks, register_threads}, stream,
         RegisterRun{blocks, iterations, inputs.as<float>(), memory.reports.as<WarpReport>(),
                     after.as<float>()});
  memory.read_reports(blocks * register_threads / warp_lanes);
  const auto held = copy_to_host<float>(after, stream);
  const auto wanted = expected_chains(iterations);
  int wrong = 0;
  for (std::size_t i = 0; i < held.size(); ++i) wrong += !(held[i] == wanted[i % wanted.size()]);
  CHECK(wrong == 0);
}

TEST_CASE("an access without a kernel is refused", "[gpu][memory_bandwidth]") {
  CHECK_THROWS_AS(global_kernel({Operation::load, Path::l2_only, 12, 4}), std::invalid_argument);
  CHECK_THROWS_AS(global_kernel({Operation::store, Path::l2_only, 16, 8}), std::invalid_argument);
  CHECK_THROWS_AS(global_kernel({Operation::copy, Path::cached, 16, 4}), std::invalid_argument);
  CHECK_THROWS_AS(tile_kernel({Operation::load, Path::l2_only, 8, 1}), std::invalid_argument);
  CHECK_THROWS_AS(tile_kernel({Operation::load, Path::cached, 16, 1}), std::invalid_argument);
  CHECK_THROWS_AS(tile_kernel({Operation::copy, Path::l2_only, 16, 4}), std::invalid_argument);
  CHECK_THROWS_AS(prepare_shared(Operation::load, 12, false, shared_bytes_used),
                  std::invalid_argument);
}

TEST_CASE("one block for each SM runs on an SM of its own", "[gpu][memory_bandwidth]") {
  if (test::under_sanitizer()) SKIP("instrumented kernels take other resources");
  test::Pool pool;
  const Access access{};
  const int blocks = pool.facts.sms;
  constexpr int warps = 32;
  const WalkShape shape{Sharing::interleaved, blocks, warps, access.tile()};
  const std::uint64_t bytes = granule(shape);
  const Buffer src = pool.buffers.input("src", bytes);
  const Buffer reports =
      pool.buffers.output("reports", static_cast<std::size_t>(blocks) * warps * sizeof(WarpReport));
  const GlobalRun run{access,  plan_walk(shape, bytes, 200), blocks, warps * warp_lanes, src.data,
                      nullptr, reports.as<WarpReport>()};
  launch(global_kernel(access), {run.blocks, run.threads}, pool.stream.get(), run);
  std::set<std::uint32_t> sms;
  for (const WarpReport& r : pool.read<WarpReport>(reports)) sms.insert(r.sm);
  CHECK(sms.size() == static_cast<std::size_t>(blocks));
}
