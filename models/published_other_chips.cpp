#include "models/published_rows.h"

namespace fathom::models {
namespace {

constexpr std::string_view ai_kernels = "markdewing/AI_kernels, latency/README.md (January 2026)";
constexpr std::string_view latency_a100 =
    "RRZE gpu-benches, gpu-latency/a100_80.txt (January 2025)";
constexpr std::string_view latency_a40 = "RRZE gpu-benches, gpu-latency/a40.txt (January 2025)";
constexpr std::string_view latency_l40 = "RRZE gpu-benches, gpu-latency/l40.txt (January 2025)";
constexpr std::string_view luo_a100 =
    "Luo et al., NVIDIA-Hopper-Benchmark, random_latency/a100_pcie.txt (May 2025)";
constexpr std::string_view luo_4090 =
    "Luo et al., NVIDIA-Hopper-Benchmark, random_latency/rtx4090.txt (May 2025)";
constexpr std::string_view mt4g_a100 =
    "mt4g, sample_results/NVIDIA A100-PCIE-40GB.json (August 2025)";
constexpr std::string_view mt4g_2080 =
    "mt4g, sample_results/NVIDIA GeForce RTX 2080 Ti.json (August 2025)";
constexpr std::string_view feng = "sjfeng1999/gpu-arch-microbenchmark, README";

constexpr std::string_view a100 = "A100 80GB SXM", a100_pcie = "A100 40GB PCIe",
                           rtx4090 = "RTX 4090", rtx2080 = "RTX 2080 Ti";

constexpr double giga = 1e9;

constexpr PublishedFigure figures[] = {
    // Compute capability 7.5.
    {"l1.latency", 32, "cycles", "RTX 2070", 7, 5, 0, feng},
    {"l2.latency", 236, "cycles", "RTX 2070", 7, 5, 0, feng},
    {"shared.latency", 23, "cycles", "RTX 2070", 7, 5, 0, feng},
    {"l1.read_only_latency", 34, "cycles", rtx2080, 7, 5, 202508, mt4g_2080},
    {"texture.latency", 38, "cycles", rtx2080, 7, 5, 202508, mt4g_2080},
    {"l1.line", 128, "B", rtx2080, 7, 5, 202508, mt4g_2080},
    {"l1.sector", 32, "B", rtx2080, 7, 5, 202508, mt4g_2080},
    // 8.0. RRZE do not say which A100 of 80 GB it is; its stores reach 1908 GB/s, an SXM's.
    {"l1.latency", 39, "cycles", a100, 8, 0, 202601, ai_kernels},
    {"l1.latency", 33.0, "cycles", a100, 8, 0, 202501, latency_a100},
    {"l1.latency", 32.7, "cycles", a100_pcie, 8, 0, 202505, luo_a100},
    {"l1.read_only_latency", 35, "cycles", a100_pcie, 8, 0, 202508, mt4g_a100},
    {"l2.latency", 210, "cycles", a100, 8, 0, 202601, ai_kernels},
    {"l2.latency", 205.7, "cycles", a100, 8, 0, 202501, latency_a100},
    {"l2.latency", 202.8, "cycles", a100_pcie, 8, 0, 202505, luo_a100},
    {"dram.latency", 550, "cycles", a100, 8, 0, 202601, ai_kernels},
    {"dram.latency", 552.4, "cycles", a100, 8, 0, 202501, latency_a100},
    {"texture.latency", 39.5, "cycles", a100_pcie, 8, 0, 202508, mt4g_a100},
    {"l1.line", 128, "B", a100_pcie, 8, 0, 202508, mt4g_a100},
    {"l1.sector", 32, "B", a100_pcie, 8, 0, 202508, mt4g_a100},
    {"l2.partition", 20971520, "B", a100_pcie, 8, 0, 202508, mt4g_a100},
    {"l2.bandwidth", 5447.7 * giga, "B/s", a100, 8, 0, 202404,
     "RRZE gpu-benches, gpu-l2-cache/a100_80.txt, at 16,896 kB (April 2024)"},
    {"dram.bandwidth", 1776 * giga, "B/s", a100, 8, 0, 202502,
     "RRZE gpu-benches, gpu-stream/a100_80.txt, read (February 2025)"},
    // 8.6.
    {"l1.latency", 33.0, "cycles", "A40", 8, 6, 202501, latency_a40},
    {"l2.latency", 250.4, "cycles", "A40", 8, 6, 202501, latency_a40},
    {"dram.latency", 556.6, "cycles", "A40", 8, 6, 202501, latency_a40},
    // 8.9.
    {"l1.latency", 40, "cycles", rtx4090, 8, 9, 202601, ai_kernels},
    {"l1.latency", 36.1, "cycles", rtx4090, 8, 9, 202505, luo_4090},
    {"l1.latency", 34.0, "cycles", "L40", 8, 9, 202501, latency_l40},
    {"l2.latency", 296, "cycles", rtx4090, 8, 9, 202601, ai_kernels},
    {"l2.latency", 284.8, "cycles", rtx4090, 8, 9, 202505, luo_4090},
    {"l2.latency", 273.6, "cycles", "L40", 8, 9, 202501, latency_l40},
    {"dram.latency", 636, "cycles", rtx4090, 8, 9, 202601, ai_kernels},
    {"dram.latency", 625.0, "cycles", "L40", 8, 9, 202501, latency_l40},
    {"l2.bandwidth", 5229.8 * giga, "B/s", "L40", 8, 9, 202404,
     "RRZE gpu-benches, gpu-l2-cache/l40.txt, at 30,720 kB (April 2024)"},
    {"dram.bandwidth", 845 * giga, "B/s", "L40", 8, 9, 202502,
     "RRZE gpu-benches, gpu-stream/l40.txt, read (February 2025)"},
    // 10.0 and 10.3.
    {"l1.latency", 40, "cycles", "B200", 10, 0, 202601, ai_kernels},
    {"l2.latency", 295, "cycles", "B200", 10, 0, 202601, ai_kernels},
    {"dram.latency", 860, "cycles", "B200", 10, 0, 202601, ai_kernels},
    {"l1.latency", 39, "cycles", "B300", 10, 3, 202601, ai_kernels},
    {"l2.latency", 295, "cycles", "B300", 10, 3, 202601, ai_kernels},
    {"dram.latency", 848, "cycles", "B300", 10, 3, 202601, ai_kernels},
    // 12.0.
    {"l1.latency", 44, "cycles", "RTX 5090", 12, 0, 202601, ai_kernels},
    {"l1.latency", 44, "cycles", "RTX PRO 6000", 12, 0, 202601, ai_kernels},
    {"l2.latency", 360, "cycles", "RTX 5090", 12, 0, 202601, ai_kernels},
    {"l2.latency", 352, "cycles", "RTX PRO 6000", 12, 0, 202601, ai_kernels},
    {"dram.latency", 936, "cycles", "RTX 5090", 12, 0, 202601, ai_kernels},
    {"dram.latency", 864, "cycles", "RTX PRO 6000", 12, 0, 202601, ai_kernels},
};

}  // namespace

std::span<const PublishedFigure> published_of_other_chips() { return figures; }

}  // namespace fathom::models
