#pragma once

#include <cstdint>
#include <span>

#include "models/gpu_table.h"

namespace fathom::models {

// The parts of the table, each file a family of products.
std::span<const GpuSpec> turing_and_ampere_gpus();  ///< T4, A100, RTX A6000, RTX 3090
std::span<const GpuSpec> ada_and_later_gpus();      ///< RTX 4090, L40S, H100, H200, B200, RTX 5090

// The units of the rows.
inline constexpr std::uint64_t MiB = 1024 * 1024;
inline constexpr double MHz = 1e6, Gbit = 1e9, GB = 1e9, tera = 1e12;

// What several rows say where a part lacks a unit.
inline constexpr Sourced<double> no_fp64_tensor{0, "none: its tensor cores have no fp64"};
inline constexpr Sourced<double> no_fp8{0, "none: fp8 came with compute capability 8.9"};
inline constexpr Sourced<double> no_nvlink{0, "none: the part has no NVLink connector"};

inline constexpr const char* half_of_bf16 = "derived: half of bf16's rate";
inline constexpr const char* pcie_gen4 =
    "derived: PCIe 4.0 x16 is 16 GT/s x 16 lanes / 8, 32 GB/s each way, rounded as data sheets do";

}  // namespace fathom::models
