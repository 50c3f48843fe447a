// `fathom predict` beyond what its session has (tests/golden/sessions/predictions.txt): the pages
// that quote it, and large input.

#include "sandbox.h"

namespace fathom {
namespace {

const auto repository = std::filesystem::path(FATHOM_RECORDING_FILE).parent_path() / "../..";

/// What a prediction that succeeds prints.
std::string text_of(Sandbox& box, const std::string& line) {
  return CapturedRun(expect(0, box.call("predict " + line)).no_errors()).output;
}

std::string csv_header() {
  std::string text = "op,bytes";
  for (int lane = 0; lane < 32; ++lane) text += ",lane" + std::to_string(lane);
  return text + "\n";
}

/// Lane i at i * stride.
std::string csv_row(const std::string& begin, int stride) {
  std::string text = begin;
  for (int lane = 0; lane < 32; ++lane) text += "," + std::to_string(lane * stride);
  return text + "\n";
}

TEST_CASE("The pages for readers show what predict prints", "[e2e]") {
  Sandbox box({});
  int commands = 0;
  for (const char* page : {"slow-kernel.md", "card-check.md"}) {
    std::string printed;
    bool inside = false;
    for (const std::string& line : lines_of(file_text(repository / "docs" / page))) {
      if (line.starts_with("    fathom predict ")) {
        printed = text_of(box, line.substr(line.find("predict") + 8));
        ++commands;
      } else if (line.starts_with("```")) {
        inside = !inside;
      } else if (inside && line != "…") {
        CAPTURE(page);
        has(printed, line);
      }
    }
  }
  CHECK(commands >= 7);
}

#ifdef NDEBUG
TEST_CASE("A million patterns take under two seconds of one core", "[e2e]") {
  // A quarter of a million, of every width, conflicts and inactive lanes; by processor time, which
  // a busy machine does not lengthen.
  std::string block;
  for (int i = 0; i < 100; ++i) {
    const int bytes = 1 << i % 5;
    block +=
        csv_row((i % 2 == 0 ? "load," : "store,") + std::to_string(bytes), bytes * (i * 37 % 101));
    const auto hole = block.rfind(',', block.size() - static_cast<std::size_t>(i) - 10);
    block.erase(hole + 1, block.find_first_of(",\n", hole + 1) - hole - 1);
  }
  Sandbox box({});
  std::string rows = csv_header();
  for (int i = 0; i < 2500; ++i) rows += block;
  write_text(box.folder() / "many.csv", rows);
  const std::string memory = GENERATE("shared", "global");
  const double before = children_cpu_s();
  CHECK(std::ranges::count(text_of(box, memory + " --patterns many.csv"), '\n') == 250'001);
  CHECK(4 * (children_cpu_s() - before) < 2.0);
}
#endif

TEST_CASE("A wrong access as long as an argument can be is refused like any other", "[e2e]") {
  refused(ExitCode::bad_input,
          Sandbox({}).call("predict swizzle --access load:row:" + std::string(120000, '4')),
          "OP:ORDER:BYTES");
}

}  // namespace
}  // namespace fathom
