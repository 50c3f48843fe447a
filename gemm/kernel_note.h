#pragma once

namespace fathom::gemm {

/// The note in which an entry names the kernel that multiplied, and what it begins with where
/// nobody can tell; why follows there.
inline constexpr const char* kernel_note = "kernel";
inline constexpr const char* unknown_kernel = "unknown: ";

}  // namespace fathom::gemm
