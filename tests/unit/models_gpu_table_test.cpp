#include "models/gpu_table.h"

#include "models/instruction_throughput.h"
#include "models/occupancy.h"
#include "tests/testing.h"

using namespace fathom::models;

TEST_CASE("GPUs are found by the names that CUDA gives them", "[models]") {
  for (const auto& [device, name] : {std::pair{"NVIDIA H200", "H200"},
                                     {"Tesla T4", "T4"},
                                     {"NVIDIA A100-SXM4-80GB", "A100 80GB SXM"},
                                     {"NVIDIA A100-SXM4-40GB", "A100 40GB SXM"},
                                     {"NVIDIA A100 80GB PCIe", "A100 80GB PCIe"},
                                     {"NVIDIA A100-PCIE-40GB", "A100 40GB PCIe"},
                                     {"NVIDIA RTX A6000", "RTX A6000"},
                                     {"NVIDIA GeForce RTX 4090", "RTX 4090"},
                                     {"NVIDIA H100 PCIe", "H100 PCIe"},
                                     {"NVIDIA H100 80GB HBM3", "H100 SXM"},
                                     {"a100 80gb sxm", "A100 80GB SXM"}}) {
    CAPTURE(device);
    REQUIRE(find_gpu(device) != nullptr);
    CHECK(find_gpu(device)->name == name);
  }
  // A similar name is another GPU.
  for (const char* name : {"NVIDIA GeForce RTX 3090 Ti", "NVIDIA H200 NVL", "NVIDIA L40", "NVIDIA",
                           "", "NVIDIA GH200 480GB", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"}) {
    CAPTURE(name);
    CHECK(find_gpu(name) == nullptr);
  }
}

/// Dense FLOP a clock and SM of the tensor cores; 0 where the chip lacks the type.
static double tensor_rate(TensorType type, const GpuSpec& gpu) {
  return 2 * tensor_fma_per_clock(type, gpu.major, gpu.minor).value_or(0);
}

TEST_CASE("Peaks are SMs x rate x clock, and bandwidth is bus x rate of its pins", "[models]") {
  for (const GpuSpec& gpu : gpu_table()) {
    CAPTURE(gpu.name);
    CHECK(gpu.memory_bandwidth.value ==
          Approx(gpu.memory_bus_bits.value * gpu.memory_pin_rate.value / 8).epsilon(0.005));
    const SmLimits& sm = sm_limits(gpu.major, gpu.minor);
    const auto per_clock = [&](NativeOperation operation) {
      return native_throughput(operation, gpu.major, gpu.minor).value();
    };
    CHECK(per_clock(NativeOperation::f32_arithmetic) == sm.fp32_per_clock);
    const double fp32 = 2.0 * sm.fp32_per_clock * gpu.sms.value * gpu.boost_clock_hz.value;
    CHECK(gpu.fp32_flops.value == Approx(fp32).epsilon(0.01));
    const double fp64 = per_clock(NativeOperation::f64_arithmetic) / sm.fp32_per_clock * fp32;
    CHECK(gpu.fp64_flops.value == Approx(fp64).epsilon(0.02));
    // GeForce multiplies with fp32 accumulation at half of the chip's rate; int8 has none.
    const double share = gpu.name.starts_with("RTX") && gpu.name != "RTX A6000" ? 0.5 : 1;
    const auto peak = [&](double flop_per_clock, double clock_hz) {
      return Approx(flop_per_clock * gpu.sms.value * clock_hz).epsilon(0.0225);
    };
    const double clock_hz = gpu.tensor_clock_hz.value;
    CHECK(gpu.fp16_flops.value == peak(share * tensor_rate(TensorType::f16, gpu), clock_hz));
    CHECK(gpu.tf32_flops.value == peak(share * tensor_rate(TensorType::tf32, gpu), clock_hz));
    CHECK(gpu.fp8_flops.value == peak(share * tensor_rate(TensorType::fp8, gpu), clock_hz));
    CHECK(gpu.int8_ops.value == peak(tensor_rate(TensorType::s8, gpu), clock_hz));
    // fp64 runs at the clock of the CUDA cores.
    CHECK(gpu.fp64_tensor_flops.value ==
          peak(tensor_rate(TensorType::f64, gpu), gpu.boost_clock_hz.value));
    CHECK(gpu.bf16_flops.value == (gpu.major >= 8 ? gpu.fp16_flops.value : 0));
  }
}

template <typename T>
static void check_source(const Sourced<T>& figure) {
  const std::string source(figure.source);
  CAPTURE(source);
  CHECK(source.size() > 8);
  CHECK(figure.known() == !(source.starts_with("none:") || source.ends_with("no NVLink")));
}

TEST_CASE("Every figure has a source, and one that is none says so", "[models]") {
  for (const GpuSpec& gpu : gpu_table()) {
    CAPTURE(gpu.name);
    check_source(gpu.sms);
    check_source(gpu.memory_bus_bits);
    for (const auto& figure :
         {gpu.boost_clock_hz, gpu.tensor_clock_hz, gpu.memory_pin_rate, gpu.memory_bytes,
          gpu.memory_bandwidth, gpu.fp32_flops, gpu.fp64_flops, gpu.fp64_tensor_flops,
          gpu.tf32_flops, gpu.fp16_flops, gpu.bf16_flops, gpu.fp8_flops, gpu.int8_ops,
          gpu.nvlink_bandwidth, gpu.pcie_bandwidth})
      check_source(figure);
    CHECK(find_gpu(gpu.name) == &gpu);
  }
}

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

TEST_CASE("rates are each chip's own; what it lacks or nobody published has none", "[models]") {
  CHECK_FALSE(tensor_fma_per_clock(TensorType::fp8, 8, 0));
  CHECK_FALSE(tensor_fma_per_clock(TensorType::bf16, 7, 5));
  using enum NativeOperation;
  constexpr int none = 0;
  // Best Practices Guide 13.3, table 5, read row by row.
  for (const auto& [operation, major, minor, rate] : {std::tuple{warp_shuffle, 7, 5, 16},
                                                      {warp_shuffle, 8, 0, 32},
                                                      {warp_reduce, 7, 5, none},
                                                      {f32_arithmetic, 6, 1, none},
                                                      {bit_reverse, 9, 0, none},
                                                      {bf16_arithmetic, 8, 0, 128},
                                                      {f64_arithmetic, 10, 3, 2},
                                                      {warp_vote, 12, 1, 128},
                                                      {convert_float_to_int, 10, 0, 16},
                                                      {convert_float_to_int, 12, 0, 2},
                                                      {convert_int_to_float, 8, 6, 64},
                                                      {integer_min_max, 9, 0, 128}})
    CHECK(native_throughput(operation, major, minor).value_or(none) == rate);
}
