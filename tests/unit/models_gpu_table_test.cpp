#include "models/gpu_table.h"

#include "models/instruction_throughput.h"
#include "models/occupancy.h"
#include "tests/testing.h"

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

TEST_CASE("The bandwidth is the bus times the rate of its pins", "[models]") {
  for (const GpuSpec& gpu : gpu_table()) {
    CAPTURE(gpu.name);
    CHECK(gpu.memory_bandwidth.value ==
          Approx(gpu.memory_bus_bits.value * gpu.memory_pin_rate.value / 8).epsilon(0.005));
  }
}

TEST_CASE("The CUDA cores' peaks are SMs x lanes x 2 x clock", "[models]") {
  for (const GpuSpec& gpu : gpu_table()) {
    CAPTURE(gpu.name);
    const SmLimits& sm = sm_limits(gpu.major, gpu.minor);
    CHECK(native_throughput(NativeOperation::f32_arithmetic, gpu.major, gpu.minor) ==
          sm.fp32_per_clock);
    const double fp32 = 2.0 * sm.fp32_per_clock * gpu.sms.value * gpu.boost_clock_hz.value;
    CHECK(gpu.fp32_flops.value == Approx(fp32).epsilon(0.01));
    const auto fp64_per_clock =
        native_throughput(NativeOperation::f64_arithmetic, gpu.major, gpu.minor);
    REQUIRE(fp64_per_clock.has_value());
    const double fp64 = *fp64_per_clock / sm.fp32_per_clock * fp32;
    CHECK(gpu.fp64_flops.value == Approx(fp64).epsilon(0.02));
  }
}

/// Dense FLOP a clock and SM of the tensor cores; 0 where the chip lacks the type.
double tensor_rate(TensorType type, const GpuSpec& gpu) {
  return 2 * tensor_fma_per_clock(type, gpu.major, gpu.minor).value_or(0);
}

TEST_CASE("The tensor cores' peaks are SMs x their rate x clock", "[models]") {
  for (const GpuSpec& gpu : gpu_table()) {
    CAPTURE(gpu.name);
    // GeForce multiplies with fp32 accumulation at half of the chip's rate; int8 has none.
    const double share = gpu.name.starts_with("RTX") && gpu.name != "RTX A6000" ? 0.5 : 1;
    const auto peak = [&](double flop_per_clock) {
      return Approx(flop_per_clock * gpu.sms.value * gpu.tensor_clock_hz.value).epsilon(0.0225);
    };
    CHECK(gpu.fp16_flops.value == peak(share * tensor_rate(TensorType::f16, gpu)));
    CHECK(gpu.tf32_flops.value == peak(share * tensor_rate(TensorType::tf32, gpu)));
    CHECK(gpu.fp8_flops.value == peak(share * tensor_rate(TensorType::fp8, gpu)));
    CHECK(gpu.int8_ops.value == peak(tensor_rate(TensorType::s8, gpu)));
    // fp64 runs at the clock of the CUDA cores.
    const double fp64 = tensor_rate(TensorType::f64, gpu);
    CHECK(gpu.fp64_tensor_flops.value ==
          Approx(fp64 * gpu.sms.value * gpu.boost_clock_hz.value).epsilon(0.0225));
    CHECK(gpu.bf16_flops.value == (gpu.major >= 8 ? gpu.fp16_flops.value : 0));
  }
}

template <typename T>
void check_source(const Sourced<T>& figure) {
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

TEST_CASE("The claims' and the recordings' figures agree with the table", "[models]") {
  // Claim G6 takes 165.1 TFLOP/s for the whole of an RTX 4090, claim V1 1008 GB/s.
  CHECK(find_gpu("RTX 4090")->fp16_flops.value == Approx(165.1e12).epsilon(0.001));
  CHECK(find_gpu("RTX 4090")->memory_bandwidth.value == 1008e9);
  // An H200 as its driver describes it, recordings/h200.
  const GpuSpec& h200 = *find_gpu("H200");
  CHECK(h200.sms.value == 132);
  CHECK(h200.memory_bandwidth.value == Approx(4814304000000.0).epsilon(0.005));
}

}  // namespace
}  // namespace fathom::models
