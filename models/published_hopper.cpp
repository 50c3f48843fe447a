#include "models/published_rows.h"

namespace fathom::models {
namespace {

constexpr std::string_view mt4g_h100 =
    "mt4g, sample_results/NVIDIA H100 80GB HBM3.json (August 2025)";
constexpr std::string_view mt4g_nvl = "mt4g, sample_results/NVIDIA H100 NVL.json (August 2025)";
constexpr std::string_view latency_gh200 = "RRZE gpu-benches, gpu-latency/gh200.txt (January 2025)";
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
    {"l2.bandwidth", 9769.1 * giga, "B/s", h200, 9, 0, 202404,
     "RRZE gpu-benches, gpu-l2-cache/h200.txt, at 30,720 kB (April 2024)"},
    // Several of that program's blocks read the same data, as in these sets.
    {"l2.bandwidth_cg_shared_set", 9769.1 * giga, "B/s", h200, 9, 0, 202404,
     "RRZE gpu-benches, gpu-l2-cache/h200.txt, at 30,720 kB (April 2024)"},
    {"l2.bandwidth_no_allocate_shared_set", 9769.1 * giga, "B/s", h200, 9, 0, 202404,
     "RRZE gpu-benches, gpu-l2-cache/h200.txt, at 30,720 kB (April 2024)"},
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
};

}  // namespace

std::span<const PublishedFigure> published_of_hopper() { return figures; }

}  // namespace fathom::models
