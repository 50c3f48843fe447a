// What small products are cut into.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <tuple>

#include "gemm/brief_plan.h"
#include "gemm/fp32/small_choice.h"
#include "gemm/fp64/small_choice.h"
#include "gemm/half/small_choice.h"
#include "gemm/rung.h"

using namespace fathom::gemm;

namespace {

constexpr int sms = planned_sms;

Problem cube(Class of, std::int64_t size) { return make_problem(of, size, size, size); }

}  // namespace

TEST_CASE("small fp32 products have the tile and the parts that were fastest", "[gemm]") {
  // 32 x 64 as long as one block an SM does them, then 128 x 128, whose k is shared.
  for (const auto& [size, tile, parts] :
       {std::tuple{256, 0, 4}, {384, 0, 1}, {512, 0, 1}, {768, 1, 3}, {1024, 1, 2}}) {
    CAPTURE(size);
    const auto plan = fp32::small_choice(cube(Class::fp32, size), sms);
    REQUIRE(plan);
    CHECK(plan->tile == tile);
    CHECK(plan->parts == parts);
  }
  for (const int size : {1536, 2048, 4096})
    CHECK_FALSE(fp32::small_choice(cube(Class::fp32, size), sms));
  // Smaller than a tile, whose rows are BLAS's columns.
  CHECK_FALSE(fp32::small_choice(make_problem(Class::fp32, 63, 256, 64), sms));
  CHECK_FALSE(fp32::small_choice(make_problem(Class::fp32, 256, 31, 64), sms));
  CHECK(fp32::small_choice(make_problem(Class::fp32, 64, 32, 64), sms));
  // Columns that start anywhere are its own too.
  CHECK(find_rung("fp32/27_small_products")->takes_own_path(make_problem(Class::fp32, 67, 61, 97)));
  CHECK_FALSE(
      find_rung("fp32/27_small_products")->takes_own_path(make_problem(Class::fp32, 31, 33, 17)));
}

TEST_CASE("small fp64 products have the tile that was fastest", "[gemm]") {
  for (const auto& [size, tile] : {std::tuple{256, 0}, {384, 1}, {512, 1}, {768, 0}, {1024, 2}}) {
    CAPTURE(size);
    const auto plan = fp64::small_choice(cube(Class::fp64, size), sms);
    REQUIRE(plan);
    CHECK(plan->tile == tile);
    CHECK(plan->parts == 1);
  }
  for (const int size : {1536, 2048, 4096})
    CHECK_FALSE(fp64::small_choice(cube(Class::fp64, size), sms));
  // Of few tiles and a deep k there are parts.
  CHECK(fp64::small_choice(make_problem(Class::fp64, 64, 64, 2048), sms)->parts > 1);
  // What must be copied is the rung before's.
  CHECK_FALSE(fp64::small_choice(cube(Class::fp64, 255), sms));
}

TEST_CASE("small half-precision products have the kernel that was fastest", "[gemm]") {
  using Kernel = half::SmallChoice::Kernel;
  for (const Class of : {Class::fp16, Class::bf16}) {
    for (const auto& [size, tile] : {std::tuple{256, 0}, {320, 0}}) {
      CAPTURE(size);
      const auto choice = half::small_choice(cube(of, size), sms);
      CHECK(choice.kernel == Kernel::mma);
      CHECK(choice.plan.tile == tile);
      CHECK(choice.plan.parts == 1);
    }
    for (const auto& [size, columns] :
         {std::pair{384, 64}, {512, 64}, {640, 64}, {768, 64}, {1024, 64}, {1280, 128}, {1536, 160}}) {
      CAPTURE(size);
      const auto choice = half::small_choice(cube(of, size), sms);
      CHECK(choice.kernel == Kernel::brief);
      CHECK(choice.columns == columns);
    }
    CHECK(half::small_choice(cube(of, 3072), sms).kernel == Kernel::waves);
    for (const int size : {2048, 4096})
      CHECK(half::small_choice(cube(of, size), sms).kernel == Kernel::before);
    // Copied first, or for tiles of few columns.
    CHECK(half::small_choice(cube(of, 255), sms).kernel == Kernel::before);
    CHECK(half::small_choice(make_problem(of, 16, 8192, 8192), sms).kernel == Kernel::before);
    CHECK(half::small_choice(make_problem(of, 128, 8192, 1024), sms).kernel == Kernel::before);
  }
}

TEST_CASE("products of one wave have the width that was fastest", "[gemm]") {
  for (const Class of : {Class::fp8, Class::int8}) {
    for (const auto& [size, columns] : {std::pair{256, 16},
                                        {512, 16},
                                        {768, 64},
                                        {1024, 64},
                                        {1280, 128},
                                        {1536, 160},
                                        {1664, 192}}) {
      CAPTURE(size);
      const auto plan = brief_plan(cube(of, size), sms);
      REQUIRE(plan.has_value());
      CHECK(plan->columns == columns);
    }
    CHECK_FALSE(brief_plan(cube(of, 2048), sms));
    // For tiles of few columns, or nothing at all.
    CHECK_FALSE(brief_plan(make_problem(of, 128, 8192, 1024), sms));
    CHECK_FALSE(brief_plan(make_problem(of, 8192, 128, 1024), sms));
    CHECK_FALSE(brief_plan(cube(of, 0), sms));
    // 32 blocks of a long k are done sooner with half of it each.
    CHECK_FALSE(brief_plan(make_problem(of, 512, 512, 32768), sms));
    // Fewer SMs take wider tiles, or none.
    CHECK(brief_plan(cube(of, 1024), 64)->columns == 128);
    CHECK_FALSE(brief_plan(cube(of, 1024), 16));
  }
}

TEST_CASE("tiles of 192 columns are for products whose waves they fill better", "[gemm]") {
  for (const int size : {2304, 3072}) CHECK(waves_of_192_are_sooner(cube(Class::bf16, size), sms));
  for (const int size : {128, 1024, 2048, 2560, 4096, 6144, 8192})
    CHECK_FALSE(waves_of_192_are_sooner(cube(Class::bf16, size), sms));
  CHECK_FALSE(waves_of_192_are_sooner(make_problem(Class::bf16, 128, 24576, 4096), sms));
}

TEST_CASE("small plans share k no further than blocks run at once, and of nothing there is none",
          "[gemm]") {
  constexpr std::array<SmallTileTimes, 1> one{{{.m = 128,
                                                .n = 128,
                                                .k = 16,
                                                .blocks_per_sm = 1,
                                                .most_blocks = 1,
                                                .whole = false,
                                                .around = 1,
                                                .stage = 0,
                                                .block_stage = 1,
                                                .meeting = 0,
                                                .part = 0}}};
  // 36 clusters of three are 108 blocks; 16 of seven, which are 112, are too many, and of six 96.
  CHECK(plan_small(cube(Class::fp32, 768), one, sms)->parts == 3);
  CHECK(plan_small(cube(Class::fp32, 512), one, sms)->parts == 6);
  CHECK(plan_small(cube(Class::fp32, 128), one, sms)->parts == most_cluster_parts);
  // No part without a stage.
  CHECK(plan_small(make_problem(Class::fp32, 128, 128, 17), one, sms)->parts == 2);
  CHECK(plan_small(make_problem(Class::fp32, 128, 128, 17), one, sms)->us == 2);
  CHECK_FALSE(plan_small(make_problem(Class::fp32, 0, 128, 16), one, sms));
  CHECK_FALSE(plan_small(make_problem(Class::fp32, 128, 0, 16), one, sms));
  CHECK_FALSE(plan_small(make_problem(Class::fp32, 128, 128, 0), one, sms));
  CHECK_FALSE(plan_small(
      make_problem(Class::fp32, 128, 128, 16, Transpose::no, Transpose::no, 0, 1), one, sms));
  // Skinny, as nothing that was measured.
  CHECK(plan_small(make_problem(Class::fp32, 128, 1023, 16), one, sms));
  CHECK_FALSE(plan_small(make_problem(Class::fp32, 128, 1024, 16), one, sms));
  CHECK_FALSE(plan_small(make_problem(Class::fp32, 1024, 128, 16), one, sms));
  // Deeper than what was measured.
  CHECK_FALSE(plan_small(make_problem(Class::fp32, 128, 128, 4096), one, sms));
}

TEST_CASE("small products take no workspace", "[gemm]") {
  for (const auto& [id, of] : {std::tuple{"fp32/27_small_products", Class::fp32},
                               {"fp64/09_small_products", Class::fp64},
                               {"bf16/16_small_products", Class::bf16}}) {
    CAPTURE(id);
    const Rung& rung = *find_rung(id);
    for (const int size : {256, 512, 1024}) {
      CHECK(rung.takes_own_path(cube(of, size)));
      CHECK(rung.workspace_bytes(cube(of, size), sms) == 0);
    }
  }
  const auto bytes = [](const char* id) {
    return find_rung(id)->workspace_bytes(cube(Class::fp32, 4096), sms);
  };
  CHECK(bytes("fp32/27_small_products") == bytes("fp32/26_sliced_depth"));
}
