#include "harness/counters/counter_problem.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {
namespace {

struct Row {
  CounterProblem problem;
  ExitCode code;
  const char* sentence;
};

constexpr Row table[] = {
    {CounterProblem::no_library, ExitCode::counters_unavailable,
     "Hardware counters need libcupti, which was not found: install the toolkit's CUPTI package "
     "(cuda-cupti), or name its folder in FATHOM_CUPTI_DIR."},
    {CounterProblem::not_permitted, ExitCode::counters_unavailable,
     "The driver lets only administrators read hardware counters: run as root (a container also "
     "needs --cap-add=SYS_ADMIN), or write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
     "to a file in /etc/modprobe.d, rebuild the initramfs and restart."},
    {CounterProblem::vgpu, ExitCode::partitioned_gpu,
     "This virtual GPU does not offer hardware counters: ask its host's administrator to set the "
     "vGPU plug-in parameter enable_profiling=1, or run on a whole GPU."},
    {CounterProblem::mig, ExitCode::partitioned_gpu,
     "This MIG slice does not offer hardware counters: run on a GPU with MIG off (nvidia-smi -mig "
     "0), or on the instance that has the whole GPU."},
    {CounterProblem::confidential_computing, ExitCode::counters_unavailable,
     "The GPU runs in confidential computing mode, which locks its hardware counters: switch the "
     "mode off, or to its developer tools variant."},
    {CounterProblem::mining_gpu, ExitCode::counters_unavailable,
     "This is a mining card (CMP), which has no readable hardware counters: run with "
     "--no-counters."},
    {CounterProblem::sli, ExitCode::counters_unavailable,
     "The GPU is part of an SLI group, which locks its hardware counters: switch SLI off."},
    {CounterProblem::wsl, ExitCode::counters_unavailable,
     "The driver under this Windows Subsystem for Linux does not offer hardware counters: update "
     "the Windows driver and permit counters to all users in the NVIDIA Control Panel (Developer > "
     "Manage GPU Performance Counters)."},
    {CounterProblem::unsupported_gpu, ExitCode::counters_unavailable,
     "This CUPTI cannot read the counters of this GPU: it needs Turing or newer, and for a GPU "
     "newer than the toolkit a newer toolkit."},
    {CounterProblem::busy, ExitCode::counters_unavailable,
     "Another profiler holds the hardware counters: end it (ncu, nsys, dcgm; 'dcgmi profile "
     "--pause' pauses the last) and run again."},
    {CounterProblem::driver_too_old, ExitCode::driver_too_old,
     "The driver is older than this CUPTI: update the driver to the version of the toolkit or "
     "newer."},
    {CounterProblem::out_of_memory, ExitCode::gpu_out_of_memory,
     "Too little memory is free for reading hardware counters: free some and run again."},
    {CounterProblem::failed, ExitCode::counters_unavailable,
     "Reading hardware counters failed: run with --no-counters to measure without them."},
};

const Row& row(CounterProblem problem) { return *std::ranges::find(table, problem, &Row::problem); }

}  // namespace

CounterError::CounterError(CounterProblem problem, const std::string& detail)
    : Error(row(problem).code, detail.empty()
                                   ? row(problem).sentence
                                   : fmt::format("{} ({})", row(problem).sentence, detail)) {}

}  // namespace fathom
