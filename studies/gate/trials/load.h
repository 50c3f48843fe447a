#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tools/child_process.h"
#include "studies/gate/trials/journal.h"

namespace fathom::gate {

/// Starts and ends another load beside a decision, as its plan has it.
class LoadControl {
 public:
  /// `rounds` is the folder in which the decision's rounds appear as they begin; `expected_s` about
  /// how long it takes.
  LoadControl(const TrialPlan& plan, std::filesystem::path program, std::filesystem::path rounds,
              double expected_s);
  /// To be called often. Throws Error(setup_incomplete) for a load that ended by itself.
  void tick();
  /// Ends the load.
  LoadRecord finish();

 private:
  bool wanted(double now_s);
  void turn_on(double now_s);
  void turn_off(double now_s);
  double now_s() const;

  LoadRecord record_;
  std::filesystem::path program_, rounds_folder_;
  std::mt19937_64 generator_;
  std::vector<std::pair<double, double>> stretches_;  ///< of the patterns that go by time
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::unique_ptr<ChildProcess> load_;
  double on_since_s_ = 0;
  std::string round_;          ///< the newest
  bool beside_round_ = false;  ///< whether the load was on in it
  bool chosen_ = false;        ///< of the patterns that go by side: whether it shall run in it
};

}  // namespace fathom::gate
