#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace fathom::gemm {

/// What a tuned choice depends on: on another GPU, driver or number of SMs another may be faster.
struct TuningFingerprint {
  std::string gpu, driver;
  std::int64_t sms = 0;
  friend bool operator==(const TuningFingerprint&, const TuningFingerprint&) = default;
};

/// "NVIDIA H200, driver 580.65.06, 132 SMs".
std::string describe(const TuningFingerprint& fingerprint);

/// The variant that was fastest at one product of one rung when it was tuned.
struct TunedChoice {
  std::string rung;             ///< "fp32/22_planned_tiles"
  std::string product;          ///< Problem::describe: "fp32 NN 4096x4096x4096"
  std::string variant;
  std::string default_variant;  ///< what the rung takes by itself
  double seconds = 0, default_seconds = 0;  ///< of one launch, timed alternately
  int tried = 0;                ///< variants
  std::string date;             ///< ISO 8601
  std::string fathom;           ///< version and commit
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

/// The choices of one GPU model on disk.
struct TuningFile {
  TuningFingerprint fingerprint;
  std::vector<TunedChoice> choices;
};

/// Reads a file that write_choices left. Throws Error(bad_input) if it cannot be read and
/// Error(document_malformed), in one sentence with the place and what was expected, for anything else.
TuningFile read_tuning_file(const std::filesystem::path& path);

/// Puts the choices into the file, in place of those of the same rung and product; the others stay where the
/// file is of the same fingerprint, and go where it is not or is no tuning file. Makes the folder. Safe
/// against other processes that do the same: one after the other, and a reader finds the old file or the
/// new one. Throws Error(output_unwritable) or Error(output_full).
void write_choices(const std::filesystem::path& path, const TuningFingerprint& fingerprint,
                   std::span<const TunedChoice> choices);

/// Throws as write_choices would where it could not write there. Makes the folder, and leaves no
/// file that was not there.
void require_writable_tuning_file(const std::filesystem::path& path);

/// Where choices of a GPU are kept unless a file is named: fathom/tuning/<gpu>.json below $XDG_STATE_HOME, or
/// below ~/.local/state. Empty where the environment names neither.
std::filesystem::path default_tuning_file(const std::string& gpu);

}  // namespace fathom::gemm
