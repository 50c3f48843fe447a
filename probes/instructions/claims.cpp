#include "probes/claims.h"

#include <fmt/format.h>

#include "probes/instructions/instructions.h"
#include "results/findings.h"

namespace fathom::instructions {
namespace {

std::string why_absent(const Instruction& instruction, bool latency) {
  const std::string& family = instruction.family;
  if (latency && family == "register")
    return "there is no latency of its own: it takes no input that a chain could run through";
  if (!latency && (family == "barrier" || family == "fence" || family == "branch"))
    return "there is no throughput of its own: each one waits for the one before";
  if (instruction.hopper_only)
    return "not in this run, or the GPU lacks it: only compute capability 9.0 has it";
  if (instruction.not_in_data_centre)
    return "not in this run, or the GPU lacks it: compute capability 8.9 and 12.x have it, 9.0 "
           "only in wgmma";
  if (instruction.since > 75)
    return fmt::format("not in this run, or the GPU lacks it: it needs compute capability {}.{}",
                       instruction.since / 10, instruction.since % 10);
  return "not in this run";
}

/// The guide's rate, where the expectation is one; of latencies the harness knows what others say.
void take_guide(Fact& fact, const Entry& entry) {
  if (entry.expected) fact.published = Published{entry.expected->value, entry.expected->model};
}

std::vector<FactRow> fact_rows() {
  std::vector<FactRow> rows;
  for (const Instruction& i : all_instructions()) {
    for (const bool latency : {true, false}) {
      const char* quantity = latency ? "latency" : "throughput";
      FactRow& row = rows.emplace_back(FactRow{
          {i.id + "." + quantity, i.subject, quantity, latency ? "cycles" : throughput_unit(i),
           latency ? Better::lower : Better::higher},
          {{"instruction", i.subject}, {"quantity", quantity}},
          latency ? "dependent chain, long loop less short loop, in-kernel clock"
                  : "independent chains in many warps, in-kernel clock",
          why_absent(i, latency)});
      if (!latency) row.change = take_guide;
    }
  }
  return rows;
}

View by_instruction(const char* title, const char* quantity, const char* y_label,
                    std::vector<AxisValue> families) {
  return plot(title, {{"quantity", {quantity}}, {"family", std::move(families)}}, "instruction",
              y_label, {}, {.x_label = "Instruction", .y_log = quantity == std::string("latency")});
}

std::vector<View> views() {
  return {
      by_instruction("Latency of arithmetic and warp instructions", "latency", "Latency (cycles)",
                     {"fp32", "fp64", "fp16", "integer", "special", "conversion", "warp"}),
      by_instruction(
          "Throughput of arithmetic and warp instructions", "throughput",
          "Results per clock and SM",
          {"fp32", "fp64", "fp16", "integer", "special", "conversion", "warp", "register"}),
      by_instruction("Throughput of tensor instructions", "throughput",
                     "Multiply-adds per clock and SM", {"mma", "wgmma"}),
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
  static const auto all =
      arithmetic_instructions + warp_instructions + mma_instructions + wgmma_instructions;
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
  if (instruction.tensor)
    return published ? std::optional(Bound{*published, std::string(models::tensor_source)})
                     : std::nullopt;
  const double issued =
      models::issued_lanes_per_clock * instruction.results / 32 / instruction.per_step;
  if (published && *published <= issued)
    return Bound{*published, std::string(models::native_throughput_source)};
  return Bound{
      issued,
      fmt::format("four schedulers, one warp instruction a clock each, over {} instructions",
                  instruction.per_step)};
}

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .facts = fact_rows(),
      .reading = {{"tensor",
                   {{"quantity", "throughput"}},
                   Pick::best,
                   metric_of,
                   "",
                   [](const Entry& e) {
                     return is_any(e, "family", {"mma", "wgmma"});
                   }}},
      .answer =
          "An FFMA takes {ffma.latency:.4g} cycles and an SM completes {ffma.throughput:.4g} a "
          "clock; an IMAD takes {imad.latency:.4g} ({imad.throughput:.4g} a clock), a "
          "shuffle {shfl_bfly.latency:.4g} ({shfl_bfly.throughput:.4g}), a DFMA "
          "{dfma.latency:.4g} ({dfma.throughput:.4g})[; the tensor cores reach {tensor:.0f} "
          "multiply-adds a clock and SM with {tensor instruction}].",
      .views = views()};
  Findings findings = evaluate(rows, entries);
  for (std::size_t i = 0; i < findings.facts.size(); ++i)
    if (!findings.facts[i].value) findings.facts[i].method = rows.facts[i].method;
  return findings;
}

}  // namespace fathom::instructions
