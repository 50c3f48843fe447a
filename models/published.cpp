#include "models/published.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "models/gpu_table.h"

namespace fathom::models {
namespace {

struct Chip {
  std::string_view name;
  int major, minor;
};
constexpr Chip h200{"H200", 9, 0}, gh200{"GH200", 9, 0}, h100{"H100 SXM", 9, 0},
    nvl{"H100 NVL", 9, 0}, h800{"H800 PCIe", 9, 0}, pcie{"H100 PCIe", 9, 0},
    a100{"A100 80GB SXM", 8, 0}, a100_pcie{"A100 40GB PCIe", 8, 0}, a40{"A40", 8, 6},
    l40{"L40", 8, 9}, rtx4090{"RTX 4090", 8, 9}, rtx2070{"RTX 2070", 7, 5},
    rtx2080{"RTX 2080 Ti", 7, 5}, v100{"V100", 7, 0};

/// The unit of a fact, which its name tells.
std::string_view unit_of(std::string_view fact) {
  for (const auto& [part, unit] :
       {std::pair<std::string_view, std::string_view>{"latency", "cycles"},
        {"bandwidth", "B/s"},
        {"bytes_per_clock", "B/clk"},
        {"gpcs", "GPCs"},
        {"tpcs", "TPCs"}})
    if (fact.find(part) != fact.npos) return unit;
  return "B";
}

/// Values of facts.
using Figures = std::vector<std::pair<std::string_view, double>>;

/// What one source says of one chip.
struct Publication {
  struct {
    std::string_view source;
    int date;  ///< 100 x year + month; 0: undated
    Chip chip;
    bool for_any_chip = false;
  } by;
  Figures figures;
};

/// Latencies that a chase through lines in random order found.
Figures latencies(double l1, double l2, double dram) {
  return {{"l1.latency", l1}, {"l2.latency", l2}, {"dram.latency", dram}};
}

constexpr double giga = 1e9, tera = 1e12, gibi = 1073741824.0;

// Where the sources are, all below github.com: RRZE-HPC/gpu-benches at 1038c5d, caps-tum/mt4g at
// 043c8c6, markdewing/AI_kernels of 7 January 2026, Azure/AI-benchmarking-guide at 7f20e5f,
// sjfeng1999/gpu-arch-microbenchmark, Luo et al.'s HPMLL/NVIDIA-Hopper-Benchmark at ded6f57, and
// its rerun Johnsonms/NVIDIA-Hopper-Benchmark at 2af634c, folder reproduction. Luo et al. are the
// authors of "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking and Multiple
// Level Analysis", arXiv 2501.12084, whose tables name the card; the rerun is by somebody else, on
// other cards, ten times each.
constexpr std::string_view ai_kernels = "markdewing/AI_kernels, latency/README.md (January 2026)";
constexpr std::string_view mt4g_nvl = "mt4g, sample_results/NVIDIA H100 NVL.json (August 2025)";
constexpr std::string_view lockwood =
    "G. K. Lockwood, \"H100\" (notes on processors): H100 SXM5, whose GPU it takes the H200's to "
    "be";

// For each fact, what is closest to an H200 comes first: a GH200 has its 60 MiB of L2 and its 1980
// MHz. A chip's newest figure comes before its older ones.
const Publication publications[] = {
    {{ai_kernels, 202601, gh200}, latencies(40, 281, 690)},
    // RRZE's chases have no arithmetic between loads.
    {{"RRZE gpu-benches, gpu-latency/gh200.txt (January 2025)", 202501, gh200},
     latencies(32.0, 280.4, 689.2)},
    {{"RRZE gpu-benches, gpu-strides/h200.txt, doubles at stride 1 (February 2025)", 202502, h200},
     {{"l1.bytes_per_clock", 128}}},
    // Loads; at 30 MiB blocks find next to nothing in L1, and several read the same data, as in the
    // two sets that are called shared.
    {{"RRZE gpu-benches, gpu-l2-cache/h200.txt, at 30,720 kB (April 2024)", 202404, h200},
     {{"l2.bandwidth", 9769.1 * giga},
      {"l2.bandwidth_cg_shared_set", 9769.1 * giga},
      {"l2.bandwidth_no_allocate_shared_set", 9769.1 * giga}}},
    // BabelStream's Dot and Triad; nvbandwidth, which counts the bytes of one direction.
    {{"Azure AI-benchmarking-guide, ND_H200_v5_results.md (September 2024)", 202409, h200},
     {{"dram.bandwidth", 4.48 * tera},
      {"dram.mixed_bandwidth", 4.15 * tera},
      {"host.bandwidth", 52 * giga},
      {"host.d2h_bandwidth", 52 * giga}}},
    {{"Azure AI-benchmarking-guide, ND_H200_v5_results.md, 8 GPUs with NVLS, 8 GB (September 2024)",
      202409, h200},
     {{"nccl.all_reduce_bus_bandwidth", 479.98 * giga}}},
    {{"RRZE gpu-benches, gpu-l2-cache/h200.txt, its largest set (April 2024)", 202404, h200},
     {{"dram.bandwidth", 3888.2 * giga}}},
    {{lockwood, 0, h200}, {{"topology.gpcs", 8}, {"topology.tpcs", 66}}},
    {{lockwood, 0, h100}, {{"topology.gpcs", 8}, {"topology.tpcs", 66}}},
    {{"rerun of Luo et al.'s benchmark, Johnsonms/NVIDIA-Hopper-Benchmark, raw/stats.txt (July "
      "2026)",
      202607, h100},
     {{"l1.latency", 41.1},
      {"l2.latency", 272.3},
      {"shared.latency", 29.0},
      {"l1.bytes_per_clock", 125.70},
      {"shared.bytes_per_clock", 127.53},
      {"dram.mixed_bandwidth", 3009.9 * giga}}},
    // A dependent chain; the loop around it is in the figure.
    {{"rerun of Luo et al.'s benchmark, Johnsonms/NVIDIA-Hopper-Benchmark, raw/alu_lat_*.log (July "
      "2026)",
      202607, h100},
     {{"ffma.latency", 4.07}, {"imad.latency", 4.12}, {"dfma.latency", 8.04}}},
    {{ai_kernels, 202601, h100}, latencies(40, 291, 700)},
    // Sizes and lines as detected.
    {{mt4g_nvl, 202508, nvl}, {{"l1.size", 255232}, {"l2.partition", 31457280}}},
    // Its means over few loads from constant memory have the first misses in them; its medians are
    // 17 and 106 cycles.
    {{"mt4g, sample_results/NVIDIA H100 80GB HBM3.json (August 2025)", 202508, h100},
     {{"l1.latency", 38},
      {"l1.read_only_latency", 34.9},
      {"l2.latency", 219.3},
      {"dram.latency", 834.5},
      {"shared.latency", 29.9},
      {"const.l1.latency", 20.7},
      {"const.l1_5.latency", 104.9},
      {"texture.latency", 38.8},
      {"l1.size", 238848},
      {"l1.line", 128},
      {"l1.sector", 32},
      {"l2.line", 128},
      {"l2.partition", 26214400},
      {"l2.fetch_granularity", 32},
      {"const.l1.size", 2112},
      {"l2.bandwidth", 4528.9 * gibi}}},
    {{mt4g_nvl, 202508, nvl}, {{"l2.latency", 237.8}, {"dram.latency", 803.0}}},
    {{"Azure AI-benchmarking-guide, ND_H100_v5_results.md (September 2024)", 202409, h100},
     {{"dram.bandwidth", 3.18 * tera}, {"dram.mixed_bandwidth", 2.97 * tera}}},
    // The bytes of one direction, and of both where both are busy.
    {{"github.com/NVIDIA/nccl issue 1264, p2pBandwidthLatencyTest", 0, h100},
     {{"peer.bandwidth", 376.6 * giga}, {"peer.bidirectional_bandwidth", 783 * giga}}},
    {{"Luo et al., NVIDIA-Hopper-Benchmark, random_latency/h800_pcie.txt (May 2025)", 202505, h800},
     latencies(32.1, 264.5, 656.8)},
    {{"Luo et al., NVIDIA-Hopper-Benchmark, DSM/Latency/OneToAll/log (May 2025), median of its "
      "pairs",
      202505, h800},
     {{"dsmem.latency", 198},
      {"dsmem.latency_cluster_2", 181},
      {"dsmem.latency_cluster_4", 204.5},
      {"dsmem.latency_cluster_8", 202.5},
      {"dsmem.latency_cluster_16", 196.5}}},
    {{"RRZE gpu-benches, gpu-l2-cache/h100_pcie.txt, at 30,720 kB (April 2024)", 202404, pcie},
     {{"l2.bandwidth", 6952.6 * giga}}},
    // Compute capability 7.5.
    {{"sjfeng1999/gpu-arch-microbenchmark, README", 0, rtx2070},
     {{"l1.latency", 32}, {"l2.latency", 236}, {"shared.latency", 23}}},
    {{"mt4g, sample_results/NVIDIA GeForce RTX 2080 Ti.json (August 2025)", 202508, rtx2080},
     {{"l1.read_only_latency", 34}, {"texture.latency", 38}, {"l1.line", 128}, {"l1.sector", 32}}},
    // 8.0. RRZE do not say which A100 of 80 GB it is; its stores reach 1908 GB/s, an SXM's.
    {{ai_kernels, 202601, a100}, latencies(39, 210, 550)},
    {{"RRZE gpu-benches, gpu-latency/a100_80.txt (January 2025)", 202501, a100},
     latencies(33.0, 205.7, 552.4)},
    {{"Luo et al., NVIDIA-Hopper-Benchmark, random_latency/a100_pcie.txt (May 2025)", 202505,
      a100_pcie},
     {{"l1.latency", 32.7}, {"l2.latency", 202.8}}},
    {{"mt4g, sample_results/NVIDIA A100-PCIE-40GB.json (August 2025)", 202508, a100_pcie},
     {{"l1.read_only_latency", 35},
      {"texture.latency", 39.5},
      {"l1.line", 128},
      {"l1.sector", 32},
      {"l2.partition", 20971520}}},
    {{"RRZE gpu-benches, gpu-l2-cache/a100_80.txt, at 16,896 kB (April 2024)", 202404, a100},
     {{"l2.bandwidth", 5447.7 * giga}}},
    {{"RRZE gpu-benches, gpu-stream/a100_80.txt, read (February 2025)", 202502, a100},
     {{"dram.bandwidth", 1776 * giga}}},
    // 8.6 and 8.9.
    {{"RRZE gpu-benches, gpu-latency/a40.txt (January 2025)", 202501, a40},
     latencies(33.0, 250.4, 556.6)},
    {{ai_kernels, 202601, rtx4090}, latencies(40, 296, 636)},
    {{"Luo et al., NVIDIA-Hopper-Benchmark, random_latency/rtx4090.txt (May 2025)", 202505,
      rtx4090},
     {{"l1.latency", 36.1}, {"l2.latency", 284.8}}},
    {{"RRZE gpu-benches, gpu-latency/l40.txt (January 2025)", 202501, l40},
     latencies(34.0, 273.6, 625.0)},
    {{"RRZE gpu-benches, gpu-l2-cache/l40.txt, at 30,720 kB (April 2024)", 202404, l40},
     {{"l2.bandwidth", 5229.8 * giga}}},
    {{"RRZE gpu-benches, gpu-stream/l40.txt, read (February 2025)", 202502, l40},
     {{"dram.bandwidth", 845 * giga}}},
    // 10.0, 10.3 and 12.0.
    {{ai_kernels, 202601, {"B200", 10, 0}}, latencies(40, 295, 860)},
    {{ai_kernels, 202601, {"B300", 10, 3}}, latencies(39, 295, 848)},
    {{ai_kernels, 202601, {"RTX 5090", 12, 0}}, latencies(44, 360, 936)},
    {{ai_kernels, 202601, {"RTX PRO 6000", 12, 0}}, latencies(44, 352, 864)},
    // Instructions as that table names them, of those that Fathom measures by themselves. Its MUFU
    // stands for all special functions.
    {{"Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, arXiv "
      "1804.06826 (April 2018), table 4.1",
      201804, v100, true},
     {{"fadd.latency", 4},      {"fmul.latency", 4},       {"ffma.latency", 4},
      {"iadd3.latency", 4},     {"lop3.latency", 4},       {"shf.latency", 4},
      {"sel.latency", 4},       {"imad.latency", 5},       {"fmnmx.latency", 5},
      {"hadd2.latency", 6},     {"hmul2.latency", 6},      {"hfma2.latency", 6},
      {"dadd.latency", 8},      {"dmul.latency", 8},       {"dfma.latency", 8},
      {"popc.latency", 10},     {"flo.latency", 14},       {"brev.latency", 14},
      {"mufu_rsq.latency", 14}, {"mufu_sqrt.latency", 14}, {"mufu_ex2.latency", 14},
      {"mufu_lg2.latency", 14}}}};

/// Whether `word` stands in `text` with neither a letter nor a digit beside it.
bool has_word(std::string_view text, std::string_view word) {
  const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !part_of_word(text[at - 1]);
    if (begins && (end == text.size() || !part_of_word(text[end]))) return true;
  }
  return false;
}

bool same_product(const PublishedFigure& figure, std::string_view gpu_name) {
  const GpuSpec* gpu = find_gpu(gpu_name);
  return gpu != nullptr ? gpu->name == figure.chip : has_word(gpu_name, figure.chip);
}

}  // namespace

std::span<const PublishedFigure> published_figures() {
  static const std::vector<PublishedFigure> figures = [] {
    std::vector<PublishedFigure> all;
    for (const auto& [by, stated] : publications)
      for (const auto& [fact, value] : stated)
        all.push_back({fact, value, unit_of(fact), by.chip.name, by.chip.major, by.chip.minor,
                       by.date, by.source, by.for_any_chip});
    return all;
  }();
  return figures;
}

std::vector<const PublishedFigure*> find_published(std::string_view fact, std::string_view unit,
                                                   int major, int minor,
                                                   std::string_view gpu_name) {
  enum { product, capability, any_chip, too_far };
  const auto closeness = [&](const PublishedFigure* figure) {
    if (figure->major != major || figure->minor != minor)
      return figure->for_any_chip ? any_chip : too_far;
    return same_product(*figure, gpu_name) ? product : capability;
  };
  std::vector<const PublishedFigure*> found;
  for (const PublishedFigure& figure : published_figures())
    if (figure.fact == fact && figure.unit == unit && closeness(&figure) != too_far)
      found.push_back(&figure);
  std::ranges::stable_sort(found, {}, closeness);
  return found;
}

std::string cited(const PublishedFigure& figure, std::string_view gpu_name) {
  std::string text(figure.source);
  if (!same_product(figure, gpu_name)) text.append(", on ").append(figure.chip);
  return text;
}

}  // namespace fathom::models
