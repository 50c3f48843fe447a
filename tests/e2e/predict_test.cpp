// `fathom predict` from outside: its answers, its pictures, and what a user can get wrong.

#include <nlohmann/json.hpp>

#include "sandbox.h"
#include "tests/golden/golden.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

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

TEST_CASE("shared understands every way to name a pattern", "[e2e]") {
  Sandbox box({});
  for (const auto& [pattern, wavefronts] : {std::pair{"", 1},
                                            {"--bytes 16", 4},
                                            {"--bytes 16 --stride 0", 2},
                                            {"store --bytes 16 --stride 0", 4},
                                            {"--stride 128", 32},
                                            {"--stride 0 --base 64", 1},
                                            {"--column 3", 32},
                                            {"--column 3 --padding 1", 1},
                                            {"--column 3 --xor-swizzle", 1},
                                            {"--column 3 --row-elements 16 --first 8", 16},
                                            {"--row 3", 1},
                                            {"--lanes 0,128,,0x100", 3}}) {
    CAPTURE(pattern);
    const Json answer = Json::parse(text_of(box, std::string("shared --json ") + pattern));
    CHECK(answer.at("wavefronts") == wavefronts);
  }
}

TEST_CASE("Patterns in bulk come from a file, and a bad row ends them", "[e2e]") {
  Sandbox box({});
  const std::string good = csv_header() + csv_row("load,4", 4);
  write_text(box.folder() / "rows.csv", good + csv_row("store,8", 128));
  const std::string shared = "wavefronts,conflicts\n1,0\n32,30\n";
  CHECK(text_of(box, "shared --patterns rows.csv") == shared);
  CHECK(text_of(box, "global --patterns rows.csv") == "sectors,requests\n4,1\n32,1\n");
  CHECK(box.shell("cat rows.csv | $F predict shared --patterns /dev/stdin").output == shared);
  write_text(box.folder() / "bad.csv", good + csv_row("load,8", 4));
  refused(ExitCode::bad_input, box.call("predict global --patterns bad.csv"),
          "bad.csv: row 2 (line 3), column lane1: address 4 is not a multiple");
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

TEST_CASE("Predictions are what they were, as text and as JSON", "[e2e]") {
  Sandbox box({});
  std::filesystem::copy(FATHOM_RECORDING_FILE, box.folder() / "result.json");
  write_text(box.folder() / "config.json",
             R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
                 "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8,
                 "vocab_size": 128256})");
  CHECK(check_answers(repository / "tests/golden/predictions.txt", "fathom predict",
                      [&](const std::string& line) { return text_of(box, line); }) == 25);
  const Json shape = Json::parse(text_of(box, "transformer --config config.json --json"));
  CHECK(shape["model"]["parameters"] == 70553706496);
  CHECK(shape["table"].size() == 14);
  for (const std::string spelling : {"9.0", "sm_90", "sm_90a"})
    CHECK(text_of(box, "occupancy --threads 256 --registers 32 --arch " + spelling) ==
          text_of(box, "occupancy --threads 256 --registers 32 --arch 90"));
}

TEST_CASE("A wrong access as long as an argument can be is refused like any other", "[e2e]") {
  refused(ExitCode::bad_input,
          Sandbox({}).call("predict swizzle --access load:row:" + std::string(120000, '4')),
          "OP:ORDER:BYTES");
}

}  // namespace
}  // namespace fathom
