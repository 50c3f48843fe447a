// gemm_half_variants [--type T] [--only TEXT]... [--list] [--check]
// [--promoted] [m n k [burst|sustained] [T]]
// times the variants of the kernels (those whose name contains a TEXT, or all) and the vendor's
// library on one product or on the contested ones, alternately, after holding each against the
// reference. T as the last word: the first operand transposed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gemm/half/tuning/sm_clock.h"
#include "gemm/half/tuning/variants.h"
#include "gemm/opponents.h"
#include "gemm/verification.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "harness/sustained.h"
#include "harness/telemetry.h"

namespace fathom::gemm {
namespace {

struct Candidate {
  std::string name;
  bool opponent = false;
  Workload workload;
  std::string wrong;
  std::vector<double> seconds, hertz, joules;
};

struct Task {
  Problem problem;
  bool sustained = false;
};

struct Options {
  Class of = Class::bf16;
  std::vector<std::string> only;
  bool list = false, check = false, promoted = false;
  std::vector<Task> tasks;
};

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + x.size() / 2, x.end());
  return x[x.size() / 2];
}

bool wanted(const Options& options, const std::string& name) {
  return options.only.empty() ||
         std::any_of(options.only.begin(), options.only.end(),
                     [&](const std::string& text) { return name.find(text) != std::string::npos; });
}

std::vector<Candidate> candidates_for(Context& context, const Options& options,
                                      const Problem& problem) {
  const auto references = std::make_shared<ReferenceStore>();
  const auto operands = std::make_shared<Operands>(context, references, problem, "variant");
  // Room for transposed copies of both operands, whatever the layout.
  const std::size_t bytes =
      2 * static_cast<std::size_t>(problem.k + 64) * (problem.m + problem.n + 128);
  const Workspace workspace{context.buffers().output("workspace", bytes).data, bytes,
                            context.device().sms};
  std::vector<Candidate> candidates;
  for (const half::Variant& variant : half::variants()) {
    if (variant.of != problem.of || variant.promoted != options.promoted ||
        variant.skinny != (std::min(problem.m, problem.n) <= 128) || !wanted(options, variant.name))
      continue;
    Candidate candidate;
    candidate.name = variant.name;
    candidate.workload.launch = [=, launch = variant.launch, stream = context.stream()] {
      launch(operands->arguments(), workspace, stream);
    };
    operands->reset_c();
    candidate.workload.launch();
    Accuracy accuracy;
    candidate.wrong = operands->verify(accuracy).value_or("");
    candidates.push_back(candidate);
  }
  if (options.check) return candidates;
  for (const OpponentCase& opponent : opponents(problem, references, !options.promoted)) {
    Candidate candidate;
    candidate.name = opponent.name;
    candidate.opponent = true;
    candidate.workload = opponent.prepare(context);
    candidate.workload.launch();
    candidates.push_back(candidate);
  }
  return candidates;
}

/// Launches after a pause that lets the card cool: two unmeasured, then the measured between stamps
/// of the clock.
void measure_burst(std::vector<Candidate>& candidates, bool short_launches, cudaStream_t stream) {
  const Event start = make_event(), end = make_event();
  half::SmClock clock(stream);
  const int launches = short_launches ? 10 : 3;
  for (int round = 0; round < 16; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      // There and back, so that nobody always follows the same.
      Candidate& c = candidates[round % 2 == 0 ? i : candidates.size() - 1 - i];
      for (int warm = 0; warm < 2; ++warm) c.workload.launch();
      clock.begin();
      FATHOM_CUDA(cudaEventRecord(start.get(), stream));
      for (int launch = 0; launch < launches; ++launch) c.workload.launch();
      FATHOM_CUDA(cudaEventRecord(end.get(), stream));
      clock.end();
      FATHOM_CUDA(cudaEventSynchronize(end.get()));
      float milliseconds = 0;
      FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
      c.seconds.push_back(milliseconds * 1e-3 / launches);
      c.hertz.push_back(clock.hertz());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void measure_sustained(std::vector<Candidate>& candidates, cudaStream_t stream) {
  const TelemetrySampler telemetry(0);
  std::vector<const Workload*> workloads;
  for (const Candidate& c : candidates) workloads.push_back(&c.workload);
  // With few candidates each is under load for two seconds in all.
  const double turn = candidates.size() <= 5 ? 1.0 : 0.5;
  const SustainedTurns turns = run_sustained(workloads, {1.0, turn}, stream, telemetry);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (const SustainedTurn& t : turns[i]) {
      candidates[i].seconds.push_back(t.seconds);
      if (t.joules) candidates[i].joules.push_back(*t.joules);
    }
  }
}

void compare(Context& context, const Options& options, const Task& task) {
  std::vector<Candidate> candidates = candidates_for(context, options, task.problem);
  if (options.check) {
    for (const Candidate& c : candidates)
      fmt::print("{:60} {} {}\n", c.name, task.problem.describe(),
                 c.wrong.empty() ? "right" : c.wrong);
    return;
  }
  const bool short_launches = task.problem.flops() < 2e10;
  if (task.sustained) {
    measure_sustained(candidates, context.stream());
  } else {
    measure_burst(candidates, short_launches, context.stream());
  }
  const auto mean_or_median = [&](const std::vector<double>& x) {
    if (!task.sustained || x.empty()) return median(x);
    double sum = 0;
    for (const double y : x) sum += y;
    return sum / static_cast<double>(x.size());
  };
  double best = 1e9;
  for (const Candidate& c : candidates) {
    if (c.opponent) best = std::min(best, mean_or_median(c.seconds));
  }
  fmt::print("\n{}{}\n{:64} {:>8} {:>8} {:>6} {:>6} {:>6} {:>7} {:>7}\n", task.problem.describe(),
             task.sustained ? ", sustained" : ", burst", "kernel", "us", "TFLOP/s", "GB/s", "ratio",
             "MHz", "kclk", "mJ");
  for (const Candidate& c : candidates) {
    const double s = mean_or_median(c.seconds), hertz = median(c.hertz);
    fmt::print("{:64} {:8.2f} {:8.1f} {:6.0f} {:6.3f} {:6.0f} {:7.1f} {:7.1f} {}\n", c.name,
               s * 1e6, task.problem.flops() / s * 1e-12, task.problem.minimum_bytes() / s * 1e-9,
               best / s, hertz * 1e-6, hertz * s * 1e-3, mean_or_median(c.joules) * 1e3, c.wrong);
  }
  std::fflush(stdout);
}

Options options_from(int argc, char** argv) {
  Options options;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list") {
      options.list = true;
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--promoted") {
      options.promoted = true;
    } else if (word == "--only" && i + 1 < argc) {
      options.only.push_back(argv[++i]);
    } else if (word == "--type" && i + 1 < argc) {
      const auto of = find_class(argv[++i]);
      if (!of) throw std::runtime_error("unknown type");
      options.of = *of;
    } else {
      words.push_back(word);
    }
  }
  const bool along_k = options.of == Class::fp8 || options.of == Class::int8;
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool transposed) {
    return make_problem(options.of, m, n, k, transposed ? Transpose::yes : Transpose::no);
  };
  if (words.size() >= 3) {
    const auto has = [&](const char* text) {
      return std::find(words.begin() + 3, words.end(), text) != words.end();
    };
    options.tasks.push_back({product(std::atoll(words[0].c_str()), std::atoll(words[1].c_str()),
                                     std::atoll(words[2].c_str()), along_k || has("T")),
                             has("sustained")});
  } else {
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4096, 4096, 4096},
                                  {8192, 8192, 8192},
                                  {4095, 4095, 4095},
                                  {16, 8192, 8192},
                                  {128, 8192, 8192}})
      options.tasks.push_back({product(m, n, k, along_k), false});
    options.tasks.push_back({product(8192, 8192, 8192, along_k), true});
  }
  return options;
}

int run(int argc, char** argv) {
  const Options options = options_from(argc, argv);
  if (options.list) {
    for (const half::Variant& variant : half::variants())
      fmt::print("{} {}\n", traits(variant.of).name, variant.name);
    return 0;
  }
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  for (const Task& task : options.tasks) {
    Context context(facts, stream.get(), 1);
    compare(context, options, task);
  }
  return 0;
}

}  // namespace
}  // namespace fathom::gemm

int main(int argc, char** argv) try {
  return fathom::gemm::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
