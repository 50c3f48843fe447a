#include "models/gpu_table.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/occupancy.h"

namespace fathom::models {
namespace {

TEST_CASE("GPUs are found by the names that CUDA gives them", "[models]") {
  const auto name_of = [](std::string_view device) {
    const GpuSpec* gpu = find_gpu(device);
    return gpu == nullptr ? std::string("none") : std::string(gpu->name);
  };
  CHECK(name_of("NVIDIA H200") == "H200");
  CHECK(name_of("Tesla T4") == "T4");
  CHECK(name_of("NVIDIA A100-SXM4-80GB") == "A100 80GB SXM");
  CHECK(name_of("NVIDIA A100-SXM4-40GB") == "A100 40GB SXM");
  CHECK(name_of("NVIDIA A100 80GB PCIe") == "A100 80GB PCIe");
  CHECK(name_of("NVIDIA A100-PCIE-40GB") == "A100 40GB PCIe");
  CHECK(name_of("NVIDIA RTX A6000") == "RTX A6000");
  CHECK(name_of("NVIDIA GeForce RTX 3090") == "RTX 3090");
  CHECK(name_of("NVIDIA GeForce RTX 4090") == "RTX 4090");
  CHECK(name_of("NVIDIA L40S") == "L40S");
  CHECK(name_of("NVIDIA H100 PCIe") == "H100 PCIe");
  CHECK(name_of("NVIDIA H100 80GB HBM3") == "H100 SXM");
  CHECK(name_of("NVIDIA B200") == "B200");
  CHECK(name_of("NVIDIA GeForce RTX 5090") == "RTX 5090");
  CHECK(name_of("h200") == "H200");
  CHECK(name_of("a100 80gb sxm") == "A100 80GB SXM");
}

TEST_CASE("A similar name is another GPU", "[models]") {
  for (const char* name : {"NVIDIA GeForce RTX 3090 Ti", "NVIDIA H200 NVL", "NVIDIA L40", "NVIDIA",
                           "", "NVIDIA GH200 480GB", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"}) {
    CAPTURE(name);
    CHECK(find_gpu(name) == nullptr);
  }
}

TEST_CASE("The data sheets agree with SMs, clocks and widths", "[models]") {
  for (const GpuSpec& gpu : gpu_table()) {
    CAPTURE(gpu.name);
    const SmLimits& sm = sm_limits(gpu.major, gpu.minor);
    CHECK(gpu.fp32_flops ==
          Catch::Approx(2.0 * sm.fp32_per_clock * gpu.sms * gpu.boost_clock_hz).epsilon(0.02));
    const double bits_per_pin_and_second = gpu.memory_bandwidth * 8 / gpu.memory_bus_bits;
    CHECK(bits_per_pin_and_second > 2.4e9);
    CHECK(bits_per_pin_and_second < 30e9);
    CHECK(gpu.fp64_flops < gpu.fp32_flops);
    CHECK(gpu.fp16_tensor_flops > gpu.fp32_flops);
    CHECK(gpu.memory_bytes >= 16e9);
    CHECK(gpu.l2_bytes >= 4u << 20);
    CHECK(gpu.tdp_w >= 70);
    CHECK(!gpu.source.empty());
    CHECK(find_gpu(gpu.name) == &gpu);
  }
  // Claim G6 takes 165.1 TFLOP/s for the whole of an RTX 4090.
  CHECK(find_gpu("RTX 4090")->fp16_tensor_flops == Catch::Approx(165.1e12).epsilon(0.001));
  CHECK(find_gpu("RTX 4090")->memory_bandwidth == 1008e9);
}

}  // namespace
}  // namespace fathom::models
