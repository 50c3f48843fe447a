#include <array>

#include "models/gpu_table_rows.h"

namespace fathom::models {
namespace {

constexpr const char* t4_sheet = "NVIDIA T4 data sheet";
constexpr const char* t4_driver = "cudaDeviceProp of a Tesla T4; the data sheet does not state it";
constexpr const char* a100_sheet = "NVIDIA A100 Tensor Core GPU data sheet";
constexpr const char* ga100_paper =
    "NVIDIA A100 Tensor Core GPU Architecture white paper, comparison of data center GPUs";
constexpr const char* ga102_a6000 =
    "NVIDIA Ampere GA102 GPU Architecture white paper V2, table of the RTX A6000";
constexpr const char* ga102_3090 =
    "NVIDIA Ampere GA102 GPU Architecture white paper V2, appendix A, GeForce RTX 3090";
constexpr const char* ga102_fp64 =
    "derived: 1/64 of fp32 (GA102 white paper: two fp64 units per SM)";
constexpr const char* a100_bridge =
    "NVIDIA A100 Tensor Core GPU data sheet: by a bridge that joins two cards";
constexpr const char* ga102_bridge =
    "GA102 white paper, third-generation NVLink: four x4 links, 56.25 GB/s each way, joining two "
    "cards";

/// What the four A100 share; each adds its memory, power and link.
constexpr GpuSpec a100{.major = 8,
                       .minor = 0,
                       .sms = {108, ga100_paper},
                       .boost_clock_hz = {1410 * MHz, ga100_paper},
                       .tensor_clock_hz = {1410 * MHz, ga100_paper},
                       .memory_bus_bits = {5120, ga100_paper},
                       .l2_bytes = {40 * MiB, ga100_paper},
                       .fp32_flops = {19.5 * tera, a100_sheet},
                       .fp64_flops = {9.7 * tera, a100_sheet},
                       .fp64_tensor_flops = {19.5 * tera, a100_sheet},
                       .tf32_flops = {156 * tera, a100_sheet},
                       .fp16_flops = {312 * tera, a100_sheet},
                       .bf16_flops = {312 * tera, a100_sheet},
                       .fp8_flops = no_fp8,
                       .int8_ops = {624 * tera, a100_sheet},
                       .pcie_bandwidth = {64 * GB, a100_sheet}};

struct A100Variant {
  std::string_view name;
  std::array<std::string_view, 2> device_names;
  std::string_view memory_type;
  double memory_bytes, bandwidth, pin_rate, tdp_w;
  std::string_view pin_source, nvlink_source;
};

constexpr GpuSpec with(const A100Variant& variant) {
  GpuSpec gpu = a100;
  gpu.name = variant.name;
  gpu.device_names = variant.device_names;
  gpu.memory_type = variant.memory_type;
  gpu.memory_bytes = {variant.memory_bytes, a100_sheet};
  gpu.memory_bandwidth = {variant.bandwidth, a100_sheet};
  gpu.memory_pin_rate = {variant.pin_rate, variant.pin_source};
  gpu.tdp_w = {variant.tdp_w, a100_sheet};
  gpu.nvlink_bandwidth = {600 * GB, variant.nvlink_source};
  return gpu;
}

constexpr std::string_view clock_1215 = "white paper: memory clock 1215 MHz, two transfers a clock";
constexpr std::string_view clock_1593 =
    "memory clock 1593 MHz as the driver reports it, two transfers a clock";
constexpr std::string_view from_1935 = "derived: 1935 GB/s over 5120 bits (1512 MHz x 2)";

constexpr GpuSpec rows[] = {
    {.name = "T4",
     .device_names = {"Tesla T4", "NVIDIA T4"},
     .major = 7,
     .minor = 5,
     .sms = {40, "derived: 2560 CUDA cores (T4 data sheet) at 64 per SM (Turing white paper)"},
     .boost_clock_hz = {1590 * MHz, t4_driver},
     .tensor_clock_hz = {1590 * MHz, t4_driver},
     .memory_type = "GDDR6",
     .memory_bus_bits = {256, t4_driver},
     .memory_pin_rate = {10 * Gbit, "derived: memory clock 5001 MHz x 2, as the driver reports it"},
     .memory_bytes = {16 * GB, t4_sheet},
     .memory_bandwidth = {320 * GB, "NVIDIA T4 data sheet: 320+ GB/s"},
     .l2_bytes = {4 * MiB, t4_driver},
     .tdp_w = {70, t4_sheet},
     .fp32_flops = {8.1 * tera, t4_sheet},
     .fp64_flops = {0.254 * tera,
                    "derived: 1/32 of fp32 (Turing white paper: two fp64 units per SM)"},
     .fp64_tensor_flops = no_fp64_tensor,
     .tf32_flops = {0, "none: TF32 came with compute capability 8.0"},
     .fp16_flops = {65 * tera, "NVIDIA T4 data sheet: mixed precision (fp16 and fp32)"},
     .bf16_flops = {0, "none: bf16 came with compute capability 8.0"},
     .fp8_flops = no_fp8,
     .int8_ops = {130 * tera, t4_sheet},
     .nvlink_bandwidth = no_nvlink,
     .pcie_bandwidth = {32 * GB, "NVIDIA T4 data sheet: x16 PCIe Gen3"}},
    with({.name = "A100 40GB PCIe",
          .device_names = {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"},
          .memory_type = "HBM2",
          .memory_bytes = 40 * GB,
          .bandwidth = 1555 * GB,
          .pin_rate = 2.43 * Gbit,
          .tdp_w = 250,
          .pin_source = clock_1215,
          .nvlink_source = a100_bridge}),
    with({.name = "A100 40GB SXM",
          .device_names = {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
          .memory_type = "HBM2",
          .memory_bytes = 40 * GB,
          .bandwidth = 1555 * GB,
          .pin_rate = 2.43 * Gbit,
          .tdp_w = 400,
          .pin_source = clock_1215,
          .nvlink_source = a100_sheet}),
    with({.name = "A100 80GB PCIe",
          .device_names = {"NVIDIA A100 80GB PCIe", ""},
          .memory_type = "HBM2e",
          .memory_bytes = 80 * GB,
          .bandwidth = 1935 * GB,
          .pin_rate = 3.024 * Gbit,
          .tdp_w = 300,
          .pin_source = from_1935,
          .nvlink_source = a100_bridge}),
    with({.name = "A100 80GB SXM",
          .device_names = {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
          .memory_type = "HBM2e",
          .memory_bytes = 80 * GB,
          .bandwidth = 2039 * GB,
          .pin_rate = 3.186 * Gbit,
          .tdp_w = 400,
          .pin_source = clock_1593,
          .nvlink_source = a100_sheet}),
    {.name = "RTX A6000",
     .device_names = {"NVIDIA RTX A6000", "A6000"},
     .major = 8,
     .minor = 6,
     .sms = {84, ga102_a6000},
     .boost_clock_hz = {1800 * MHz, ga102_a6000},
     .tensor_clock_hz = {1800 * MHz, ga102_a6000},
     .memory_type = "GDDR6",
     .memory_bus_bits = {384, ga102_a6000},
     .memory_pin_rate = {16 * Gbit, ga102_a6000},
     .memory_bytes = {48 * GB, ga102_a6000},
     .memory_bandwidth = {768 * GB, ga102_a6000},
     .l2_bytes = {6 * MiB, ga102_a6000},
     .tdp_w = {300, ga102_a6000},
     .fp32_flops = {38.7 * tera, ga102_a6000},
     .fp64_flops = {0.605 * tera, ga102_fp64},
     .fp64_tensor_flops = no_fp64_tensor,
     .tf32_flops = {77.4 * tera, half_of_bf16},
     .fp16_flops = {154.8 * tera, ga102_a6000},
     .bf16_flops = {154.8 * tera, ga102_a6000},
     .fp8_flops = no_fp8,
     .int8_ops = {309.7 * tera, ga102_a6000},
     .nvlink_bandwidth = {112.5 * GB, ga102_bridge},
     .pcie_bandwidth = {64 * GB, pcie_gen4}},
    {.name = "RTX 3090",
     .device_names = {"NVIDIA GeForce RTX 3090", ""},
     .major = 8,
     .minor = 6,
     .sms = {82, ga102_3090},
     .boost_clock_hz = {1695 * MHz, ga102_3090},
     .tensor_clock_hz = {1695 * MHz, ga102_3090},
     .memory_type = "GDDR6X",
     .memory_bus_bits = {384, ga102_3090},
     .memory_pin_rate = {19.5 * Gbit, ga102_3090},
     .memory_bytes = {24 * GB, ga102_3090},
     .memory_bandwidth = {936 * GB, ga102_3090},
     .l2_bytes = {6 * MiB, ga102_3090},
     .tdp_w = {350, ga102_3090},
     .fp32_flops = {35.6 * tera, ga102_3090},
     .fp64_flops = {0.556 * tera, ga102_fp64},
     .fp64_tensor_flops = no_fp64_tensor,
     .tf32_flops = {35.6 * tera, half_of_bf16},
     .fp16_flops = {71 * tera, ga102_3090},
     .bf16_flops = {71 * tera, ga102_3090},
     .fp8_flops = no_fp8,
     .int8_ops = {284 * tera, ga102_3090},
     .nvlink_bandwidth = {112.5 * GB, ga102_bridge},
     .pcie_bandwidth = {64 * GB, pcie_gen4}},
};

}  // namespace

std::span<const GpuSpec> turing_and_ampere_gpus() { return rows; }

}  // namespace fathom::models
