#include "tools/held_probes.h"

#include <algorithm>

#include "results/error.h"

namespace fathom {

std::size_t most_held_together(const Fingerprint& gpu) {
  if (gpu.compute_mode.starts_with("exclusive")) return 1;
  // What a context takes before anything is allocated in it. Together they are to leave the probes
  // what these size their arrays for.
  constexpr std::int64_t context_bytes = 512ll << 20, share_of_memory = 16;
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, gpu.memory_bytes.value_or(0) / share_of_memory / context_bytes));
}

HeldProbes::HeldProbes(std::span<const ProbeBinary> probes, const RunArguments& options,
                       const OutputFolder& folder, SignalInbox& inbox) {
  for (const ProbeBinary& probe : probes) {
    try {
      probes_.push_back(
          std::make_unique<ProbeProcess>(probe, options, folder, ProbeProcess::Start::held));
    } catch (const Error&) {
      probes_.push_back(nullptr);  // its turn will say why
    }
  }
  std::vector<const HeldRun*> runs;
  for (const auto& probe : probes_)
    if (probe) runs.push_back(probe->held());
  const std::vector<const HeldRun*> late = wait_for_words(runs, inbox, probe_time_limit(options));
  if (inbox.interrupts() > 0) return;
  // Before the first one begins: what becomes ready later would do it beside a measurement.
  for (const auto& probe : probes_)
    if (probe && std::ranges::find(late, probe->held()) != late.end()) probe->give_up(inbox);
  if (no_room()) clear();
}

std::unique_ptr<ProbeProcess> HeldProbes::release_next(std::size_t ending) {
  if (next_ >= probes_.size()) return nullptr;
  std::unique_ptr<ProbeProcess> probe = std::move(probes_[next_++]);
  if (!probe) return nullptr;
  const auto waiting =
      std::ranges::count_if(probes_, [](const auto& other) { return other && !other->try_end(); });
  probe->release(static_cast<std::size_t>(waiting) + ending);
  return probe;
}

/// Whether one has ended for what may be its siblings' fault.
bool HeldProbes::no_room() {
  return std::ranges::any_of(probes_, [](const auto& probe) {
    const auto end = probe ? probe->try_end() : std::nullopt;
    return end && end->signal == 0 &&
           (end->status == to_int(ExitCode::gpu_busy) ||
            end->status == to_int(ExitCode::gpu_out_of_memory));
  });
}

void HeldProbes::clear() {
  for (const auto& probe : probes_)
    if (probe) probe->kill();  // all at once: each takes its time to end
  for (auto& probe : probes_) probe.reset();
}

}  // namespace fathom
