#include "models/gpu_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace fathom::models {
namespace {

constexpr double mega = 1e6, giga = 1e9, tera = 1e12;

/// In its column's unit. Without a source of its own it is from a document of its row.
struct Figure {
  double value;
  std::string_view source;

  constexpr Figure(double number, std::string_view its_source = {})
      : value(number), source(its_source) {}
};

/// A GPU, in the units that documents print. Arithmetic peaks are in TFLOP/s, int8's in TOP/s.
struct Row {
  struct {
    std::string_view name;
    std::array<std::string_view, 2> device_names;
    int major, minor;
    std::string_view document, tensor_document = document;
  } gpu;
  struct {
    Figure sms, boost_mhz, tensor_mhz;
  } clocks;
  struct {
    Figure bus_bits, pin_gbit_s, gb, gb_s;
  } memory;
  struct {
    Figure fp32, fp64, fp64_tensor;
  } peaks;
  struct {
    Figure tf32, fp16, bf16, fp8, int8;
  } tensor_peaks;
  struct {
    Figure nvlink_gb_s, pcie_gb_s;
  } links;
};

// What several rows say where a part lacks a unit.
constexpr Figure no_fp64_tensor{0, "none: its tensor cores have no fp64"};
constexpr Figure no_fp8{0, "none: fp8 came with compute capability 8.9"};
constexpr Figure no_nvlink{0, "none: the part has no NVLink connector"};

constexpr const char* half_of_bf16 = "derived: half of bf16's rate";
constexpr Figure pcie_gen4{
    64,
    "derived: PCIe 4.0 x16 is 16 GT/s x 16 lanes / 8, 32 GB/s each way, rounded as data sheets do"};

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
constexpr Figure ga102_bridge{
    112.5,
    "GA102 white paper, third-generation NVLink: four x4 links, 56.25 GB/s each way, joining two "
    "cards"};
constexpr const char* ada_paper =
    "NVIDIA Ada GPU Architecture white paper V2.02, appendix A, GeForce RTX 4090";
constexpr const char* ada_fp64 = "derived: 1/64 of fp32 (Ada white paper: two fp64 units per SM)";
constexpr const char* l40s_sheet = "NVIDIA L40S data sheet";
constexpr const char* l40s_driver = "cudaDeviceProp of an L40S; the data sheet does not state it";
constexpr Figure l40s_fp16{
    362.05, "NVIDIA L40S data sheet; at the clock of its other figures it would be 366"};
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
constexpr const char* rtx_paper =
    "NVIDIA RTX Blackwell GPU Architecture white paper, table of the GeForce RTX 5090";

/// One of the four A100, which differ in their memory and link.
constexpr Row a100(std::string_view name, std::array<std::string_view, 2> device_names, Figure gb,
                   Figure gb_s, Figure pin_gbit_s, std::string_view nvlink_source) {
  return {{name, device_names, 8, 0, a100_sheet},
          {.sms = {108, ga100_paper},
           .boost_mhz = {1410, ga100_paper},
           .tensor_mhz = {1410, ga100_paper}},
          {.bus_bits = {5120, ga100_paper}, .pin_gbit_s = pin_gbit_s, .gb = gb, .gb_s = gb_s},
          {.fp32 = 19.5, .fp64 = 9.7, .fp64_tensor = 19.5},
          {.tf32 = 156, .fp16 = 312, .bf16 = 312, .fp8 = no_fp8, .int8 = 624},
          {.nvlink_gb_s = {600, nvlink_source}, .pcie_gb_s = 64}};
}

constexpr Figure pins_1215{2.43, "white paper: memory clock 1215 MHz, two transfers a clock"};
constexpr Figure pins_1593{3.186,
                           "memory clock 1593 MHz as the driver reports it, two transfers a clock"};
constexpr Figure pins_1512{3.024, "derived: 1935 GB/s over 5120 bits (1512 MHz x 2)"};

constexpr Row rows[] = {
    {{"T4", {"Tesla T4", "NVIDIA T4"}, 7, 5, t4_sheet},
     {.sms = {40, "derived: 2560 CUDA cores (T4 data sheet) at 64 per SM (Turing white paper)"},
      .boost_mhz = {1590, t4_driver},
      .tensor_mhz = {1590, t4_driver}},
     {.bus_bits = {256, t4_driver},
      .pin_gbit_s = {10, "derived: memory clock 5001 MHz x 2, as the driver reports it"},
      .gb = 16,
      .gb_s = {320, "NVIDIA T4 data sheet: 320+ GB/s"}},
     {.fp32 = 8.1,
      .fp64 = {0.254, "derived: 1/32 of fp32 (Turing white paper: two fp64 units per SM)"},
      .fp64_tensor = no_fp64_tensor},
     {.tf32 = {0, "none: TF32 came with compute capability 8.0"},
      .fp16 = {65, "NVIDIA T4 data sheet: mixed precision (fp16 and fp32)"},
      .bf16 = {0, "none: bf16 came with compute capability 8.0"},
      .fp8 = no_fp8,
      .int8 = 130},
     {.nvlink_gb_s = no_nvlink, .pcie_gb_s = {32, "NVIDIA T4 data sheet: x16 PCIe Gen3"}}},
    a100("A100 40GB PCIe", {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"}, 40, 1555, pins_1215,
         a100_bridge),
    a100("A100 40GB SXM", {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"}, 40, 1555, pins_1215,
         a100_sheet),
    a100("A100 80GB PCIe", {"NVIDIA A100 80GB PCIe", ""}, 80, 1935, pins_1512, a100_bridge),
    a100("A100 80GB SXM", {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"}, 80, 2039, pins_1593,
         a100_sheet),
    {{"RTX A6000", {"NVIDIA RTX A6000", "A6000"}, 8, 6, ga102_a6000},
     {.sms = 84, .boost_mhz = 1800, .tensor_mhz = 1800},
     {.bus_bits = 384, .pin_gbit_s = 16, .gb = 48, .gb_s = 768},
     {.fp32 = 38.7, .fp64 = {0.605, ga102_fp64}, .fp64_tensor = no_fp64_tensor},
     {.tf32 = {77.4, half_of_bf16}, .fp16 = 154.8, .bf16 = 154.8, .fp8 = no_fp8, .int8 = 309.7},
     {.nvlink_gb_s = ga102_bridge, .pcie_gb_s = pcie_gen4}},
    {{"RTX 3090", {"NVIDIA GeForce RTX 3090", ""}, 8, 6, ga102_3090},
     {.sms = 82, .boost_mhz = 1695, .tensor_mhz = 1695},
     {.bus_bits = 384, .pin_gbit_s = 19.5, .gb = 24, .gb_s = 936},
     {.fp32 = 35.6, .fp64 = {0.556, ga102_fp64}, .fp64_tensor = no_fp64_tensor},
     {.tf32 = {35.6, half_of_bf16}, .fp16 = 71, .bf16 = 71, .fp8 = no_fp8, .int8 = 284},
     {.nvlink_gb_s = ga102_bridge, .pcie_gb_s = pcie_gen4}},
    {{"RTX 4090", {"NVIDIA GeForce RTX 4090", ""}, 8, 9, ada_paper},
     {.sms = 128, .boost_mhz = 2520, .tensor_mhz = 2520},
     {.bus_bits = 384, .pin_gbit_s = 21, .gb = 24, .gb_s = 1008},
     {.fp32 = 82.6, .fp64 = {1.29, ada_fp64}, .fp64_tensor = no_fp64_tensor},
     {.tf32 = {82.6, half_of_bf16},
      .fp16 = 165.2,
      .bf16 = 165.2,
      .fp8 = {330.3,
              "Ada white paper since V2.02, appendix A: with fp32 accumulation; 660.6 with fp16's"},
      .int8 = 660.6},
     {.nvlink_gb_s = no_nvlink, .pcie_gb_s = pcie_gen4}},
    {{"L40S", {"NVIDIA L40S", ""}, 8, 9, l40s_sheet},
     {.sms = {142, "derived: 18,176 CUDA cores (L40S data sheet) at 128 per SM (Ada white paper)"},
      .boost_mhz = {2520, l40s_driver},
      .tensor_mhz = {2520, l40s_driver}},
     {.bus_bits = {384, l40s_driver},
      .pin_gbit_s = {18, "derived: memory clock 9001 MHz x 2, as the driver reports it"},
      .gb = 48,
      .gb_s = 864},
     {.fp32 = 91.6, .fp64 = {1.43, ada_fp64}, .fp64_tensor = no_fp64_tensor},
     {.tf32 = 183,
      .fp16 = l40s_fp16,
      .bf16 = l40s_fp16,
      .fp8 = 733,
      .int8 = {733, "derived: 2048 op a clock and SM, as the RTX 4090 (Ada white paper)"}},
     {.nvlink_gb_s = {0, "NVIDIA L40S data sheet: no NVLink"}, .pcie_gb_s = 64}},
    {{"H100 PCIe", {"NVIDIA H100 PCIe", ""}, 9, 0, h100_paper, h100_sheet},
     {.sms = 114,
      .boost_mhz = 1755,
      .tensor_mhz = {1620, "derived: 756 TFLOP/s over 114 SMs x 4096 FLOP a clock of dense fp16"}},
     {.bus_bits = 5120,
      .pin_gbit_s = {3.186, "memory clock 1593 MHz as the driver reports it, x 2"},
      .gb = 80,
      .gb_s = {2039, "derived: 5120 bits x 1593 MHz x 2 / 8; the data sheet rounds to 2 TB/s"}},
     {.fp32 = 51.2, .fp64 = 25.6, .fp64_tensor = 51.2},
     {.tf32 = 378, .fp16 = 756, .bf16 = 756, .fp8 = 1513, .int8 = 1513},
     {.nvlink_gb_s = {600, "NVIDIA H100 data sheet: by bridges that join two cards"},
      .pcie_gb_s = {128, h100_sheet}}},
    {{"H100 SXM", {"NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB"}, 9, 0, h100_paper},
     {.sms = 132, .boost_mhz = 1980, .tensor_mhz = 1830},
     {.bus_bits = 5120,
      .pin_gbit_s = {5.238, "memory clock 2619 MHz as the driver reports it, x 2"},
      .gb = {80, h100_sheet},
      .gb_s = {3350, h100_sheet}},
     {.fp32 = 66.9, .fp64 = 33.5, .fp64_tensor = 66.9},
     {.tf32 = 494.7, .fp16 = 989.4, .bf16 = 989.4, .fp8 = 1978.9, .int8 = 1978.9},
     {.nvlink_gb_s = {900, h100_sheet}, .pcie_gb_s = {128, h100_sheet}}},
    {{"H200", {"NVIDIA H200", "H200 SXM"}, 9, 0, h200_sheet, h200_dense},
     {.sms = {132, "cudaDeviceProp of an H200, as H100 SXM; the data sheet does not state it"},
      .boost_mhz = {1980, "driver of an H200, as H100 SXM; not in the data sheet"},
      .tensor_mhz = {1830, "as H100 SXM, whose tensor peaks it shares; not in the data sheet"}},
     {.bus_bits = {6016,
                   "driver of an H200 (recordings/h200); the data sheet states none, and six "
                   "stacks of 1024 bits would be 6144"},
      .pin_gbit_s = {6.402, "driver of an H200 (recordings/h200): 3201 MHz x 2"},
      .gb = {141, "NVIDIA H200 data sheet; the driver reports 150.1e9 bytes"},
      .gb_s = {4800, "NVIDIA H200 data sheet; bus x clock of the driver is 4814"}},
     {.fp32 = 67, .fp64 = 34, .fp64_tensor = 67},
     {.tf32 = 494.5, .fp16 = 989.5, .bf16 = 989.5, .fp8 = 1979, .int8 = 1979},
     {.nvlink_gb_s = 900, .pcie_gb_s = 128}},
    {{"B200", {"NVIDIA B200", ""}, 10, 0, b200_sheet, b200_dense},
     {.sms = {148, "cudaDeviceProp of a B200; not confirmed by a document of the maker"},
      .boost_mhz = {1965, "not confirmed: not published; the highest SM clock of drivers"},
      .tensor_mhz = {1856, "derived: 2.25 PFLOP/s over 148 SMs x 8192 FLOP a clock of dense fp16"}},
     {.bus_bits = {7680, "driver of a B200; older drivers said 8192, eight stacks of 1024"},
      .pin_gbit_s = {7.992, "driver of a B200: memory clock 3996 MHz x 2"},
      .gb = 180,
      .gb_s = {7700,
               "NVIDIA Blackwell data sheet, HGX B200, per GPU; other documents round to 8 TB/s"}},
     {.fp32 = 75, .fp64 = 37, .fp64_tensor = 37},
     {.tf32 = 1100, .fp16 = 2250, .bf16 = 2250, .fp8 = 4500, .int8 = 4500},
     {.nvlink_gb_s = 1800, .pcie_gb_s = 128}},
    {{"RTX 5090", {"NVIDIA GeForce RTX 5090", ""}, 12, 0, rtx_paper},
     {.sms = 170, .boost_mhz = 2407, .tensor_mhz = 2407},
     {.bus_bits = 512, .pin_gbit_s = 28, .gb = 32, .gb_s = 1792},
     {.fp32 = 104.8,
      .fp64 = {1.64, "derived: 1/64 of fp32 (RTX Blackwell white paper: two fp64 units per SM)"},
      .fp64_tensor = no_fp64_tensor},
     {.tf32 = {104.8, half_of_bf16},
      .fp16 = 209.5,
      .bf16 = 209.5,
      .fp8 = {419,
              "RTX Blackwell white paper, table of the RTX 5090: with fp32 accumulation; 838 "
              "with fp16's"},
      .int8 = 838},
     {.nvlink_gb_s = no_nvlink,
      .pcie_gb_s = {128, "derived: PCIe 5.0 x16 is 32 GT/s x 16 lanes / 8, 64 GB/s each way"}}}};

constexpr GpuSpec spec_of(const Row& row) {
  const auto& [gpu, clocks, memory, peaks, tensor_peaks, links] = row;
  const auto in = [](double unit, const Figure& figure, std::string_view document) {
    return Sourced<double>{figure.value * unit, figure.source.empty() ? document : figure.source};
  };
  const auto whole = [&in](const Figure& figure, std::string_view document) {
    return Sourced<int>{static_cast<int>(figure.value), in(1, figure, document).source};
  };
  return {.name = gpu.name,
          .device_names = gpu.device_names,
          .major = gpu.major,
          .minor = gpu.minor,
          .sms = whole(clocks.sms, gpu.document),
          .boost_clock_hz = in(mega, clocks.boost_mhz, gpu.document),
          .tensor_clock_hz = in(mega, clocks.tensor_mhz, gpu.document),
          .memory_bus_bits = whole(memory.bus_bits, gpu.document),
          .memory_pin_rate = in(giga, memory.pin_gbit_s, gpu.document),
          .memory_bytes = in(giga, memory.gb, gpu.document),
          .memory_bandwidth = in(giga, memory.gb_s, gpu.document),
          .fp32_flops = in(tera, peaks.fp32, gpu.document),
          .fp64_flops = in(tera, peaks.fp64, gpu.document),
          .fp64_tensor_flops = in(tera, peaks.fp64_tensor, gpu.document),
          .tf32_flops = in(tera, tensor_peaks.tf32, gpu.tensor_document),
          .fp16_flops = in(tera, tensor_peaks.fp16, gpu.tensor_document),
          .bf16_flops = in(tera, tensor_peaks.bf16, gpu.tensor_document),
          .fp8_flops = in(tera, tensor_peaks.fp8, gpu.tensor_document),
          .int8_ops = in(tera, tensor_peaks.int8, gpu.tensor_document),
          .nvlink_bandwidth = in(giga, links.nvlink_gb_s, gpu.document),
          .pcie_bandwidth = in(giga, links.pcie_gb_s, gpu.document)};
}

constexpr auto table = [] {
  std::array<GpuSpec, std::size(rows)> specs;
  std::ranges::transform(rows, specs.begin(), spec_of);
  return specs;
}();

/// Lower case, with '-' and runs of blanks as one blank, without the maker's and brand's names.
std::string normalised(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool blank = c == '-' || std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  for (const std::string_view brand : {"nvidia ", "tesla ", "geforce "})
    if (text.starts_with(brand)) text.erase(0, brand.size());
  return text;
}

}  // namespace

std::span<const GpuSpec> gpu_table() { return table; }

const GpuSpec* find_gpu(std::string_view name) {
  const std::string wanted = normalised(name);
  for (const GpuSpec& gpu : gpu_table())
    for (const std::string_view known : {gpu.name, gpu.device_names[0], gpu.device_names[1]})
      if (!known.empty() && normalised(known) == wanted) return &gpu;
  return nullptr;
}

}  // namespace fathom::models
