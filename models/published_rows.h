#pragma once

#include <span>

#include "models/published.h"

namespace fathom::models {

// Parts of the table in models/published.cpp. Where the sources are, all below github.com:
// RRZE-HPC/gpu-benches at 1038c5d, caps-tum/mt4g at 043c8c6, markdewing/AI_kernels of 7 January
// 2026, Azure/AI-benchmarking-guide at 7f20e5f, sjfeng1999/gpu-arch-microbenchmark, Luo et al.'s
// HPMLL/NVIDIA-Hopper-Benchmark at ded6f57, and its rerun Johnsonms/NVIDIA-Hopper-Benchmark at
// 2af634c, folder reproduction.
std::span<const PublishedFigure> published_of_hopper();
std::span<const PublishedFigure> published_of_other_chips();
std::span<const PublishedFigure> published_of_instructions();

}  // namespace fathom::models
