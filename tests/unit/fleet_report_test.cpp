#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <random>

#include "fleet/report.h"
#include "tests/unit/planted_cards.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::fleet;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Report of so many GPUs, eight a host, whose names and models follow from their numbers.
class Report {
 public:
  Report(int gpus, const std::function<void(int number, GpuSummary&)>& change) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(1, 0.005);
    FleetBuilder builder;
    for (int i = 0; i < gpus; ++i) {
      GpuSummary gpu = planted_card(static_cast<std::size_t>(i));
      for (auto& figures : gpu.figures) figures.together = noise(random);
      change(i, gpu);
      builder.add(std::move(gpu), "");
    }
    const Fleet fleet = builder.finish({});
    write_fleet_report(fleet, find_outliers(fleet, {}), folder_.path(), {});
  }
  std::string page() const { return file_text(folder_.path() / "README.md"); }

 private:
  TestFolder folder_;
};

const auto as_they_are = [](int, GpuSummary&) {};

}  // namespace

TEST_CASE("Distributions of several kinds of cards are told apart", "[fleet]") {
  const Report report(16, [](int number, GpuSummary& gpu) {
    if (number >= 8) gpu.model = "Other";
  });
  CHECK_THAT(report.page(), ContainsSubstring("Kind 1: GPU") && ContainsSubstring("Kind 2: Other"));
  CHECK_THAT(Report(16, as_they_are).page(), !ContainsSubstring("Kind"));
}
