#include "gemm/library_case.h"

#include <fmt/format.h>

#include "gemm/claimed_products.h"
#include "gemm/opponents.h"
#include "gemm/peak.h"

namespace fathom::gemm {

std::optional<Case> library_case(const DeviceFacts& device, const Problem& problem,
                                 const std::shared_ptr<ReferenceStore>& references) {
  const std::vector<OpponentCase> found = opponents(problem, references);
  if (found.empty()) return std::nullopt;
  Case c;
  c.name = fmt::format("{}/{}/{}x{}x{}/{}", traits(problem.of).name, library_alone, problem.m,
                       problem.n, problem.k, claimed_part);
  c.axes = {{"part", claimed_part},   {"type", traits(problem.of).name},
            {"rung", library_alone},  {"m", problem.m},
            {"n", problem.n},         {"k", problem.k},
            {"alpha", problem.alpha}, {"beta", problem.beta}};
  c.metric = {"throughput", "FLOP/s", Better::higher, std::nullopt};
  c.value = rate(problem.flops());
  c.bound = arithmetic_peak(device, problem.of);
  c.precision = Precision{.relative_half_width = 0.0025, .min_samples = 6, .time_limit_s = 0.1};
  for (const char* role : {"l2_read_sectors", "l2_write_sectors", "dram_read_bytes",
                           "dram_write_bytes", "shared_load_wavefronts", "instructions_executed"})
    c.counters.push_back({role, std::nullopt, 0, ""});
  c.extras = {{"flop", problem.flops()}, {"compulsory_bytes", problem.minimum_bytes()}};
  c.prepare = found.front().prepare;
  return c;
}

}  // namespace fathom::gemm
