#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/gpu_table.h"
#include "models/transformer.h"
#include "models/warp_access.h"
#include "results/document_fields.h"
#include "tools/command_line.h"

namespace fathom {

/// `fathom predict`: what should happen, computed without a GPU.
Command predict_command();

std::vector<Command> access_predictions();
std::vector<Command> kernel_predictions();
Command transformer_prediction();

/// A figure that a prediction rests on, and how it is known.
struct MachineFigure {
  double value = 0;
  /// "measured", "replay" (of a recording: measured, but not here), "driver" or "data sheet".
  std::string origin;
  std::string source;  ///< the entry, or the document
};

FATHOM_FIELDS(MachineFigure, "", "", value, origin, source);

/// What is said of a question: to people, and with --json to programs. The JSON has what the models
/// answer, its members named as in the models' headers.
struct Prediction {
  std::string text{};
  nlohmann::ordered_json json{};

  /// Adds to the text.
  template <class... Args>
  void say(fmt::format_string<Args...> words, Args&&... args) {
    fmt::format_to(std::back_inserter(text), words, std::forward<Args>(args)...);
  }
  /// Adds a line of a table of figures.
  void say_figure(const std::string& name, const std::string& figure, const std::string& note) {
    say("  {:<13} {:>15}  {}\n", name, figure, note);
  }
  void say_figure(const std::string& name, const std::string& figure, const MachineFigure& known) {
    say_figure(name, figure, known.origin + ": " + known.source);
  }
};

/// Adds the flag --json, and returns what prints the prediction. A std::invalid_argument of a model
/// becomes Error(bad_input) with the model's sentence.
std::function<ExitCode()> printed(CLI::App& app, std::function<Prediction()> predict);

/// A command of `fathom predict`: `add` adds its flags but --json.
template <class Arguments>
Command prediction(const char* name, const char* summary, void (*add)(CLI::App&, Arguments&),
                   Prediction (*predict)(const Arguments&)) {
  return {.name = name, .summary = summary, .add = [add, predict](CLI::App& app) {
            const auto arguments = std::make_shared<Arguments>();
            add(app, *arguments);
            return printed(app, [arguments, predict] { return predict(*arguments); });
          }};
}

/// The answers to a CSV file's warp accesses: `header`, then one row for each of the file's, with
/// the two numbers that a model says of it. Addresses are decimal, or hexadecimal from 0x on. Lines
/// end in LF or CR LF, and the last one's end may be missing.
///
/// All or nothing: throws Error(bad_input) that names row and column of the first mistake. Rows
/// count from 1 after the header; the message gives the line too.
using AnswerOfAccess = std::array<int, 2> (*)(const models::WarpAccess&);
std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer);

// --- the GPU, of `roofline`, `waves` and `transformer` ---------------------------------------

/// The GPU that a prediction is for: a row of the table, or the GPU of a result document with what
/// was measured on it, and the table for what was not. What neither knows is an Error(bad_input).
struct Machine {
  explicit Machine(const models::GpuSpec& gpu);
  Machine(Document document, std::string file);

  std::string name;    ///< "H200", or as the driver names a GPU that the table lacks
  std::string origin;  ///< where the figures come from; it begins with REPLAY for a replay
  std::string source;  ///< "data sheet", "measured" or "replay"

  int sms() const;
  /// DRAM's: the best copy or read that a document measured below DRAM's bound, else the data
  /// sheet's.
  MachineFigure bandwidth() const;
  /// The best that a document measured with operands of that precision, one of models::precisions,
  /// else the data sheet's; empty where the GPU has no such units.
  std::optional<MachineFigure> peak(const std::string& precision) const;
  /// What the driver reports, else the data sheet's.
  MachineFigure memory() const;
  /// To other GPUs of its kind, one direction: NVLink, else PCIe. Empty where it is not known.
  std::optional<MachineFigure> link() const;

 private:
  /// The best of a document's sound entries that are wanted.
  std::optional<MachineFigure> measured(const std::function<bool(const Entry&)>& wanted) const;
  const models::GpuSpec& spec_for(const std::string& what) const;

  const models::GpuSpec* spec_ = nullptr;  ///< null: not in the table
  Document document_;                      ///< of a data sheet: empty
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

// --- a model's config.json -----------------------------------------------------------------------

/// The shape that it states (as the Hugging Face Hub keeps it beside the weights): of the families
/// gpt2, llama, mistral, mixtral, qwen2, qwen2_moe, qwen3 and qwen3_moe. Throws Error(bad_input)
/// for a file that cannot be read or is no such config, for a family that it does not know, and
/// where attention looks back fewer than `context` tokens (`sliding_window`, unless
/// `use_sliding_window` is false): what the models say of such a context would be too much.
models::TransformerShape shape_from_config(const std::filesystem::path& file, std::int64_t context);

}  // namespace fathom
