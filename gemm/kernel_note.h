#pragma once

namespace fathom::gemm {

/// The note in which an entry names the kernel that multiplied, and its prefix if that is unknown;
/// the reason follows.
inline constexpr const char* kernel_note = "kernel";
inline constexpr const char* unknown_kernel = "unknown: ";

}  // namespace fathom::gemm
