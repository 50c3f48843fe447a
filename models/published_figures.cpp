#include "models/published.h"

namespace fathom::models {
namespace {

// Where the sources are, all below github.com: RRZE-HPC/gpu-benches at 1038c5d, caps-tum/mt4g at
// 043c8c6, markdewing/AI_kernels of 7 January 2026, Azure/AI-benchmarking-guide at 7f20e5f,
// sjfeng1999/gpu-arch-microbenchmark, Luo et al.'s HPMLL/NVIDIA-Hopper-Benchmark at ded6f57, and
// its rerun Johnsonms/NVIDIA-Hopper-Benchmark at 2af634c, folder reproduction.
constexpr std::string_view mt4g_h100 =
    "mt4g, sample_results/NVIDIA H100 80GB HBM3.json (August 2025)";
constexpr std::string_view mt4g_nvl = "mt4g, sample_results/NVIDIA H100 NVL.json (August 2025)";
constexpr std::string_view latency_gh200 = "RRZE gpu-benches, gpu-latency/gh200.txt (January 2025)";
constexpr std::string_view l2_h200 =
    "RRZE gpu-benches, gpu-l2-cache/h200.txt, at 30,720 kB (April 2024)";
constexpr std::string_view ai_kernels = "markdewing/AI_kernels, latency/README.md (January 2026)";
constexpr std::string_view azure =
    "Azure AI-benchmarking-guide, ND_H200_v5_results.md (September 2024)";
constexpr std::string_view azure_nccl =
    "Azure AI-benchmarking-guide, ND_H200_v5_results.md, 8 GPUs with NVLS, 8 GB (September 2024)";
constexpr std::string_view azure_h100 =
    "Azure AI-benchmarking-guide, ND_H100_v5_results.md (September 2024)";
constexpr std::string_view lockwood =
    "G. K. Lockwood, \"H100\" (notes on processors): H100 SXM5, whose GPU it takes the H200's to "
    "be";
constexpr std::string_view hgx = "github.com/NVIDIA/nccl issue 1264, p2pBandwidthLatencyTest";
/// By the authors of "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking and
/// Multiple Level Analysis", arXiv 2501.12084, whose tables name the card.
constexpr std::string_view luo_random =
    "Luo et al., NVIDIA-Hopper-Benchmark, random_latency/h800_pcie.txt (May 2025)";
constexpr std::string_view luo_cluster =
    "Luo et al., NVIDIA-Hopper-Benchmark, DSM/Latency/OneToAll/log (May 2025), median of its pairs";
/// The same authors' programs, run by somebody else on other cards, ten times each.
constexpr std::string_view rerun =
    "rerun of Luo et al.'s benchmark, Johnsonms/NVIDIA-Hopper-Benchmark, raw/stats.txt (July 2026)";
constexpr std::string_view rerun_logs =
    "rerun of Luo et al.'s benchmark, Johnsonms/NVIDIA-Hopper-Benchmark, raw/alu_lat_*.log (July "
    "2026)";

constexpr std::string_view h200 = "H200", gh200 = "GH200", h100 = "H100 SXM", nvl = "H100 NVL",
                           h800 = "H800 PCIe", pcie = "H100 PCIe";

constexpr double giga = 1e9, tera = 1e12, gibi = 1073741824.0;
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
constexpr std::string_view volta =
    "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, arXiv "
    "1804.06826 (April 2018), table 4.1";

// For each fact, what is closest to an H200 comes first: a GH200 has its 60 MiB of L2 and its 1980
// MHz. A chip's newest figure comes before its older ones.
constexpr PublishedFigure figures[] = {
    // Latencies of a chase through lines in random order. RRZE's have no arithmetic between loads.
    {"l1.latency", 40, "cycles", gh200, 9, 0, 202601, ai_kernels},
    {"l1.latency", 32.0, "cycles", gh200, 9, 0, 202501, latency_gh200},
    {"l1.latency", 41.1, "cycles", h100, 9, 0, 202607, rerun},
    {"l1.latency", 40, "cycles", h100, 9, 0, 202601, ai_kernels},
    {"l1.latency", 38, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"l1.latency", 32.1, "cycles", h800, 9, 0, 202505, luo_random},
    {"l1.read_only_latency", 34.9, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"l2.latency", 281, "cycles", gh200, 9, 0, 202601, ai_kernels},
    {"l2.latency", 280.4, "cycles", gh200, 9, 0, 202501, latency_gh200},
    {"l2.latency", 272.3, "cycles", h100, 9, 0, 202607, rerun},
    {"l2.latency", 291, "cycles", h100, 9, 0, 202601, ai_kernels},
    {"l2.latency", 219.3, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"l2.latency", 237.8, "cycles", nvl, 9, 0, 202508, mt4g_nvl},
    {"l2.latency", 264.5, "cycles", h800, 9, 0, 202505, luo_random},
    {"dram.latency", 690, "cycles", gh200, 9, 0, 202601, ai_kernels},
    {"dram.latency", 689.2, "cycles", gh200, 9, 0, 202501, latency_gh200},
    {"dram.latency", 700, "cycles", h100, 9, 0, 202601, ai_kernels},
    {"dram.latency", 834.5, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"dram.latency", 803.0, "cycles", nvl, 9, 0, 202508, mt4g_nvl},
    {"dram.latency", 656.8, "cycles", h800, 9, 0, 202505, luo_random},
    {"shared.latency", 29.0, "cycles", h100, 9, 0, 202607, rerun},
    {"shared.latency", 29.9, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"dsmem.latency", 198, "cycles", h800, 9, 0, 202505, luo_cluster},
    {"dsmem.latency_cluster_2", 181, "cycles", h800, 9, 0, 202505, luo_cluster},
    {"dsmem.latency_cluster_4", 204.5, "cycles", h800, 9, 0, 202505, luo_cluster},
    {"dsmem.latency_cluster_8", 202.5, "cycles", h800, 9, 0, 202505, luo_cluster},
    {"dsmem.latency_cluster_16", 196.5, "cycles", h800, 9, 0, 202505, luo_cluster},
    // mt4g's means over few loads have the first misses in them; its medians are 17 and 106 cycles.
    {"const.l1.latency", 20.7, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"const.l1_5.latency", 104.9, "cycles", h100, 9, 0, 202508, mt4g_h100},
    {"texture.latency", 38.8, "cycles", h100, 9, 0, 202508, mt4g_h100},
    // Sizes and lines as detected.
    {"l1.size", 255232, "B", nvl, 9, 0, 202508, mt4g_nvl},
    {"l1.size", 238848, "B", h100, 9, 0, 202508, mt4g_h100},
    {"l1.line", 128, "B", h100, 9, 0, 202508, mt4g_h100},
    {"l1.sector", 32, "B", h100, 9, 0, 202508, mt4g_h100},
    {"l2.line", 128, "B", h100, 9, 0, 202508, mt4g_h100},
    {"l2.partition", 31457280, "B", nvl, 9, 0, 202508, mt4g_nvl},
    {"l2.partition", 26214400, "B", h100, 9, 0, 202508, mt4g_h100},
    {"l2.fetch_granularity", 32, "B", h100, 9, 0, 202508, mt4g_h100},
    {"const.l1.size", 2112, "B", h100, 9, 0, 202508, mt4g_h100},
    // Bandwidths of loads. RRZE's L2 figure is at 30 MiB, where blocks find next to nothing in L1.
    {"l1.bytes_per_clock", 128, "B/clk", h200, 9, 0, 202502,
     "RRZE gpu-benches, gpu-strides/h200.txt, doubles at stride 1 (February 2025)"},
    {"l1.bytes_per_clock", 125.70, "B/clk", h100, 9, 0, 202607, rerun},
    {"shared.bytes_per_clock", 127.53, "B/clk", h100, 9, 0, 202607, rerun},
    {"l2.bandwidth", 9769.1 * giga, "B/s", h200, 9, 0, 202404, l2_h200},
    // Several of that program's blocks read the same data, as in these sets.
    {"l2.bandwidth_cg_shared_set", 9769.1 * giga, "B/s", h200, 9, 0, 202404, l2_h200},
    {"l2.bandwidth_no_allocate_shared_set", 9769.1 * giga, "B/s", h200, 9, 0, 202404, l2_h200},
    {"l2.bandwidth", 4528.9 * gibi, "B/s", h100, 9, 0, 202508, mt4g_h100},
    {"l2.bandwidth", 6952.6 * giga, "B/s", pcie, 9, 0, 202404,
     "RRZE gpu-benches, gpu-l2-cache/h100_pcie.txt, at 30,720 kB (April 2024)"},
    {"dram.bandwidth", 4.48 * tera, "B/s", h200, 9, 0, 202409, azure},  // BabelStream's Dot
    {"dram.bandwidth", 3888.2 * giga, "B/s", h200, 9, 0, 202404,
     "RRZE gpu-benches, gpu-l2-cache/h200.txt, its largest set (April 2024)"},
    {"dram.bandwidth", 3.18 * tera, "B/s", h100, 9, 0, 202409, azure_h100},
    {"dram.mixed_bandwidth", 4.15 * tera, "B/s", h200, 9, 0, 202409, azure},  // its Triad
    {"dram.mixed_bandwidth", 3009.9 * giga, "B/s", h100, 9, 0, 202607, rerun},
    {"dram.mixed_bandwidth", 2.97 * tera, "B/s", h100, 9, 0, 202409, azure_h100},
    // Links: nvbandwidth and p2pBandwidthLatencyTest count the bytes of one direction, and of both
    // where both are busy.
    {"host.bandwidth", 52 * giga, "B/s", h200, 9, 0, 202409, azure},
    {"host.d2h_bandwidth", 52 * giga, "B/s", h200, 9, 0, 202409, azure},
    {"peer.bandwidth", 376.6 * giga, "B/s", h100, 9, 0, 0, hgx},
    {"peer.bidirectional_bandwidth", 783 * giga, "B/s", h100, 9, 0, 0, hgx},
    {"nccl.all_reduce_bus_bandwidth", 479.98 * giga, "B/s", h200, 9, 0, 202409, azure_nccl},
    {"topology.gpcs", 8, "GPCs", h200, 9, 0, 0, lockwood},
    {"topology.gpcs", 8, "GPCs", h100, 9, 0, 0, lockwood},
    {"topology.tpcs", 66, "TPCs", h200, 9, 0, 0, lockwood},
    {"topology.tpcs", 66, "TPCs", h100, 9, 0, 0, lockwood},
    // A dependent chain; the loop around it is in the figure.
    {"ffma.latency", 4.07, "cycles", h100, 9, 0, 202607, rerun_logs},
    {"imad.latency", 4.12, "cycles", h100, 9, 0, 202607, rerun_logs},
    {"dfma.latency", 8.04, "cycles", h100, 9, 0, 202607, rerun_logs},
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
    // Instructions of Volta as that table names them, of those that Fathom measures by themselves.
    // Its MUFU stands for all special functions.
    {"fadd.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"fmul.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"ffma.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"iadd3.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"lop3.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"shf.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"sel.latency", 4, "cycles", "V100", 7, 0, 201804, volta, true},
    {"imad.latency", 5, "cycles", "V100", 7, 0, 201804, volta, true},
    {"fmnmx.latency", 5, "cycles", "V100", 7, 0, 201804, volta, true},
    {"hadd2.latency", 6, "cycles", "V100", 7, 0, 201804, volta, true},
    {"hmul2.latency", 6, "cycles", "V100", 7, 0, 201804, volta, true},
    {"hfma2.latency", 6, "cycles", "V100", 7, 0, 201804, volta, true},
    {"dadd.latency", 8, "cycles", "V100", 7, 0, 201804, volta, true},
    {"dmul.latency", 8, "cycles", "V100", 7, 0, 201804, volta, true},
    {"dfma.latency", 8, "cycles", "V100", 7, 0, 201804, volta, true},
    {"popc.latency", 10, "cycles", "V100", 7, 0, 201804, volta, true},
    {"flo.latency", 14, "cycles", "V100", 7, 0, 201804, volta, true},
    {"brev.latency", 14, "cycles", "V100", 7, 0, 201804, volta, true},
    {"mufu_rsq.latency", 14, "cycles", "V100", 7, 0, 201804, volta, true},
    {"mufu_sqrt.latency", 14, "cycles", "V100", 7, 0, 201804, volta, true},
    {"mufu_ex2.latency", 14, "cycles", "V100", 7, 0, 201804, volta, true},
    {"mufu_lg2.latency", 14, "cycles", "V100", 7, 0, 201804, volta, true},
};

}  // namespace

std::span<const PublishedFigure> published_figures() { return figures; }

}  // namespace fathom::models
