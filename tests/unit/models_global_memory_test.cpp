#include "models/global_memory.h"

#include "random_access.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

constexpr std::uint64_t GiB = 1024ull * 1024 * 1024;

/// The definition, warp by warp: what `stream_cost` must equal.
StreamCost counted(const StreamPattern& p) {
  StreamCost total;
  const auto width = static_cast<std::uint64_t>(p.bytes_per_instruction);
  const std::uint64_t stride = p.stride_bytes != 0
                                   ? p.stride_bytes
                                   : width * static_cast<std::uint64_t>(p.instructions_per_access);
  const auto block = static_cast<std::uint64_t>(p.threads_per_block);
  for (std::uint64_t start = 0; start < p.accesses;) {
    const std::uint64_t left_in_block = block - start % block;
    const std::uint64_t lanes = std::min({std::uint64_t{32}, left_in_block, p.accesses - start});
    for (int j = 0; j < p.instructions_per_access; ++j) {
      std::set<std::uint64_t> sectors;
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        sectors.insert(
            (p.base_offset + (start + lane) * stride + static_cast<std::uint64_t>(j) * width) / 32);
      }
      total.sectors += sectors.size();
      total.requests += 1;
      total.bytes += lanes * width;
    }
    start += lanes;
  }
  return total;
}

TEST_CASE("V5: 1 GiB is 33,554,432 sectors whatever the width", "[models]") {
  for (const int width : widths) {
    const StreamCost cost = contiguous_cost(GiB, width, width);
    CHECK(cost.sectors == 33'554'432);
    CHECK(cost.bytes == GiB);
  }
}

TEST_CASE("V6: 32 bytes a thread touch every sector twice", "[models]") {
  const StreamCost cost = contiguous_cost(GiB, 32, 4);
  CHECK(cost.sectors == 67'108'864);
  CHECK(cost.requests == contiguous_cost(GiB, 16, 4).requests);
  CHECK(cost.bytes == GiB);
}

TEST_CASE("V7: requests halve as the width doubles", "[models]") {
  CHECK(contiguous_cost(GiB, 4, 4).requests == 8'388'608);
  CHECK(contiguous_cost(GiB, 8, 4).requests == 4'194'304);
  CHECK(contiguous_cost(GiB, 16, 4).requests == 2'097'152);
  CHECK(contiguous_cost(GiB, 2, 2).requests == 16'777'216);
}

TEST_CASE("V9: a start off the sector costs one sector per warp instruction", "[models]") {
  CHECK(global_cost(strided(Access::load, 4, 4)).sectors == 4);
  CHECK(global_cost(strided(Access::load, 4, 4, 32)).sectors == 4);
  CHECK(global_cost(strided(Access::load, 4, 4, 4)).sectors == 5);
  CHECK(global_cost(strided(Access::load, 16, 16)).sectors == 16);
  CHECK(global_cost(strided(Access::load, 16, 16, 16)).sectors == 17);
  CHECK(global_cost(strided(Access::load, 4, 32)).sectors == 32);
  CHECK(global_cost(strided(Access::load, 4, 128)).lines == 32);
  CHECK(global_cost(strided(Access::load, 4, 4, 64)).lines == 2);
  const StreamCost offset = contiguous_cost(GiB, 4, 4, 4);
  CHECK(offset.sectors == 33'554'432 / 4 * 5);
}

TEST_CASE("V10: the tail is taken by one warp of single elements", "[models]") {
  // 4n - 1 floats by float4: n - 1 vectors and 3 floats within one sector.
  const StreamCost cost = contiguous_cost((4 * 1024 - 1) * 4, 16, 4);
  const StreamCost body = contiguous_cost(1023 * 16, 16, 4);
  CHECK(cost.requests == body.requests + 1);
  CHECK(cost.sectors == body.sectors + 1);
  CHECK(cost.bytes == (4 * 1024 - 1) * 4);
  CHECK(contiguous_cost(31, 32, 1).requests == 1);
  CHECK(contiguous_cost(3, 4, 4) == StreamCost{});
}

TEST_CASE("V11: rows read across lanes move a sector per element", "[models]") {
  // 1024 rows of 64 floats, a thread per row, against the same matrix read along lanes.
  const StreamPattern across{.accesses = 1024,
                             .bytes_per_instruction = 4,
                             .instructions_per_access = 64,
                             .stride_bytes = 256,
                             .threads_per_block = 128};
  CHECK(stream_cost(across).sectors == 1024 * 64);
  const StreamCost along = contiguous_cost(1024 * 256, 4, 4);
  CHECK(along.sectors == 1024 * 8);
  CHECK(along.requests == stream_cost(across).requests);
}

TEST_CASE("Whole kernels equal the sum over their warps", "[models]") {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 1500; ++trial) {
    StreamPattern p;
    p.bytes_per_instruction = widths[random() % widths.size()];
    const auto width = static_cast<std::uint64_t>(p.bytes_per_instruction);
    p.instructions_per_access = static_cast<int>(1 + random() % 3);
    p.accesses = random() % 20000;
    p.stride_bytes = random() % 2 == 0 ? 0 : width * (1 + random() % 40);
    p.base_offset = width * (random() % 64);
    p.threads_per_block =
        static_cast<int>(random() % 3 == 0 ? 32 * (1 + random() % 32) : 1 + random() % 1024);
    CAPTURE(trial, p.accesses, p.bytes_per_instruction, p.instructions_per_access, p.stride_bytes,
            p.base_offset, p.threads_per_block);
    REQUIRE(stream_cost(p) == counted(p));
  }
}

TEST_CASE("Properties of global memory cost over random accesses", "[models]") {
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 20000; ++trial) {
    const WarpAccess access = random_access(random);
    const GlobalCost cost = global_cost(access);
    CAPTURE(trial, access.bytes_per_lane, access.active_mask);
    std::set<std::uint64_t> sectors;
    for (int lane = 0; lane < warp_size; ++lane) {
      if (access.active(lane)) sectors.insert(access.address[lane] / 32);
    }
    REQUIRE(cost.sectors == static_cast<int>(sectors.size()));
    REQUIRE(cost.lines <= cost.sectors);
    REQUIRE(cost.requests == (access.active_mask != 0 ? 1 : 0));

    std::array<int, warp_size> source;
    std::iota(source.begin(), source.end(), 0);
    std::shuffle(source.begin(), source.end(), random);
    REQUIRE(global_cost(permuted(access, source)).sectors == cost.sectors);
  }
  CHECK(global_cost(broadcast(Access::load, 16, 48)).sectors == 1);
  CHECK(global_cost(masked(broadcast(Access::load, 4), 0)).requests == 0);
}

TEST_CASE("Bad streams are refused", "[models]") {
  CHECK_THROWS_AS(stream_cost({.accesses = 1, .bytes_per_instruction = 12}), std::invalid_argument);
  CHECK_THROWS_AS(stream_cost({.accesses = 1, .bytes_per_instruction = 8, .base_offset = 4}),
                  std::invalid_argument);
  CHECK_THROWS_AS(stream_cost({.accesses = 1, .threads_per_block = 1025}), std::invalid_argument);
  CHECK_THROWS_AS(stream_cost({.accesses = 1, .threads_per_block = 0}), std::invalid_argument);
  CHECK_THROWS_AS(stream_cost({.accesses = 1, .instructions_per_access = 0}),
                  std::invalid_argument);
  CHECK_THROWS_AS(contiguous_cost(1024, 64, 4), std::invalid_argument);
  CHECK_THROWS_AS(contiguous_cost(1024, 6, 4), std::invalid_argument);
}

}  // namespace
}  // namespace fathom::models
