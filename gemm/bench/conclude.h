#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gemm/bench/shapes.h"
#include "results/rows.h"

namespace fathom::gemm {

/// The claims that the ladders answer.
std::vector<std::string> claim_ids();

Findings conclude(std::span<const Entry> entries);

// What conclusions are made of.

/// The size at which the ladders can be shown: that one, or where nothing was measured there the
/// largest at which rungs were.
std::int64_t shown_size(std::span<const Entry> entries);

/// A type's rungs at a size, without transposes and scalars.
AxisFilter at_size(const std::string& type, std::int64_t size);

/// The rung of an entry of the ladder: "row_major/02_coalesced".
const std::string& rung_of(const Entry& entry);

/// A type's rungs at a size that have a figure, in order.
std::vector<const Entry*> ladder_of(std::span<const Entry> entries, const std::string& type,
                                    std::int64_t size);

/// A type's rungs that have a figure for the product that the command line asked for, in order; and
/// that product: "NN 128x8192x8192".
std::vector<const Entry*> requested(std::span<const Entry> entries, const std::string& type);
std::string product_of(const Entry& entry);

/// How an 8-bit floating point rung adds up, and the library beside it: "fast sums" or "promoted
/// sums", which are more work. Empty for all other types, which have one way to.
std::string sums_of(const Entry& entry);

/// The faster of the vendor's two ways.
struct Library {
  double throughput = 0;
  std::string name;  ///< "cuBLAS"
  std::string sums;  ///< as the entry's that it was timed beside
};
/// Beside any of these, for each kind of sums. Empty where no library was timed.
std::vector<Library> libraries_among(std::span<const Entry* const> rungs);

// Rows of claims (results/rows.h): throughputs at the compared size, in FLOP/s.

bool has_figure(const Entry& entry);
/// A rung's, or another figure of its entry there.
Quantity rung_at_size(std::string name, const std::string& rung, Figure figure = metric_of,
                      const char* type = "fp32");
/// That of the fastest of those that pass.
Quantity best_at_size(std::string name, const char* type, std::function<bool(const Entry&)> only);
/// The faster of the vendor's two ways: "library".
Quantity library_at_size(const char* type);
Formula percent(std::string name, std::string over, std::string under);
/// Within a quarter of the author's figure: anything else is another answer.
FigureRange about(std::string name, double claimed);

std::vector<Claim> conclude_claims(std::span<const Entry> entries);
/// GT1, GT2 and GC10 to GC12: what the fp32 ladders move, and what that makes warps wait for.
std::vector<Claim> traffic_claims(std::span<const Entry> entries);
/// T2: whether a product whose size just passes a tile or a wave pays for it.
Claim tile_claim(std::span<const Entry> entries);

/// What the ladder's page shows: for each type that was measured a section with its rungs, what
/// each step gained, the roofline, the contests, the layouts, the sizes and lasting load; the same
/// of the product that the command line asked for.
std::vector<View> ladder_views(std::span<const Entry> entries);

// What it is made of.

/// Columns of a table: ratios to the library's two ways.
inline constexpr const char* ratio_to_cublas = "ratio:cuBLAS";
inline constexpr const char* ratio_to_cublaslt = "ratio:cuBLASLt, best of 32";

/// A type's last contenders at the compared size in all transpositions; its top rung and the
/// library over sizes, and around multiples of a tile with the model's saw-tooth, both as a picture
/// and as a table.
View layouts_view(std::span<const Entry> entries, const std::string& type);
std::vector<View> sizes_views(const std::string& type);
std::vector<View> tiles_views(std::span<const Entry> entries, const std::string& type);

}  // namespace fathom::gemm
