#include <memory>

#include "gemm/bench/cases.h"
#include "gemm/bench/conclude.h"
#include "harness/probe.h"

namespace fathom::gemm {
namespace {

Probe ladder() {
  Probe probe{.name = "gemm"};
  probe.program = "gemm_ladder";
  probe.question =
      "How fast does this GPU multiply matrices, what does each idea gain, and does the vendor's "
      "library reach as far?";
  probe.method =
      "Each rung computes C = alpha op(A) op(B) + beta C of random normal data. Before it is "
      "timed, its C, filled with NaN and with guard bands around it and between its columns, is "
      "held against an fp64 reference by another kernel, per element and in the Frobenius norm. "
      "The rungs that are held against the vendor's library are timed alternately with it, with "
      "the same layout, types and scalars: the library as it is called by default, and the fastest "
      "of up to 32 of its algorithms with a workspace of 64 MiB. All of a ladder are timed in "
      "bursts: before a sample the GPU rests twice as long as the last one took. A product counts "
      "2 m n k FLOP. The top rung of each ladder is swept over sizes, and around multiples of its "
      "tile, beside the library as it is called by default (of fp8, which cuBLAS itself does not "
      "take, the best of cuBLASLt): without rests, so that each point has the clock that power "
      "leaves it, and what tiles cost is counted in cycles.";
  probe.conclude = conclude;
  probe.options = ladder_options();
  probe.check_options = [](const OptionValues& options) { read_request(options); };
  probe.warnings = []() -> std::vector<std::string> {
    if (why_no_opponents().empty()) return {};
    return {why_no_opponents()};
  };
  probe.example = "--rung fp32/26_sliced_depth --m 128 --n 8192 --k 8192 --transa T";
  probe.more_help = rungs_for_help();
  const auto notes = std::make_shared<std::vector<std::string>>();
  probe.cases_for = [notes](const DeviceFacts& device, const OptionValues& options) {
    const Request request = read_request(options);
    *notes = request.notes;
    return ladder_cases(device, request);
  };
  probe.notes = [notes] { return *notes; };
  return probe;
}

}  // namespace
}  // namespace fathom::gemm

FATHOM_PROBE(fathom::gemm::ladder())
