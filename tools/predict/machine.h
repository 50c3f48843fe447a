#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/gpu_table.h"
#include "results/document.h"

namespace fathom {

/// A figure that a prediction rests on, and how it is known.
struct MachineFigure {
  double value = 0;
  /// "measured", "replay" (of a recording: measured, but not here), "driver" or "data sheet".
  std::string origin;
  std::string source;  ///< the entry, or the document
};

/// The arithmetic that a peak is for: "fp64", "fp64-tensor", "fp32", "tf32", "fp16", "bf16", "fp8",
/// "int8". On tensor cores, accumulated in fp32, but for "fp64" and "fp32".
std::vector<std::string> precisions();

/// The GPU that a prediction is for: a row of the table, or the GPU of a result document with what
/// was measured on it, and the table for what was not.
class Machine {
 public:
  explicit Machine(const models::GpuSpec& gpu) : spec_(&gpu) {}
  Machine(Document document, std::string file);

  /// "H200", or as the driver names a GPU that the table lacks.
  std::string name() const;
  /// One line on where the figures come from; it begins with REPLAY for a replay.
  std::string origin() const;
  /// "data sheet", "measured" or "replay".
  std::string source() const;

  /// Throws Error(bad_input) where neither document nor table knows.
  int sms() const;
  /// Of DRAM: the best copy or read that a document measured below DRAM's bound, else the data
  /// sheet's. Throws Error(bad_input) where neither is known.
  MachineFigure bandwidth() const;
  /// The best that a document measured with operands of that precision, else the data sheet's;
  /// empty where the GPU has no such units. Throws Error(bad_input) where nothing is known of it.
  std::optional<MachineFigure> peak(const std::string& precision) const;
  /// What the driver reports, else the data sheet's. Throws Error(bad_input) where neither is
  /// known.
  MachineFigure memory() const;

 private:
  /// The best of a document's sound entries that are wanted.
  template <class Wanted>
  std::optional<MachineFigure> measured(const Wanted& wanted) const;
  const models::GpuSpec& spec_for(const std::string& what) const;

  const models::GpuSpec* spec_ = nullptr;  ///< null: not in the table
  std::optional<Document> document_;
  std::string file_;
};

/// The flags --gpu and --result.
struct MachineFlags {
  std::string gpu;
  std::filesystem::path result;
};

void add_machine_flags(CLI::App& app, MachineFlags& flags);

/// The machine that the flags name, if any. Throws Error(bad_input) for a GPU that the table lacks,
/// with the closest name, and as read_document does.
std::optional<Machine> machine_of(const MachineFlags& flags);

}  // namespace fathom
