#include "probes/instructions/claims.h"

#include <fmt/format.h>

#include "probes/instructions/tensor_instructions.h"
#include "results/facts.h"
#include "results/query.h"

namespace fathom::instructions {
namespace {

const Entry* find_entry(std::span<const Entry> entries, std::string_view subject,
                        const char* quantity) {
  for (const Entry& entry : entries)
    if (matches(entry, {{"instruction", std::string(subject)}, {"quantity", quantity}}))
      return &entry;
  return nullptr;
}

/// Barriers, fences and the branch wait for nothing but themselves; reading a register has no
/// input.
bool has_throughput(const Instruction& instruction) {
  return instruction.family != "barrier" && instruction.family != "fence" &&
         instruction.family != "branch";
}
bool has_latency(const Instruction& instruction) { return instruction.family != "register"; }

std::string why_missing(const Instruction& instruction, const Entry* entry, bool measurable,
                        const char* quantity) {
  if (!measurable) {
    return fmt::format("there is no {} of its own: {}", quantity,
                       has_latency(instruction)
                           ? "each one waits for the one before"
                           : "it takes no input that a chain could run through");
  }
  if (entry != nullptr) return fathom::why_missing(entry, "");
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

Fact make_fact(const Instruction& instruction, std::span<const Entry> entries, const char* quantity,
               bool measurable) {
  const bool latency = std::string_view(quantity) == "latency";
  FactName name{fmt::format("{}.{}", instruction.id, quantity), std::string(instruction.subject),
                quantity, latency ? "cycles" : std::string(throughput_unit(instruction)),
                latency ? Better::lower : Better::higher};
  const char* method = latency ? "dependent chain, long loop less short loop, in-kernel clock"
                               : "independent chains in many warps, in-kernel clock";
  const Entry* entry = find_entry(entries, instruction.subject, quantity);
  if (entry == nullptr || !entry->metric.value) {
    Fact fact =
        missing_fact(std::move(name), why_missing(instruction, entry, measurable, quantity));
    fact.method = method;
    return fact;
  }
  Fact fact = fact_of(*entry, std::move(name), method);
  // Of a rate the expectation is the guide's; what others say of latencies the harness knows.
  if (entry->expected && !latency)
    fact.published = Published{entry->expected->value, entry->expected->model};
  return fact;
}

std::string value_of(std::span<const Entry> entries, std::string_view subject,
                     const char* quantity) {
  const Entry* entry = find_entry(entries, subject, quantity);
  return entry == nullptr || !entry->metric.value ? "(not measured)"
                                                  : fmt::format("{:.4g}", *entry->metric.value);
}

/// The tensor instruction with the most multiply-adds a clock.
const Entry* best_tensor(std::span<const Entry> entries) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    const bool tensor = matches(entry, {{"family", "mma"}, {"quantity", "throughput"}}) ||
                        matches(entry, {{"family", "wgmma"}, {"quantity", "throughput"}});
    if (!tensor || !entry.metric.value) continue;
    if (best == nullptr || *entry.metric.value > *best->metric.value) best = &entry;
  }
  return best;
}

std::string answer(std::span<const Entry> entries) {
  bool measured = false;
  for (const Entry& entry : entries) measured = measured || entry.metric.value.has_value();
  if (!measured) return "";
  std::string text = fmt::format(
      "An FFMA takes {} cycles and an SM completes {} a clock; an IMAD takes {} ({} a clock), a "
      "shuffle {} ({}), a DFMA {} ({})",
      value_of(entries, "FFMA", "latency"), value_of(entries, "FFMA", "throughput"),
      value_of(entries, "IMAD", "latency"), value_of(entries, "IMAD", "throughput"),
      value_of(entries, "SHFL.BFLY", "latency"), value_of(entries, "SHFL.BFLY", "throughput"),
      value_of(entries, "DFMA", "latency"), value_of(entries, "DFMA", "throughput"));
  if (const Entry* tensor = best_tensor(entries)) {
    text += fmt::format("; the tensor cores reach {:.0f} multiply-adds a clock and SM with {}",
                        *tensor->metric.value,
                        std::get<std::string>(*find_axis(*tensor, "instruction")));
  }
  return text + ".";
}

using Families = std::vector<AxisValue>;

View plot(const char* title, const char* quantity, const char* y_label, Families families,
          bool log) {
  View view{.kind = View::Kind::plot,
            .title = title,
            .where = {{"quantity", {quantity}}, {"family", std::move(families)}},
            .x = "instruction",
            .x_label = "Instruction",
            .y_label = y_label,
            .y_log = log,
            .y_from_zero = !log};
  // Without them the instructions stand one below the other, each by its name; the table has both.
  view.show_bound = view.show_expected = false;
  return view;
}

std::vector<View> views() {
  const Families scalar{"fp32",    "fp64",       "fp16", "integer",
                        "special", "conversion", "warp", "register"};
  View latencies{.title = "Latency of every instruction"};
  latencies.note =
      "Cycles from one instruction to the next that needs its result. Names with \"and\" are of "
      "several, which no chain can take apart.";
  latencies.where = {{"quantity", {"latency"}}};
  latencies.columns = {"family", "instruction", "ptx", "metric", "interval", "expected", "verdict"};
  View throughputs{.title = "Throughput of every instruction"};
  throughputs.note =
      "Results of one SM in a clock: lanes, each half of a pair, multiply-adds of a matrix "
      "product. The bound is the published rate, else what four schedulers can issue.";
  throughputs.where = {{"quantity", {"throughput"}}};
  throughputs.columns = {"family",   "instruction", "ptx",      "metric",
                         "interval", "bound",       "of_bound", "verdict"};
  return {plot("Latency of arithmetic and warp instructions", "latency", "Latency (cycles)",
               {"fp32", "fp64", "fp16", "integer", "special", "conversion", "warp"}, true),
          plot("Throughput of arithmetic and warp instructions", "throughput",
               "Results per clock and SM", scalar, false),
          plot("Throughput of tensor instructions", "throughput", "Multiply-adds per clock and SM",
               {"mma", "wgmma"}, false),
          latencies, throughputs};
}

}  // namespace

std::span<const Instruction> all_instructions() {
  static const std::vector<Instruction> all = [] {
    std::vector<Instruction> rows;
    const auto add = [&](std::span<const Instruction> part) {
      rows.insert(rows.end(), part.begin(), part.end());
    };
    add(arithmetic_instructions);
    add(warp_instructions);
    add(mma_instructions);
    add(wgmma_instructions);
    return rows;
  }();
  return all;
}

std::string_view throughput_unit(const Instruction& instruction) {
  return instruction.tensor ? "FMA/clk/SM" : "results/clk/SM";
}

bool bound_is_published(const Instruction& instruction, int major, int minor) {
  return instruction.tensor
             ? models::tensor_fma_per_clock(*instruction.tensor, major, minor).has_value()
             : instruction.native &&
                   models::native_throughput(*instruction.native, major, minor).has_value();
}

std::optional<Bound> throughput_bound(const Instruction& instruction, int major, int minor) {
  if (instruction.tensor) {
    const auto fma = models::tensor_fma_per_clock(*instruction.tensor, major, minor);
    if (!fma) return std::nullopt;
    return Bound{*fma, std::string(models::tensor_source)};
  }
  const double issued =
      models::issued_lanes_per_clock * instruction.results / 32 / instruction.per_step;
  const Bound issue{
      issued,
      fmt::format("four schedulers, one warp instruction a clock each, over {} instructions",
                  instruction.per_step)};
  if (!instruction.native) return issue;
  const auto native = models::native_throughput(*instruction.native, major, minor);
  if (!native || *native > issued) return issue;
  return Bound{*native, std::string(models::native_throughput_source)};
}

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.answer = answer(entries);
  findings.views = views();
  for (const Instruction& instruction : all_instructions()) {
    findings.facts.push_back(make_fact(instruction, entries, "latency", has_latency(instruction)));
    findings.facts.push_back(
        make_fact(instruction, entries, "throughput", has_throughput(instruction)));
  }
  return findings;
}

}  // namespace fathom::instructions
