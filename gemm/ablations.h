#pragma once

#include <span>
#include <string>

#include "gemm/rung.h"

namespace fathom::gemm {

/// A kernel that differs from a rung's in the one thing that a claim is about. It is no rung: no
/// step of a ladder, held against no library, and measured beside its rung for the claim alone.
struct Ablation {
  std::string of;  ///< the rung's id
  Rung ablation;   ///< its id has no number; its idea says what differs
};

std::span<const Ablation> ablations();

}  // namespace fathom::gemm
