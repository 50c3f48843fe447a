#include "models/instruction_throughput.h"

#include "tests/testing.h"

using namespace fathom::models;

TEST_CASE("every published rate is below what the schedulers issue", "[models]") {
  for (int operation = 0; operation <= static_cast<int>(NativeOperation::convert_float_to_int);
       ++operation) {
    CAPTURE(operation);
    for (const auto& [major, minor] :
         {std::pair{7, 5}, {8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}}) {
      const auto rate = native_throughput(static_cast<NativeOperation>(operation), major, minor);
      if (!rate) continue;
      CHECK(*rate > 0);
      CHECK(*rate <= 2 * issued_lanes_per_clock);  // pairs of halves
    }
    // A100's column is whole: it is in both editions of the table.
    CHECK(native_throughput(static_cast<NativeOperation>(operation), 8, 0).has_value());
  }
}

TEST_CASE("what a chip lacks or nobody published has no rate", "[models]") {
  CHECK_FALSE(tensor_fma_per_clock(TensorType::fp8, 8, 0).has_value());
  CHECK_FALSE(tensor_fma_per_clock(TensorType::bf16, 7, 5).has_value());
  CHECK_FALSE(native_throughput(NativeOperation::warp_reduce, 7, 5).has_value());
  CHECK_FALSE(native_throughput(NativeOperation::f32_arithmetic, 6, 1).has_value());
  CHECK_FALSE(native_throughput(NativeOperation::bit_reverse, 9, 0).has_value());
}

TEST_CASE("rates that differ between chips are each chip's own", "[models]") {
  using enum NativeOperation;
  // Best Practices Guide 13.3, table 5, read row by row.
  for (const auto& [operation, major, minor, rate] : {std::tuple{warp_shuffle, 7, 5, 16},
                                                      {warp_shuffle, 8, 0, 32},
                                                      {bf16_arithmetic, 8, 0, 128},
                                                      {f64_arithmetic, 10, 3, 2},
                                                      {warp_vote, 12, 1, 128},
                                                      {convert_float_to_int, 10, 0, 16},
                                                      {convert_float_to_int, 12, 0, 2},
                                                      {convert_int_to_float, 8, 6, 64},
                                                      {integer_min_max, 9, 0, 128}})
    CHECK(native_throughput(operation, major, minor) == rate);
}
