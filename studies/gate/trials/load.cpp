#include "studies/gate/trials/load.h"

#include <algorithm>

#include "results/error.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

/// From 0 to 1; std::uniform_real_distribution is another one with every standard library.
double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1p-53;
}

double uniform(std::mt19937_64& generator, double low, double high) {
  return low + (high - low) * uniform(generator);
}

std::vector<std::pair<double, double>> stretches_of(LoadPattern pattern, double expected_s,
                                                    std::mt19937_64& generator) {
  if (pattern == LoadPattern::once) {
    const double from = uniform(generator, 0, 0.7 * expected_s);
    return {{from, from + std::max(1.0, uniform(generator, 0.1, 1) * expected_s)}};
  }
  std::vector<std::pair<double, double>> stretches;
  if (pattern != LoadPattern::bursts) return stretches;
  // Ten times as long as expected: other loads make decisions slow.
  for (double at = 0; at < 10 * expected_s;) {
    const double from = at + uniform(generator, 0.3, 3);
    at = from + uniform(generator, 0.7, 3);
    stretches.emplace_back(from, at);
  }
  return stretches;
}

/// The newest round's folder, "round-003-head"; empty before the first.
std::string newest_round(const fs::path& folder) {
  std::string newest;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("round-")) newest = std::max(newest, name);
  }
  return newest;
}

}  // namespace

LoadControl::LoadControl(const TrialPlan& plan, fs::path program, fs::path rounds,
                         double expected_s)
    : program_(std::move(program)), rounds_folder_(std::move(rounds)), generator_(plan.seed + 1) {
  record_.plan = plan.load.value();
  stretches_ = stretches_of(record_.plan.pattern, expected_s, generator_);
}

double LoadControl::now_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool LoadControl::wanted(double now) {
  if (record_.plan.pattern == LoadPattern::sides || record_.plan.pattern == LoadPattern::head)
    return chosen_;
  return std::ranges::any_of(stretches_, [&](const auto& stretch) {
    return now >= stretch.first && now < stretch.second;
  });
}

void LoadControl::tick() {
  const double now = now_s();
  if (const std::string newest = newest_round(rounds_folder_); newest != round_) {
    round_ = newest;
    beside_round_ = false;
    const bool head = newest.ends_with("-head");
    const bool always = record_.plan.pattern == LoadPattern::head;
    chosen_ = uniform(generator_) < (always ? (head ? 1 : 0) : head ? 0.8 : 0.2);
  }
  if (load_ && load_->try_end())
    throw Error(ExitCode::setup_incomplete,
                program_.string() + " ended by itself: does it run on this GPU?");
  if (wanted(now) && !load_) turn_on(now);
  if (!wanted(now) && load_) turn_off(now);
  if (!load_ || beside_round_ || round_.empty()) return;
  beside_round_ = true;
  ++(round_.ends_with("-head") ? record_.head_rounds : record_.base_rounds);
}

void LoadControl::turn_on(double now) {
  load_ = std::make_unique<ChildProcess>(ChildStart{program_, {"--kind", record_.plan.work}});
  on_since_s_ = now;
}

void LoadControl::turn_off(double now) {
  load_.reset();
  record_.seconds += now - on_since_s_;
}

LoadRecord LoadControl::finish() {
  if (load_) turn_off(now_s());
  return record_;
}

}  // namespace fathom::gate
