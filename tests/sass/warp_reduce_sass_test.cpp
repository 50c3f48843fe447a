#include <catch2/catch_test_macros.hpp>

#include <string>

#include "probes/warp_reduce/sum_layout.h"
#include "probes/warp_reduce/warp_stage_kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::warp_reduce;

namespace {

int total(const std::map<std::string, int>& histogram) {
  int sum = 0;
  for (const auto& [opcode, number] : histogram) sum += number;
  return sum;
}

/// Global reductions: RED or REDG, but not the warp's own REDUX.
int global_reductions(const SassFunction& function) {
  return total(function.histogram("RED")) - total(function.histogram("REDUX"));
}

std::string stage_name(WarpMethod method, StageType type, int chains) {
  return "warp_stage<(fathom::warp_reduce::WarpMethod)" + std::to_string(static_cast<int>(method)) +
         ", (fathom::warp_reduce::StageType)" + std::to_string(static_cast<int>(type)) + ", " +
         std::to_string(chains) + ">";
}

}  // namespace

TEST_CASE("sums load 16 bytes, shuffle twice and add to memory once a block",
          "[sass][warp_reduce]") {
  const auto functions = disassemble_library("probe_warp_reduce_kernels");
  for (const char* type : {"float", "double", "unsigned int", "__half", "__nv_bfloat16"}) {
    CAPTURE(type);
    const SassFunction& tile = find(functions, std::string("tile_sum<") + type + ", 512>");
    // A batch of the tile, and one load in the loop over what is left of the last tile.
    CHECK(tile.count("LDG.E.128") == vectors_per_batch + 1);
    CHECK(total(tile.histogram("LDG")) == vectors_per_batch + 1 + 2);  // head and tail elements
    CHECK(total(tile.histogram("SHFL")) + total(tile.histogram("REDUX")) >= 2);
    CHECK(global_reductions(tile) + total(tile.histogram("ATOM")) == 1);

    const SassFunction& loop = find(functions, std::string("::loop_sum<") + type + ", 256>");
    CHECK(loop.count("LDG.E.128") == 1);
    const SassFunction& scalar = find(functions, std::string("scalar_loop_sum<") + type + ", 256>");
    CHECK(scalar.count("LDG.E.128") == 0);
    CHECK(total(scalar.histogram("LDG")) == 1);

    const SassFunction& dynamic = find(functions, std::string("dynamic_sum<") + type + ", 512>");
    CHECK(dynamic.count("LDG.E.128") == vectors_per_batch + 1);
    CHECK(global_reductions(dynamic) == 0);
    CHECK(total(dynamic.histogram("ATOM")) == 2);  // the tile counter and the count of blocks
  }
}

TEST_CASE("a warp's float sum is five shuffles and five additions", "[sass][warp_reduce]") {
  const auto functions = disassemble_library("probe_warp_reduce_kernels");
  const SassFunction& tile = find(functions, "tile_sum<float, 512>");
  CHECK(total(tile.histogram("SHFL")) >= 2 * 5);
  CHECK(total(tile.histogram("SHFL")) % 5 == 0);
}

// Reductions whose result the compiler saw through, merged or moved would be timed as nothing.
TEST_CASE("the timed reductions are there as often as they are counted", "[sass][warp_reduce]") {
  const auto functions = disassemble_library("probe_warp_reduce_kernels");
  for (const StageType type : {StageType::f32, StageType::i32, StageType::f64}) {
    for (const int chains : {1, max_chains}) {
      CAPTURE(static_cast<int>(type), chains);
      const int reductions = reductions_per_round(type) * chains;
      const int words = type == StageType::f64 ? 2 : 1;
      for (const WarpMethod method : {WarpMethod::shuffle_xor, WarpMethod::shuffle_down}) {
        const SassFunction& shuffle = find(functions, stage_name(method, type, chains));
        CHECK(total(shuffle.histogram("SHFL")) == reductions * 5 * words);
        CHECK(total(shuffle.histogram("LDS")) + total(shuffle.histogram("STS")) == 0);
      }
      const SassFunction& tree = find(functions, stage_name(WarpMethod::shared_tree, type, chains));
      CHECK(total(tree.histogram("LDS")) == reductions * 6);
      CHECK(total(tree.histogram("STS")) == reductions * 6);
      CHECK(total(tree.histogram("SHFL")) == 0);
      const SassFunction& butterfly =
          find(functions, stage_name(WarpMethod::shared_butterfly, type, chains));
      CHECK(total(butterfly.histogram("LDS")) == reductions * 5);
      CHECK(total(butterfly.histogram("STS")) == reductions * 5);
    }
  }
  const SassFunction& instruction =
      find(functions, stage_name(WarpMethod::reduce_add, StageType::i32, 1));
  CHECK(total(instruction.histogram("REDUX")) == reductions_per_round(StageType::i32));
  CHECK(total(instruction.histogram("SHFL")) == 0);
}
