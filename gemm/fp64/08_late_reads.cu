// The order of reads and products is the source's, not the compiler's.

#include "gemm/fp64/late_reads.h"
#include "gemm/fp64/rungs.h"
#include "gemm/fp64/stream_k.h"
#include "gemm/fp64/tma_rung.cuh"

namespace fathom::gemm::fp64 {
namespace {

struct LateReads {
  static constexpr KernelConfig config{.cluster_n = 2, .late_reads = true, .stream_k = true};
};

}  // namespace

void launch_late_reads(const Arguments& arguments, const Workspace& workspace,
                       cudaStream_t stream) {
  if (has_few_rows(arguments.problem)) return launch_stream_k(arguments, workspace, stream);
  launch_shape<LateReads>(arguments, workspace, stream);
}

Rung late_reads() {
  Rung rung = shape_rung<LateReads>("08_late_reads");
  rung.idea =
      "Fragments are read into registers that a product took at least one product ago, in an "
      "order that the compiler cannot change; few rows are the rung before's.";
  rung.gain =
      "A read into registers that the last product still takes waits for it, and the next product "
      "waits behind the read.";
  rung.contender = true;
  rung.launch = &launch_late_reads;
  rung.takes_own_path = &takes_stream_k;
  return rung;
}

}  // namespace fathom::gemm::fp64
