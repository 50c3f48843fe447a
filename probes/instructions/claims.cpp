#include "probes/claims.h"

#include <fmt/format.h>

#include "probes/instructions/instructions.h"
#include "results/rows.h"

namespace fathom::instructions {
namespace {

/// Barriers, fences and the branch wait for nothing but themselves; reading a register has no
/// input.
bool has_throughput(const Instruction& instruction) {
  return instruction.family != "barrier" && instruction.family != "fence" &&
         instruction.family != "branch";
}
bool has_latency(const Instruction& instruction) { return instruction.family != "register"; }

std::string why_absent(const Instruction& instruction, bool measurable, const char* quantity) {
  if (!measurable) {
    return fmt::format("there is no {} of its own: {}", quantity,
                       has_latency(instruction)
                           ? "each one waits for the one before"
                           : "it takes no input that a chain could run through");
  }
  if (instruction.hopper_only)
    return "not in this run, or the GPU lacks it: only compute capability 9.0 has it";
  if (instruction.not_in_data_centre) {
    return "not in this run, or the GPU lacks it: compute capability 8.9 and 12.x have it, 9.0 "
           "only in wgmma";
  }
  if (instruction.since > 75) {
    return fmt::format("not in this run, or the GPU lacks it: it needs compute capability {}.{}",
                       instruction.since / 10, instruction.since % 10);
  }
  return "not in this run";
}

/// The guide's rate, where the expectation is one; of latencies the harness knows what others say.
void take_guide(Fact& fact, const Entry& entry) {
  if (entry.expected) fact.published = Published{entry.expected->value, entry.expected->model};
}

FactRow row(const Instruction& i, bool latency) {
  const char* quantity = latency ? "latency" : "throughput";
  return {{i.id + "." + quantity, i.subject, quantity, latency ? "cycles" : throughput_unit(i),
           latency ? Better::lower : Better::higher},
          {{"instruction", i.subject}, {"quantity", quantity}},
          latency ? "dependent chain, long loop less short loop, in-kernel clock"
                  : "independent chains in many warps, in-kernel clock",
          why_absent(i, latency ? has_latency(i) : has_throughput(i), quantity),
          Pick::first,
          {},
          latency ? nullptr : take_guide};
}

std::vector<FactRow> fact_rows() {
  std::vector<FactRow> rows;
  for (const Instruction& instruction : all_instructions())
    for (const bool latency : {true, false}) rows.push_back(row(instruction, latency));
  return rows;
}

/// The tensor instruction with the most multiply-adds a clock.
const Reading tensor_reading{
    {{"tensor", {{"quantity", "throughput"}}, Pick::best, metric_of, "", [](const Entry& e) {
        return matches(e, {{"family", "mma"}}) || matches(e, {{"family", "wgmma"}});
      }}}};

using Families = std::vector<AxisValue>;

View by_instruction(const char* title, const char* quantity, const char* y_label, Families families,
                    bool log) {
  View view = plot(title, {{"quantity", {quantity}}, {"family", std::move(families)}},
                   "instruction", y_label, {});
  view.x_label = "Instruction";
  view.y_log = log;
  view.y_from_zero = !log;
  return view;
}

std::vector<View> views() {
  const Families scalar{"fp32",    "fp64",       "fp16", "integer",
                        "special", "conversion", "warp", "register"};
  return {
      by_instruction("Latency of arithmetic and warp instructions", "latency", "Latency (cycles)",
                     {"fp32", "fp64", "fp16", "integer", "special", "conversion", "warp"}, true),
      by_instruction("Throughput of arithmetic and warp instructions", "throughput",
                     "Results per clock and SM", scalar, false),
      by_instruction("Throughput of tensor instructions", "throughput",
                     "Multiply-adds per clock and SM", {"mma", "wgmma"}, false),
      table("Latency of every instruction", {{"quantity", {"latency"}}},
            {"family", "instruction", "ptx", "metric", "interval", "expected", "verdict"},
            "Cycles from one instruction to the next that needs its result. Names with \"and\" "
            "are of several, which no chain can take apart."),
      table("Throughput of every instruction", {{"quantity", {"throughput"}}},
            {"family", "instruction", "ptx", "metric", "interval", "bound", "of_bound", "verdict"},
            "Results of one SM in a clock: lanes, each half of a pair, multiply-adds of a "
            "matrix product. The bound is the published rate, else what four schedulers can "
            "issue.")};
}

}  // namespace

std::span<const Instruction> all_instructions() {
  static const std::vector<Instruction> all = [] {
    std::vector<Instruction> rows;
    for (const auto part : std::initializer_list<std::span<const Instruction>>{
             arithmetic_instructions, warp_instructions, mma_instructions, wgmma_instructions})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

const char* throughput_unit(const Instruction& instruction) {
  return instruction.tensor ? "FMA/clk/SM" : "results/clk/SM";
}

std::optional<double> published_rate(const Instruction& instruction, int major, int minor) {
  if (instruction.tensor) return models::tensor_fma_per_clock(*instruction.tensor, major, minor);
  if (!instruction.native) return std::nullopt;
  return models::native_throughput(*instruction.native, major, minor);
}

std::optional<Bound> throughput_bound(const Instruction& instruction, int major, int minor) {
  const std::optional<double> published = published_rate(instruction, major, minor);
  const double issued =
      models::issued_lanes_per_clock * instruction.results / 32 / instruction.per_step;
  if (published && (instruction.tensor || *published <= issued)) {
    return Bound{*published, std::string(instruction.tensor ? models::tensor_source
                                                            : models::native_throughput_source)};
  }
  if (instruction.tensor) return std::nullopt;
  return Bound{
      issued,
      fmt::format("four schedulers, one warp instruction a clock each, over {} instructions",
                  instruction.per_step)};
}

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .facts = fact_rows(),
      .answer =
          "An FFMA takes {ffma.latency:.4g} cycles and an SM completes {ffma.throughput:.4g} a "
          "clock; an IMAD takes {imad.latency:.4g} ({imad.throughput:.4g} a clock), a "
          "shuffle {shfl_bfly.latency:.4g} ({shfl_bfly.throughput:.4g}), a DFMA "
          "{dfma.latency:.4g} ({dfma.throughput:.4g})",
      .views = views()};
  Findings findings = evaluate(rows, entries);
  if (!findings.answer.empty()) {
    findings.answer += Figures(tensor_reading, entries)
                           .tell(
                               "[; the tensor cores reach {tensor:.0f} multiply-adds a clock and "
                               "SM with {tensor instruction}].");
  }
  for (std::size_t i = 0; i < findings.facts.size(); ++i)
    if (!findings.facts[i].value) findings.facts[i].method = rows.facts[i].method;
  return findings;
}

}  // namespace fathom::instructions
