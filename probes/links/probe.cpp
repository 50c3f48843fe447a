#include "probes/claims.h"
#include "probes/links/cases.h"

namespace fathom::links {
namespace {

std::vector<Case> cases(const DeviceFacts& device) {
  const auto machine = std::make_shared<Machine>(device);
  std::vector<Case> result;
  for (const auto part : {host_cases, peer_cases, nccl_cases})
    for (Case& c : part(machine)) result.push_back(std::move(c));
  return result;
}

const Probe probe{
    .name = "links",
    .question =
        "How much do the links to the host and to other GPUs carry, by which engine, in which "
        "direction and from which size on?",
    .method =
        "Copies of random words by the copy engines (cudaMemcpyAsync) and by kernels that load "
        "from one side and store to the other 16 bytes a thread, timed by events on the GPU and "
        "checked word by word. A byte counts once for each direction in which it goes, as "
        "nvbandwidth counts; with both directions at once the figure is the sum of both. From a "
        "pair of GPUs the copy engine is the sender's, which writes, unless the receiver's is "
        "named, which reads. The time of a load is that of a chase through 2 MiB of the other "
        "GPU's memory, one thread on each of eight SMs in turn. Where another GPU is in use by "
        "another Fathom, it is left out; GPUs that take part are locked meanwhile. Collectives are "
        "NCCL's over all GPUs, out of place, on 32-bit integers, each on the next part of 256 MiB; "
        "their figure is the bus bandwidth as nccl-tests defines it, with reduction in the NVLink "
        "switches (NVLS) off unless NCCL_NVLS_ENABLE is set. They are timed as nccl-tests times "
        "them, by the host's clock over 20 of them (fewer above 64 MiB) called by one thread, so "
        "that small ones show what calling them costs; up to 4 MiB they are timed a second time, "
        "by events, 32 of them queued before the first begins (NCCL, queued). Copies from pageable "
        "memory are not held back while they are queued.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace

Case transfer_case(std::string name, Axes axes, double bytes, const Machine& machine) {
  Case c;
  c.name = std::move(name);
  c.axes = std::move(axes);
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.value = rate(bytes);
  c.extras = {{"visible_gpus", machine.visible},
              {"busy_gpus", machine.busy},
              {"pairs_with_access", static_cast<double>(machine.topology.access.size())},
              {"nccl_version", machine.nccl ? machine.nccl->version() : 0}};
  return c;
}

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 4096; bytes <= largest_bytes; bytes *= 4) all.push_back(bytes);
  return all;
}

}  // namespace fathom::links

FATHOM_PROBE(fathom::links::probe)
