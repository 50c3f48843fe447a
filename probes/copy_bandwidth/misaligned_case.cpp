// V9: a 16-byte access to an address that is no multiple of 16. No CUDA context survives the error
// that it ends with, so a process of its own makes it: this program, started again.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/cuda_check.h"
#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {
namespace {

/// Behind an aligned address: enough for each narrower access.
constexpr std::size_t misaligned_by = 8;
/// How long the process may take, CUDA's start on a host with many GPUs included. Then it ends.
constexpr unsigned limit_s = 60;

/// The process inherits which GPUs are visible, so their numbers are the same. Gives why nothing is
/// known, else an empty text.
std::string access_by_another_process(int device, Entry& entry) {
  std::string words[] = {"probe_copy_bandwidth", "--child", "--device", std::to_string(device)};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t child = 0;
  // Not fork, after which nothing of CUDA works.
  const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ);
  if (error != 0)
    return std::string("the process that makes the misaligned access could not be started: ") +
           std::strerror(error);
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return report_access(status, entry);
}

std::optional<std::string> run_misaligned(const DeviceFacts& device, Entry& entry) {
  entry.iterations = 1;
  std::string reason =
      why_no_access(device.fingerprint.compute_mode, std::getenv("CUDA_MPS_PIPE_DIRECTORY"));
  if (reason.empty()) reason = access_by_another_process(device.ordinal, entry);
  if (!reason.empty()) report_no_access(reason, entry);
  return std::nullopt;
}

}  // namespace

ExitCode make_misaligned_access(int device) {
  alarm(limit_s);
  FATHOM_CUDA(cudaSetDevice(device));
  constexpr std::size_t bytes = 4096;
  void* memory = nullptr;
  FATHOM_CUDA(cudaMalloc(&memory, 3 * bytes));
  FATHOM_CUDA(cudaMemset(memory, 1, 3 * bytes));
  auto* const from = static_cast<std::byte*>(memory);
  const auto copy = [&](std::size_t offset) {
    launch_copy({ElementType::float32, 4}, {from + offset, from + 2 * bytes, bytes}, nullptr);
    return cudaDeviceSynchronize();
  };
  FATHOM_CUDA(copy(0));  // nothing is wrong but the address
  const cudaError_t error = copy(misaligned_by);
  if (error == cudaErrorMisalignedAddress) return ExitCode::check_failed;
  FATHOM_CUDA(error);
  return ExitCode::ok;
}

std::vector<Case> misaligned_cases(const DeviceFacts&) {
  Case c;
  c.name = "misaligned/bytes:16/offset:" + size_name(misaligned_by);
  c.axes = {{"sweep", "misaligned"},
            {"bytes per thread", std::int64_t{16}},
            {"base offset (B)", static_cast<std::int64_t>(misaligned_by)}};
  c.metric = {"faults", "launches", Better::higher, std::nullopt};
  c.expected = Expectation{1, 0, "an access of 16 bytes needs an address that 16 divides"};
  c.mode =
      Campaign{.roles = {},
               .run = [](Context& context, CounterSession*, const std::string&, const KeepGoing&,
                         Entry& entry) { return run_misaligned(context.device(), entry); },
               .for_a_claim = true};
  return {c};
}

}  // namespace fathom::copy_bandwidth
