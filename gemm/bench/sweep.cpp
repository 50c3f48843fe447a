#include <algorithm>
#include <iterator>

#include "gemm/bench/cases.h"
#include "gemm/bench/conclude.h"
#include "gemm/bench/opponents.h"
#include "gemm/bench/request.h"
#include "harness/probe.h"

namespace fathom::gemm {
namespace {

class GemmLadder : public Probe {
 public:
  std::string name() const override { return "gemm"; }
  std::string program() const override { return "gemm_ladder"; }
  std::string question() const override {
    return "How fast does this GPU multiply matrices, what does each idea gain, and does the vendor's "
           "library reach as far?";
  }
  std::string method() const override {
    return "Each rung computes C = alpha op(A) op(B) + beta C of random normal data. Before it is timed, "
           "its C, filled with NaN and with guard bands around it and between its columns, is held "
           "against an fp64 reference by another kernel, per element and in the Frobenius norm. The "
           "rungs that are held against the vendor's library are timed alternately with it, with the "
           "same layout, types and scalars: the library as it is called by default, and the fastest of "
           "up to 32 of its algorithms with a workspace of 64 MiB. All of a ladder are timed in bursts: before a sample "
           "the GPU rests twice as long as the last one took. A product counts 2 m n k FLOP. The top rung "
           "of each ladder is swept over sizes, and around multiples of its tile, beside the library as it "
           "is called by default (of fp8, which cuBLAS itself does not take, the best of cuBLASLt): without "
           "rests, so that each point has the clock that power leaves it, and what tiles cost is counted in "
           "cycles.";
  }
  std::vector<std::string> claim_ids() const override { return fathom::gemm::claim_ids(); }
  std::vector<ProbeOption> options() const override { return ladder_options(); }
  void check_options(const OptionValues& options) const override { read_request(options); }
  std::vector<std::string> warnings() const override {
    if (why_no_opponents().empty()) return {};
    return {why_no_opponents()};
  }
  std::string example() const override {
    return "--rung fp32/22_planned_tiles --m 128 --n 8192 --k 8192 --transa T";
  }
  std::string more_help() const override { return rungs_for_help(); }
  std::vector<Case> cases(const DeviceFacts& device) const override { return cases_for(device, {}); }
  std::vector<Case> cases_for(const DeviceFacts& device, const OptionValues& options) const override {
    const Request request = read_request(options);
    autotuner_ = std::make_shared<Autotuner>(request.autotune);
    request_notes_ = request.notes;
    return ladder_cases(device, request, autotuner_);
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all = request_notes_;
    if (autotuner_) std::ranges::copy(autotuner_->notes(), std::back_inserter(all));
    return all;
  }
  Findings conclude(std::span<const Entry> entries) const override {
    return fathom::gemm::conclude(entries);
  }

 private:
  /// Of the last cases that were asked for: their choices are made while they are measured.
  mutable std::vector<std::string> request_notes_;
  mutable std::shared_ptr<Autotuner> autotuner_;
};

}  // namespace
}  // namespace fathom::gemm

FATHOM_PROBE(fathom::gemm::GemmLadder)
