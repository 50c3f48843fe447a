#include <fmt/format.h>

#include "probes/claims.h"
#include "probes/energy/cases.h"
#include "probes/energy/kernels.h"

namespace fathom::energy {
namespace {

/// About 4 ms.
constexpr int rest_turns = 200;
/// What ran before, if only the driver's own start, still shows in the power for a while.
constexpr double idle_settle_s = 1;

Case rest_case(std::string_view id, const char* what) {
  Case c;
  c.name = fmt::format("rest/{}", id);
  c.axes = {{"kind", "rest"}, {"id", std::string(id)}, {"loop", what}, {"per", "second"}};
  c.suite = Suite::quick;
  c.metric = {"power", "W", Better::lower, std::nullopt};
  c.mode = EnergyLoop{};
  return c;
}

Workload rest_workload(Context& context, int blocks) {
  cudaStream_t stream = context.stream();
  const Buffer out = context.buffers().output(
      "rested", std::size_t{rest_threads} * blocks * sizeof(std::uint32_t));
  Workload workload;
  workload.launch = [=] { launch_rest(rest_turns, out.as<std::uint32_t>(), blocks, stream); };
  workload.poison = poisoning(context, {out});
  workload.verify = [=]() -> std::optional<std::string> {
    for (const std::uint32_t turns : copy_to_host<std::uint32_t>(out, stream))
      if (turns != rest_turns) return fmt::format("a thread rested {} times", turns);
    return std::nullopt;
  };
  return workload;
}

std::vector<Case> cases(const DeviceFacts& device) {
  const auto baseline = std::make_shared<std::optional<double>>();
  std::vector<Case> result;
  for (const auto part : {rest_cases, memory_cases, instruction_cases})
    for (Case& c : part(device, baseline)) result.push_back(std::move(c));
  return result;
}

const Probe probe{
    .name = "energy",
    .question =
        "How much energy does a byte take from each level of the memory hierarchy, and an "
        "operation in each kind of arithmetic?",
    .method =
        "Each loop runs for more than a second without a gap. The GPU's energy counter (NVML) "
        "moves about every 100 ms; its steps are noted as they come, the time from the first one "
        "after the clocks have settled to the last one is cut at steps into up to four windows, "
        "and each window's joules go over the work that was done in it, by events on the GPU's own "
        "clock. Energies without \"gross\" are less what the same GPU takes in the same time with "
        "threads that only sleep (active idle), so that they are the work's own; where the power "
        "limit lowers the clock, less is due to leakage and clock than is taken off. Loads and "
        "stores move random bits and are checked, each 16 bytes with two integer additions; "
        "instructions are those of the throughput kernels of probe_instructions, checked as there, "
        "on numbers with random mantissas; the factors of FFMA, DFMA and HFMA2 are few. The tensor "
        "cores are checked on whole numbers before and after, and measured on matrices of random "
        "signs and mantissas (int8: random bits). A multiply-add counts as two.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace

Case loop_case(std::string_view kind, std::string_view id, std::string_view subject, Per per,
               double work, const Baseline& baseline) {
  const PerNames names = names_of(per);
  Case c;
  c.name = fmt::format("{}/{}", kind, id);
  c.axes = {{"kind", std::string(kind)},
            {"id", std::string(id)},
            {"loop", std::string(subject)},
            {"per", std::string(names.axis)}};
  c.metric = {"energy", std::string(names.unit), Better::lower, std::nullopt};
  EnergyLoop loop;
  loop.work = work;
  loop.figures = [baseline](const EnergyReading& whole) -> std::map<std::string, double> {
    if (!*baseline) return {};
    const double base = **baseline * whole.seconds / whole.work;
    return {{base_extra, base}, {net_extra, (whole.joules / whole.work - base) * 1e12}};
  };
  c.mode = std::move(loop);
  return c;
}

std::vector<Case> rest_cases(const DeviceFacts& device, const Baseline& baseline) {
  Case idle = rest_case(idle_id, "nothing runs");
  std::get<EnergyLoop>(idle.mode).settle_s = idle_settle_s;
  idle.prepare = [](Context&) { return Workload{}; };
  Case active = rest_case(active_idle_id, "resident threads sleep");
  const int blocks = device.sms;
  active.prepare = [blocks](Context& context) { return rest_workload(context, blocks); };
  std::get<EnergyLoop>(active.mode).figures =
      [baseline](const EnergyReading& whole) -> std::map<std::string, double> {
    *baseline = whole.watts();
    return {};
  };
  return {idle, active};
}

}  // namespace fathom::energy

FATHOM_PROBE(fathom::energy::probe)
