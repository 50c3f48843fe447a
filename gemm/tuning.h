#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gemm/rung.h"
#include "gemm/tuning_file.h"

namespace fathom::gemm {

/// What the command line asks of tuned choices.
struct TuningRequest {
  bool tune = false;            ///< --autotune: try the variants and keep the fastest
  bool unused = false;          ///< --no-tuning: as if nothing had ever been tuned
  std::filesystem::path file{}; ///< --tuning FILE; empty: the default file of the GPU
};

/// The tuned choices of one run: those that an earlier one left, and its own. Whatever it uses, keeps or
/// leaves aside it says in its notes.
class Tuning {
 public:
  /// Reads the file, unless it is not to be used; where it is to be tuned into, finds out before
  /// anything is timed whether it can be written (as require_writable_tuning_file does). What
  /// cannot be used of the default file is a note; of a file that was named it is an Error:
  /// bad_input where it is not there (and nothing is to be tuned) or is of another GPU, driver or
  /// number of SMs, document_malformed where it is no tuning file.
  Tuning(const TuningRequest& request, const TuningFingerprint& fingerprint);

  bool tunes() const { return request_.tune; }
  /// The choice for this product among these variants, or null: none was made, or the variant is no more.
  const TunedChoice* find(const Rung& rung, const Problem& problem, const std::vector<Variant>& variants);
  /// Whether this run made the choice; not for null.
  bool is_of_this_run(const TunedChoice* choice) const;
  /// Keeps a choice of this run, in memory and in the file.
  void keep(const TunedChoice& choice);

  /// One sentence each.
  std::vector<std::string> notes() const;

 private:
  void read();
  bool is_named() const { return !request_.file.empty(); }

  TuningRequest request_;
  TuningFingerprint fingerprint_;
  std::filesystem::path path_;
  std::vector<TunedChoice> choices_;       ///< of earlier runs and of this one
  std::vector<std::string> problems_;      ///< sentences
  std::vector<std::string> missing_;  ///< of a named file: "fp32/22_planned_tiles on fp32 NN ..."
  bool met_variants_ = false;         ///< some rung had variants of its product
  std::vector<std::string> used_, tuned_;  ///< "fp32/22_planned_tiles on fp32 NN 4096x4096x4096: ..."
};

}  // namespace fathom::gemm
