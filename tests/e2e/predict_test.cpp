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
  std::string all;
  for (const std::string line :
       {"shared load --stride 8",
        "shared --stride 0",
        "shared --lanes ,",
        "shared store --bytes 8 --lanes 0,8 --json",
        "global store --base 4",
        "global store --base 4 --json",
        "global --pattern stream --elements 1024",
        "global store --pattern aos --elements 1000 --struct-bytes 32 --member-bytes 4",
        "global --pattern transpose --matrix 1024x2048",
        "global --pattern transpose --matrix 1024x2048 --naive --json",
        "occupancy --arch 7.5 --threads 256 --registers 72",
        "occupancy --arch 90 --threads 256 --registers 32 --json",
        "occupancy --threads 128 --registers 40 --shared 60000 --static-shared 1000 --carveout 50",
        "swizzle",
        "swizzle --rows 64 --row-elements 64 --element-bytes 2 --access store:row:16 --access "
        "load:column:16 --top 2 --json",
        "waves --blocks 396 --blocks-per-sm 2 --gpu H200",
        "waves --blocks 396 --blocks-per-sm 2 --sms 132 --wave-time 50e-6 --json",
        "waves --gemm 257 256 64 --sms 4",
        "waves --gemm 257 256 64 --sms 4 --cluster 2 1 --json",
        "roofline --gpu H200 --flops 1G --bytes 48GB",
        "roofline --gpu H200 --json",
        "roofline --result result.json --bytes 48GB --precision bf16 --json",
        "transformer --layers 32 --hidden 4096 --heads 32 --kv-heads 8 --vocab 128256 "
        "--intermediate 14336 --context 8192 --prompt 1024 --batch 2 --gpu H200",
        "transformer --params 70B --weights fp8 --result result.json",
        "transformer --config config.json --gpu H200 --gpus 2 --context 8192"})
    all += "$ fathom predict " + line + "\n" + text_of(box, line);
  check_golden(repository / "tests/golden/predictions.txt", all);
  const Json shape = Json::parse(text_of(box, "transformer --config config.json --json"));
  CHECK(shape["model"]["parameters"] == 70553706496);
  CHECK(shape["table"].size() == 14);
  for (const std::string spelling : {"9.0", "sm_90", "sm_90a"})
    CHECK(text_of(box, "occupancy --threads 256 --registers 32 --arch " + spelling) ==
          text_of(box, "occupancy --threads 256 --registers 32 --arch 90"));
}

TEST_CASE("A wrong prediction is refused in one sentence", "[e2e]") {
  const auto mistake = GENERATE(values<Mistake>(
      {{"shraed", "Did you mean `shared`?"},
       {"xyzzy", "fathom predict --help"},
       {"shared lod", "did you mean `load`?"},
       {"shared load store", "`store`"},
       {"shared --stride -4", "--stride"},
       {"shared --stride 6", "Lane 1: address 6 is not a multiple"},
       {"shared --stride 8 --lanes 0", "excludes"},
       {"shared --column 32", "32 columns"},
       {"shared --padding 1", "--column or --row"},
       {"shared --lanes 0,four", "lane 1: `four`"},
       {"shared --lanes " + std::string(32, ','), "lane 32 does not exist"},
       {"shared --patterns ''", "--patterns: it is empty"},
       {"shared --patterns p --json", "excludes"},
       {"global --pattern aso", "did you mean `aos`?"},
       {"global --pattern stream", "needs --elements"},
       {"global --pattern aos --elements 3", "needs --struct-bytes"},
       {"global --pattern transpose", "needs --matrix"},
       {"global --pattern transpose --matrix 4by4", "ROWSxCOLUMNS"},
       {"global --pattern stream --elements 3 --tile 8", "--tile is for --pattern transpose"},
       {"global --elements 3", "--pattern"},
       {"global --pattern stream --lanes 0", "excludes"},
       {"occupancy", "is required"},
       {"occupancy --threads 0 --registers 1", "from 1 to"},
       {"occupancy --threads 1 --registers 1 --arch sm_91", "sm_90"},
       {"occupancy --threads 1 --registers 1 --carveout 101", "to 100"},
       {"occupancy --threads 1 --registers 1 --static-shared 49153", "49152"},
       {"swizzle --access load:column", "`load:column` is not OP:ORDER:BYTES"},
       {"swizzle --access load:row:" + std::string(120000, '4'), "OP:ORDER:BYTES"},
       {"swizzle --access load:5x4:4", "OP:ORDER:BYTES"},
       {"swizzle --access load:row:2", "at least an element's 4"},
       {"roofline", "--gpu"},
       {"roofline --gpu H20", "Did you mean `H200`?"},
       {"roofline --gpu H200 --result x", "excludes"},
       {"roofline --result none.json", "none.json"},
       {"roofline --gpu T4 --precision fp8", "no units"},
       {"waves", "--blocks"},
       {"waves --blocks 5", "--sms"},
       {"waves --blocks 5 --sms 3 --tile 1 2 3", "--tile"},
       {"waves --blocks 5 --sms 3 --cluster 2 1", "--cluster"},
       {"waves --blocks 5 --sms 3 --cost latency", "--wave-time"},
       {"waves --blocks 5 --sms 3 --gpu H200", "--sms"},
       {"roofline --gpu H200 --flops 137B --bytes 1G", "137B"},
       {"transformer --layers 2 --hidden 64 --heads 4294967296 --vocab 10 --gpu H200",
        "number of heads"},
       {"transformer", "--params"},
       {"transformer --params 7B --layers 3", "excludes"},
       {"transformer --params 7B --active 8B", "active"},
       {"transformer --params 7B --weights fp4", "--weights"},
       {"transformer --params 7B --prompt 9 --context 8", "prompt"}}));
  Sandbox box({});
  refused(ExitCode::bad_input, box.call("predict " + mistake.line), mistake.said);
}

}  // namespace
}  // namespace fathom
