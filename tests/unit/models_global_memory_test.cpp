// Global memory: the claims' figures, and every model against the definition, lane by lane.

#include "models/global_memory.h"

#include "random_access.h"
#include "tests/testing.h"

namespace fathom::models {
namespace {

constexpr std::uint64_t GiB = 1024ull * 1024 * 1024;

/// The instructions of a kernel: which addresses a warp's active lanes have in each.
class Instructions {
 public:
  explicit Instructions(int bytes) : bytes_(static_cast<std::uint64_t>(bytes)) {}
  void add(std::array<std::uint64_t, 3> warp_and_instruction, std::uint64_t address) {
    touched_[warp_and_instruction].insert(address / 32);
    asked_ += bytes_;
  }
  StreamCost total() const {
    StreamCost cost{.sectors = 0, .requests = touched_.size(), .bytes = asked_};
    for (const auto& [instruction, sectors] : touched_) cost.sectors += sectors.size();
    return cost;
  }

 private:
  std::uint64_t bytes_, asked_ = 0;
  std::map<std::array<std::uint64_t, 3>, std::set<std::uint64_t>> touched_;
};

StreamCost counted(const StreamPattern& p) {
  Instructions kernel(p.bytes_per_instruction);
  const auto width = static_cast<std::uint64_t>(p.bytes_per_instruction),
             each = static_cast<std::uint64_t>(p.instructions_per_access),
             block = static_cast<std::uint64_t>(p.threads_per_block),
             stride = p.stride_bytes != 0 ? p.stride_bytes : width * each;
  for (std::uint64_t k = 0; k < p.accesses; ++k)
    for (std::uint64_t j = 0; j < each; ++j)
      kernel.add({k / block, k % block / 32, j}, p.base_offset + k * stride + j * width);
  return kernel.total();
}

StreamCost counted(const StructPattern& p, int width) {
  Instructions kernel(width);
  const auto step = static_cast<std::uint64_t>(width);
  const auto block = static_cast<std::uint64_t>(p.threads_per_block);
  for (std::uint64_t k = 0; k < p.elements; ++k)
    for (std::uint64_t at = 0; at < p.member_bytes; at += step)
      kernel.add({k / block, k % block / 32, at},
                 p.base_offset + k * p.struct_bytes + p.member_offset + at);
  return kernel.total();
}

TransposeCost counted(const TransposePattern& p) {
  Instructions loads(p.element_bytes), stores(p.element_bytes);
  const auto tile = static_cast<std::uint64_t>(p.tile);
  const auto element = static_cast<std::uint64_t>(p.element_bytes);
  const std::uint64_t across = (p.columns + tile - 1) / tile, down = (p.rows + tile - 1) / tile;
  for (std::uint64_t block = 0; block < across * down; ++block) {
    const std::uint64_t top = block / across * tile, left = block % across * tile;
    for (std::uint64_t i = 0; i < tile * tile; ++i) {
      const std::uint64_t y = i / tile, x = i % tile;
      if (top + y < p.rows && left + x < p.columns) {
        loads.add({block, i / 32, 0}, p.load_base + ((top + y) * p.columns + left + x) * element);
        if (!p.through_shared)
          stores.add({block, i / 32, 0}, p.store_base + ((left + x) * p.rows + top + y) * element);
      }
      if (p.through_shared && left + y < p.columns && top + x < p.rows)
        stores.add({block, i / 32, 0}, p.store_base + ((left + y) * p.rows + top + x) * element);
    }
  }
  return {loads.total(), stores.total()};
}

TEST_CASE("V5 to V7, V9, V10: sectors and requests of contiguous copies", "[models]") {
  struct Copy {
    const char* claim;
    std::uint64_t bytes;
    int bytes_per_thread, element_bytes;
    std::uint64_t offset, sectors, requests;
  };
  for (const Copy& copy : {Copy{"V5", GiB, 1, 1, 0, 33'554'432, 33'554'432},
                           {"V5, V7", GiB, 2, 2, 0, 33'554'432, 16'777'216},
                           {"V5, V7", GiB, 4, 4, 0, 33'554'432, 8'388'608},
                           {"V5, V7", GiB, 8, 4, 0, 33'554'432, 4'194'304},
                           {"V5, V7", GiB, 16, 4, 0, 33'554'432, 2'097'152},
                           {"V6", GiB, 32, 4, 0, 67'108'864, 2'097'152},
                           {"V9", GiB, 4, 4, 4, 33'554'432 / 4 * 5, 8'388'608},
                           // n - 1 vectors, and 3 floats within one sector.
                           {"V10", (4 * 1024 - 1) * 4, 16, 4, 0, 512 + 1, 32 + 1},
                           {"a tail alone", 31, 32, 1, 0, 1, 1},
                           {"no whole element", 3, 4, 4, 0, 0, 0}}) {
    CAPTURE(copy.claim, copy.bytes_per_thread);
    const StreamCost cost =
        contiguous_cost(copy.bytes, copy.bytes_per_thread, copy.element_bytes, copy.offset);
    CHECK(cost.sectors == copy.sectors);
    CHECK(cost.requests == copy.requests);
    CHECK(cost.bytes == copy.bytes / static_cast<unsigned>(copy.element_bytes) *
                            static_cast<unsigned>(copy.element_bytes));
  }
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

TEST_CASE("An array of structures equals the sum over its warps", "[models]") {
  std::mt19937_64 random(31);
  for (int trial = 0; trial < 1500; ++trial) {
    StructPattern p;
    const auto unit = static_cast<std::uint64_t>(widths[random() % widths.size()]);
    p.struct_bytes = unit * (1 + random() % 24);
    p.member_offset = unit * (random() % (p.struct_bytes / unit));
    p.member_bytes = unit * (1 + random() % ((p.struct_bytes - p.member_offset) / unit));
    p.base_offset = unit * (random() % 64);
    p.elements = random() % 5000;
    p.threads_per_block =
        static_cast<int>(random() % 2 == 0 ? 32 * (1 + random() % 32) : 1 + random() % 1024);
    if (random() % 2 == 0) p.bytes_per_instruction = static_cast<int>(unit);
    const int width =
        p.bytes_per_instruction != 0 ? p.bytes_per_instruction : member_instruction_bytes(p);
    CAPTURE(trial, p.struct_bytes, p.member_offset, p.member_bytes, p.base_offset, p.elements,
            p.threads_per_block, width);
    REQUIRE(struct_cost(p) == counted(p, width));
  }
}

TEST_CASE("Members are taken by the widest aligned instruction", "[models]") {
  CHECK(member_instruction_bytes({.struct_bytes = 12, .member_bytes = 12}) == 4);  // float3
  CHECK(member_instruction_bytes({.struct_bytes = 16, .member_bytes = 16}) == 16);
  CHECK(member_instruction_bytes({.struct_bytes = 64, .member_bytes = 64}) == 16);
  CHECK(member_instruction_bytes({.struct_bytes = 16, .member_offset = 4, .member_bytes = 8}) == 4);
}

TEST_CASE("A transpose equals the sum over its warps", "[models]") {
  std::mt19937_64 random(32);
  static constexpr std::array tiles{1, 5, 8, 16, 32, 48};
  for (int trial = 0; trial < 250; ++trial) {
    TransposePattern p;
    p.tile = tiles[random() % tiles.size()];
    const auto side = static_cast<unsigned>(p.tile);
    // Over 32 small tiles in a row at times: that is where the periods are.
    p.rows = 1 + random() % (side * (random() % 3 == 0 && side <= 8 ? 70 : 4));
    p.columns = 1 + random() % (side * (random() % 3 == 0 && side <= 8 ? 70 : 4));
    p.element_bytes = widths[random() % widths.size()];
    p.through_shared = random() % 2 == 0;
    p.load_base = random() % 32 * static_cast<unsigned>(p.element_bytes);
    p.store_base = random() % 32 * static_cast<unsigned>(p.element_bytes);
    CAPTURE(trial, p.tile, p.rows, p.columns, p.element_bytes, p.through_shared, p.load_base,
            p.store_base);
    const TransposeCost ours = transpose_cost(p), wanted = counted(p);
    REQUIRE(ours.loads == wanted.loads);
    REQUIRE(ours.stores == wanted.stores);
  }
}

TEST_CASE("Cost and explanation of a warp's access are those of its lanes", "[models]") {
  std::mt19937_64 random(33);
  for (int trial = 0; trial < 20000; ++trial) {
    const WarpAccess access = random_access(random);
    CAPTURE(trial, access.bytes_per_lane, access.active_mask);
    std::set<std::uint64_t> all, all_lines;
    for (int lane = 0; lane < warp_size; ++lane) {
      if (!access.active(lane)) continue;
      all.insert(access.address[lane] / sector_bytes);
      all_lines.insert(access.address[lane] / line_bytes);
    }
    const GlobalCost cost = global_cost(access);
    REQUIRE(cost.sectors == static_cast<int>(all.size()));
    REQUIRE(cost.lines == static_cast<int>(all_lines.size()));
    REQUIRE(cost.requests == (access.active_mask != 0 ? 1 : 0));
    REQUIRE(sectors(access) == cost.sectors);
    if (trial % 4 != 0) continue;
    const GlobalExplanation why = explain_global(access);
    REQUIRE(why.cost.sectors == cost.sectors);
    REQUIRE(static_cast<int>(why.lines.size()) == cost.lines);
    std::uint32_t seen = 0;
    int touched = 0;
    std::uint64_t after = 0;
    for (const GlobalLine& line : why.lines) {
      REQUIRE(line.address >= after);
      REQUIRE(line.address % line_bytes == 0);
      after = line.address + line_bytes;
      for (std::size_t i = 0; i < line.lanes.size(); ++i) {
        touched += line.lanes[i] != 0 ? 1 : 0;
        REQUIRE((seen & line.lanes[i]) == 0);
        seen |= line.lanes[i];
        for (int lane = 0; lane < warp_size; ++lane)
          if (line.lanes[i] >> lane & 1u)
            REQUIRE(access.address[lane] / sector_bytes == line.address / sector_bytes + i);
      }
    }
    REQUIRE(seen == access.active_mask);
    REQUIRE(touched == why.cost.sectors);
  }
}

TEST_CASE("Bad patterns are refused", "[models]") {
  for (const StreamPattern& p : {StreamPattern{.accesses = 1, .bytes_per_instruction = 12},
                                 {.accesses = 1, .bytes_per_instruction = 8, .base_offset = 4},
                                 {.accesses = 1, .threads_per_block = 1025},
                                 {.accesses = 1, .threads_per_block = 0},
                                 {.accesses = 1, .instructions_per_access = 0}})
    CHECK_THROWS_AS(stream_cost(p), std::invalid_argument);
  CHECK_THROWS_AS(contiguous_cost(1024, 64, 4), std::invalid_argument);
  CHECK_THROWS_AS(contiguous_cost(1024, 6, 4), std::invalid_argument);
  // The last: the second structure's member is misaligned.
  for (const StructPattern& p :
       {StructPattern{.struct_bytes = 8, .member_offset = 4, .member_bytes = 8},
        {.elements = 1, .member_bytes = 0},
        {.elements = 1, .member_bytes = 12, .bytes_per_instruction = 8},
        {.elements = 1, .bytes_per_instruction = -4},
        {.elements = 2, .struct_bytes = 12, .member_bytes = 8, .bytes_per_instruction = 8}})
    CHECK_THROWS_AS(struct_cost(p), std::invalid_argument);
  for (const TransposePattern& p : {TransposePattern{.rows = 4, .columns = 4, .tile = 0},
                                    {.rows = 4, .columns = 4, .tile = 129},
                                    {.rows = 4, .columns = 4, .element_bytes = 3},
                                    {.rows = 4, .columns = 4, .store_base = 2},
                                    {.rows = std::uint64_t{1} << 33, .columns = 4}})
    CHECK_THROWS_AS(transpose_cost(p), std::invalid_argument);
}

}  // namespace
}  // namespace fathom::models
