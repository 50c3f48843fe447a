#include <array>

#include "models/gpu_table.h"

namespace fathom::models {
namespace {

// The units of the rows.
constexpr double MHz = 1e6, Gbit = 1e9, GB = 1e9, tera = 1e12;

// What several rows say where a part lacks a unit.
constexpr Sourced<double> no_fp64_tensor{0, "none: its tensor cores have no fp64"};
constexpr Sourced<double> no_fp8{0, "none: fp8 came with compute capability 8.9"};
constexpr Sourced<double> no_nvlink{0, "none: the part has no NVLink connector"};

constexpr const char* half_of_bf16 = "derived: half of bf16's rate";
constexpr const char* pcie_gen4 =
    "derived: PCIe 4.0 x16 is 16 GT/s x 16 lanes / 8, 32 GB/s each way, rounded as data sheets do";

// Documents.
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
constexpr const char* ada_paper =
    "NVIDIA Ada GPU Architecture white paper V2.02, appendix A, GeForce RTX 4090";
constexpr const char* l40s_sheet = "NVIDIA L40S data sheet";
constexpr const char* l40s_driver = "cudaDeviceProp of an L40S; the data sheet does not state it";
constexpr const char* h100_sheet =
    "NVIDIA H100 Tensor Core GPU data sheet; half of what it prints for sparsity";
constexpr const char* h100_paper =
    "NVIDIA H100 Tensor Core GPU Architecture white paper, comparison of data center GPUs";
constexpr const char* h200_sheet = "NVIDIA H200 Tensor Core GPU data sheet";
constexpr const char* h200_dense =
    "NVIDIA H200 Tensor Core GPU data sheet, half of what it prints for sparsity";
constexpr const char* b200_sheet = "NVIDIA Blackwell data sheet, HGX B200, per GPU";
constexpr const char* b200_dense =
    "NVIDIA Blackwell data sheet, HGX B200, per GPU: half of what it prints for sparsity";
constexpr const char* b200_driver =
    "cudaDeviceProp of a B200; not confirmed by a document of the maker";
constexpr const char* rtx_paper =
    "NVIDIA RTX Blackwell GPU Architecture white paper, table of the GeForce RTX 5090";

constexpr std::string_view clock_1215 = "white paper: memory clock 1215 MHz, two transfers a clock";
constexpr std::string_view clock_1593 =
    "memory clock 1593 MHz as the driver reports it, two transfers a clock";
constexpr std::string_view from_1935 = "derived: 1935 GB/s over 5120 bits (1512 MHz x 2)";

/// One of the four A100, which differ in their memory and link.
constexpr GpuSpec a100(std::string_view name, std::array<std::string_view, 2> device_names,
                       double memory_bytes, double bandwidth, Sourced<double> pin_rate,
                       std::string_view nvlink_source) {
  return {.name = name,
          .device_names = device_names,
          .major = 8,
          .minor = 0,
          .sms = {108, ga100_paper},
          .boost_clock_hz = {1410 * MHz, ga100_paper},
          .tensor_clock_hz = {1410 * MHz, ga100_paper},
          .memory_bus_bits = {5120, ga100_paper},
          .memory_pin_rate = pin_rate,
          .memory_bytes = {memory_bytes, a100_sheet},
          .memory_bandwidth = {bandwidth, a100_sheet},
          .fp32_flops = {19.5 * tera, a100_sheet},
          .fp64_flops = {9.7 * tera, a100_sheet},
          .fp64_tensor_flops = {19.5 * tera, a100_sheet},
          .tf32_flops = {156 * tera, a100_sheet},
          .fp16_flops = {312 * tera, a100_sheet},
          .bf16_flops = {312 * tera, a100_sheet},
          .fp8_flops = no_fp8,
          .int8_ops = {624 * tera, a100_sheet},
          .nvlink_bandwidth = {600 * GB, nvlink_source},
          .pcie_bandwidth = {64 * GB, a100_sheet}};
}

constexpr GpuSpec rows[] = {
    {.name = "T4",
     .device_names = {"Tesla T4", "NVIDIA T4"},
     .major = 7,
     .minor = 5,
     .sms = {40, "derived: 2560 CUDA cores (T4 data sheet) at 64 per SM (Turing white paper)"},
     .boost_clock_hz = {1590 * MHz, t4_driver},
     .tensor_clock_hz = {1590 * MHz, t4_driver},
     .memory_bus_bits = {256, t4_driver},
     .memory_pin_rate = {10 * Gbit, "derived: memory clock 5001 MHz x 2, as the driver reports it"},
     .memory_bytes = {16 * GB, t4_sheet},
     .memory_bandwidth = {320 * GB, "NVIDIA T4 data sheet: 320+ GB/s"},
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
    a100("A100 40GB PCIe", {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"}, 40 * GB, 1555 * GB,
         {2.43 * Gbit, clock_1215}, a100_bridge),
    a100("A100 40GB SXM", {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"}, 40 * GB, 1555 * GB,
         {2.43 * Gbit, clock_1215}, a100_sheet),
    a100("A100 80GB PCIe", {"NVIDIA A100 80GB PCIe", ""}, 80 * GB, 1935 * GB,
         {3.024 * Gbit, from_1935}, a100_bridge),
    a100("A100 80GB SXM", {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"}, 80 * GB, 2039 * GB,
         {3.186 * Gbit, clock_1593}, a100_sheet),
    {.name = "RTX A6000",
     .device_names = {"NVIDIA RTX A6000", "A6000"},
     .major = 8,
     .minor = 6,
     .sms = {84, ga102_a6000},
     .boost_clock_hz = {1800 * MHz, ga102_a6000},
     .tensor_clock_hz = {1800 * MHz, ga102_a6000},
     .memory_bus_bits = {384, ga102_a6000},
     .memory_pin_rate = {16 * Gbit, ga102_a6000},
     .memory_bytes = {48 * GB, ga102_a6000},
     .memory_bandwidth = {768 * GB, ga102_a6000},
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
     .memory_bus_bits = {384, ga102_3090},
     .memory_pin_rate = {19.5 * Gbit, ga102_3090},
     .memory_bytes = {24 * GB, ga102_3090},
     .memory_bandwidth = {936 * GB, ga102_3090},
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
    {.name = "RTX 4090",
     .device_names = {"NVIDIA GeForce RTX 4090", ""},
     .major = 8,
     .minor = 9,
     .sms = {128, ada_paper},
     .boost_clock_hz = {2520 * MHz, ada_paper},
     .tensor_clock_hz = {2520 * MHz, ada_paper},
     .memory_bus_bits = {384, ada_paper},
     .memory_pin_rate = {21 * Gbit, ada_paper},
     .memory_bytes = {24 * GB, ada_paper},
     .memory_bandwidth = {1008 * GB, ada_paper},
     .fp32_flops = {82.6 * tera, ada_paper},
     .fp64_flops = {1.29 * tera, "derived: 1/64 of fp32 (Ada white paper: two fp64 units per SM)"},
     .fp64_tensor_flops = no_fp64_tensor,
     .tf32_flops = {82.6 * tera, half_of_bf16},
     .fp16_flops = {165.2 * tera, ada_paper},
     .bf16_flops = {165.2 * tera, ada_paper},
     .fp8_flops =
         {330.3 * tera,
          "Ada white paper since V2.02, appendix A: with fp32 accumulation; 660.6 with fp16's"},
     .int8_ops = {660.6 * tera, ada_paper},
     .nvlink_bandwidth = no_nvlink,
     .pcie_bandwidth = {64 * GB, pcie_gen4}},
    {.name = "L40S",
     .device_names = {"NVIDIA L40S", ""},
     .major = 8,
     .minor = 9,
     .sms = {142, "derived: 18,176 CUDA cores (L40S data sheet) at 128 per SM (Ada white paper)"},
     .boost_clock_hz = {2520 * MHz, l40s_driver},
     .tensor_clock_hz = {2520 * MHz, l40s_driver},
     .memory_bus_bits = {384, l40s_driver},
     .memory_pin_rate = {18 * Gbit, "derived: memory clock 9001 MHz x 2, as the driver reports it"},
     .memory_bytes = {48 * GB, l40s_sheet},
     .memory_bandwidth = {864 * GB, l40s_sheet},
     .fp32_flops = {91.6 * tera, l40s_sheet},
     .fp64_flops = {1.43 * tera, "derived: 1/64 of fp32 (Ada white paper: two fp64 units per SM)"},
     .fp64_tensor_flops = no_fp64_tensor,
     .tf32_flops = {183 * tera, l40s_sheet},
     .fp16_flops = {362.05 * tera,
                    "NVIDIA L40S data sheet; at the clock of its other figures it would be 366"},
     .bf16_flops = {362.05 * tera,
                    "NVIDIA L40S data sheet; at the clock of its other figures it would be 366"},
     .fp8_flops = {733 * tera, l40s_sheet},
     .int8_ops = {733 * tera, "derived: 2048 op a clock and SM, as the RTX 4090 (Ada white paper)"},
     .nvlink_bandwidth = {0, "NVIDIA L40S data sheet: no NVLink"},
     .pcie_bandwidth = {64 * GB, l40s_sheet}},
    {.name = "H100 PCIe",
     .device_names = {"NVIDIA H100 PCIe", ""},
     .major = 9,
     .minor = 0,
     .sms = {114, h100_paper},
     .boost_clock_hz = {1755 * MHz, h100_paper},
     .tensor_clock_hz = {1620 * MHz,
                         "derived: 756 TFLOP/s over 114 SMs x 4096 FLOP a clock of dense fp16"},
     .memory_bus_bits = {5120, h100_paper},
     .memory_pin_rate = {3.186 * Gbit, "memory clock 1593 MHz as the driver reports it, x 2"},
     .memory_bytes = {80 * GB, h100_paper},
     .memory_bandwidth = {2039 * GB,
                          "derived: 5120 bits x 1593 MHz x 2 / 8; the data sheet rounds to 2 TB/s"},
     .fp32_flops = {51.2 * tera, h100_paper},
     .fp64_flops = {25.6 * tera, h100_paper},
     .fp64_tensor_flops = {51.2 * tera, h100_paper},
     .tf32_flops = {378 * tera, h100_sheet},
     .fp16_flops = {756 * tera, h100_sheet},
     .bf16_flops = {756 * tera, h100_sheet},
     .fp8_flops = {1513 * tera, h100_sheet},
     .int8_ops = {1513 * tera, h100_sheet},
     .nvlink_bandwidth = {600 * GB, "NVIDIA H100 data sheet: by bridges that join two cards"},
     .pcie_bandwidth = {128 * GB, h100_sheet}},
    {.name = "H100 SXM",
     .device_names = {"NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB"},
     .major = 9,
     .minor = 0,
     .sms = {132, h100_paper},
     .boost_clock_hz = {1980 * MHz, h100_paper},
     .tensor_clock_hz = {1830 * MHz, h100_paper},
     .memory_bus_bits = {5120, h100_paper},
     .memory_pin_rate = {5.238 * Gbit, "memory clock 2619 MHz as the driver reports it, x 2"},
     .memory_bytes = {80 * GB, h100_sheet},
     .memory_bandwidth = {3350 * GB, h100_sheet},
     .fp32_flops = {66.9 * tera, h100_paper},
     .fp64_flops = {33.5 * tera, h100_paper},
     .fp64_tensor_flops = {66.9 * tera, h100_paper},
     .tf32_flops = {494.7 * tera, h100_paper},
     .fp16_flops = {989.4 * tera, h100_paper},
     .bf16_flops = {989.4 * tera, h100_paper},
     .fp8_flops = {1978.9 * tera, h100_paper},
     .int8_ops = {1978.9 * tera, h100_paper},
     .nvlink_bandwidth = {900 * GB, h100_sheet},
     .pcie_bandwidth = {128 * GB, h100_sheet}},
    {.name = "H200",
     .device_names = {"NVIDIA H200", "H200 SXM"},
     .major = 9,
     .minor = 0,
     .sms = {132, "cudaDeviceProp of an H200, as H100 SXM; the data sheet does not state it"},
     .boost_clock_hz = {1980 * MHz, "driver of an H200, as H100 SXM; not in the data sheet"},
     .tensor_clock_hz = {1830 * MHz,
                         "as H100 SXM, whose tensor peaks it shares; not in the data sheet"},
     .memory_bus_bits = {6016,
                         "driver of an H200 (recordings/h200); the data sheet states none, and six "
                         "stacks of 1024 bits would be 6144"},
     .memory_pin_rate = {6.402 * Gbit, "driver of an H200 (recordings/h200): 3201 MHz x 2"},
     .memory_bytes = {141 * GB, "NVIDIA H200 data sheet; the driver reports 150.1e9 bytes"},
     .memory_bandwidth = {4800 * GB, "NVIDIA H200 data sheet; bus x clock of the driver is 4814"},
     .fp32_flops = {67 * tera, h200_sheet},
     .fp64_flops = {34 * tera, h200_sheet},
     .fp64_tensor_flops = {67 * tera, h200_sheet},
     .tf32_flops = {494.5 * tera, h200_dense},
     .fp16_flops = {989.5 * tera, h200_dense},
     .bf16_flops = {989.5 * tera, h200_dense},
     .fp8_flops = {1979 * tera, h200_dense},
     .int8_ops = {1979 * tera, h200_dense},
     .nvlink_bandwidth = {900 * GB, h200_sheet},
     .pcie_bandwidth = {128 * GB, h200_sheet}},
    {.name = "B200",
     .device_names = {"NVIDIA B200", ""},
     .major = 10,
     .minor = 0,
     .sms = {148, b200_driver},
     .boost_clock_hz = {1965 * MHz,
                        "not confirmed: not published; the highest SM clock of drivers"},
     .tensor_clock_hz = {1856 * MHz,
                         "derived: 2.25 PFLOP/s over 148 SMs x 8192 FLOP a clock of dense fp16"},
     .memory_bus_bits = {7680, "driver of a B200; older drivers said 8192, eight stacks of 1024"},
     .memory_pin_rate = {7.992 * Gbit, "driver of a B200: memory clock 3996 MHz x 2"},
     .memory_bytes = {180 * GB, b200_sheet},
     .memory_bandwidth =
         {7700 * GB,
          "NVIDIA Blackwell data sheet, HGX B200, per GPU; other documents round to 8 TB/s"},
     .fp32_flops = {75 * tera, b200_sheet},
     .fp64_flops = {37 * tera, b200_sheet},
     .fp64_tensor_flops = {37 * tera, b200_sheet},
     .tf32_flops = {1100 * tera, b200_dense},
     .fp16_flops = {2250 * tera, b200_dense},
     .bf16_flops = {2250 * tera, b200_dense},
     .fp8_flops = {4500 * tera, b200_dense},
     .int8_ops = {4500 * tera, b200_dense},
     .nvlink_bandwidth = {1800 * GB, b200_sheet},
     .pcie_bandwidth = {128 * GB, b200_sheet}},
    {.name = "RTX 5090",
     .device_names = {"NVIDIA GeForce RTX 5090", ""},
     .major = 12,
     .minor = 0,
     .sms = {170, rtx_paper},
     .boost_clock_hz = {2407 * MHz, rtx_paper},
     .tensor_clock_hz = {2407 * MHz, rtx_paper},
     .memory_bus_bits = {512, rtx_paper},
     .memory_pin_rate = {28 * Gbit, rtx_paper},
     .memory_bytes = {32 * GB, rtx_paper},
     .memory_bandwidth = {1792 * GB, rtx_paper},
     .fp32_flops = {104.8 * tera, rtx_paper},
     .fp64_flops = {1.64 * tera,
                    "derived: 1/64 of fp32 (RTX Blackwell white paper: two fp64 units per SM)"},
     .fp64_tensor_flops = no_fp64_tensor,
     .tf32_flops = {104.8 * tera, half_of_bf16},
     .fp16_flops = {209.5 * tera, rtx_paper},
     .bf16_flops = {209.5 * tera, rtx_paper},
     .fp8_flops = {419 * tera,
                   "RTX Blackwell white paper, table of the RTX 5090: with fp32 accumulation; 838 "
                   "with fp16's"},
     .int8_ops = {838 * tera, rtx_paper},
     .nvlink_bandwidth = no_nvlink,
     .pcie_bandwidth = {128 * GB,
                        "derived: PCIe 5.0 x16 is 32 GT/s x 16 lanes / 8, 64 GB/s each way"}},
};

}  // namespace

std::span<const GpuSpec> gpu_table() { return rows; }

}  // namespace fathom::models
