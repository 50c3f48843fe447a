#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "fleet/report.h"
#include "reports/plot.h"
#include "tests/unit/fleet_folder.h"

using namespace fathom;
using namespace fathom::fleet;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Report of so many GPUs, eight a host, whose names and models follow from their numbers.
class Report {
 public:
  Report(int gpus, const std::function<void(int number, GpuSummary&)>& change) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(1, 0.005);
    FleetBuilder builder;
    for (int i = 0; i < gpus; ++i) {
      GpuSummary gpu;
      gpu.host = "node" + std::to_string(i / 8);
      gpu.gpu = i % 8;
      gpu.uuid_hash = std::to_string(i);
      gpu.model = "GPU";
      gpu.names = {{"copy/best", "B/s", Better::higher}, {"launch/time", "s", Better::lower}};
      gpu.figures.resize(2);
      for (auto& figures : gpu.figures) figures.together = noise(random);
      change(i, gpu);
      builder.add(std::move(gpu), "");
    }
    const Fleet fleet = builder.finish({});
    write_fleet_report(fleet, find_outliers(fleet, {}), folder_.path(), {});
  }
  std::string page() const { return text_of(folder_.path() / "README.md"); }
  std::string picture(const std::string& stem) const {
    return text_of(folder_.path() / (stem + "-light.svg"));
  }

 private:
  FleetFolderForTest folder_;
};

const auto as_they_are = [](int, GpuSummary&) {};

}  // namespace

TEST_CASE("Of a single host the heat map's rows are its cards", "[fleet]") {
  const Report one(8, as_they_are), two(16, as_they_are);
  CHECK_THAT(one.page(), ContainsSubstring("| Card | Worst family |"));
  CHECK_THAT(two.page(), ContainsSubstring("| Host | Worst family |"));
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  CHECK_THAT(one.picture("hosts"), ContainsSubstring("GPU 7"));
  CHECK_THAT(two.picture("hosts"), ContainsSubstring("node1") && !ContainsSubstring("GPU 7"));
}

TEST_CASE("Long names of hosts are told apart in the heat map", "[fleet]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const Report ends(
      24, [](int, GpuSummary& gpu) { gpu.host = "gpu-cluster-a-" + gpu.host + ".example.org"; });
  for (const char* end : {"…uster-a-node0", "…uster-a-node1", "…uster-a-node2"})
    CHECK_THAT(ends.picture("hosts"), ContainsSubstring(end));
  CHECK_THAT(ends.page(), ContainsSubstring("| gpu-cluster-a-node2.example.org |"));
  // Alike in all that there is room for.
  const Report domains(16, [](int number, GpuSummary& gpu) {
    gpu.host = "node." + std::string(number < 8 ? "a" : "b") + ".example.org";
  });
  CHECK_THAT(domains.picture("hosts"), ContainsSubstring("row 1") && ContainsSubstring("row 2"));
}

TEST_CASE("A distribution says best and worst where cards are too few for a share", "[fleet]") {
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  const std::string few = Report(8, as_they_are).picture("distributions");
  CHECK_THAT(few, ContainsSubstring(">best<") && ContainsSubstring(">worst<") &&
                      ContainsSubstring(">75<") && !ContainsSubstring(">99.9<"));
  const std::string many = Report(1200, as_they_are).picture("distributions");
  CHECK_THAT(many, ContainsSubstring(">0.1<") && ContainsSubstring(">99.9<") &&
                       !ContainsSubstring(">worst<"));
}

TEST_CASE("Distributions of several kinds of cards are told apart", "[fleet]") {
  const Report report(16, [](int number, GpuSummary& gpu) {
    if (number >= 8) gpu.model = "Other";
  });
  CHECK_THAT(report.page(), ContainsSubstring("Kind 1: GPU") && ContainsSubstring("Kind 2: Other"));
  CHECK_THAT(Report(16, as_they_are).page(), !ContainsSubstring("Kind"));
  if (const auto problem = gnuplot_problem(); !problem.empty()) SKIP(problem);
  CHECK_THAT(report.picture("distributions"),
             ContainsSubstring("kind 1: copy/best") && ContainsSubstring("kind 2: copy/best"));
}
