// `fathom predict` from outside: its answers, its pictures, and what a user can get wrong.

#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

/// `fathom predict` with the words of this line.
CapturedRun predict(Sandbox& box, const std::string& line) {
  return box.fathom(words("predict " + line));
}

/// What a prediction that succeeds prints.
std::string text_of(const std::string& line) {
  Sandbox box({});
  return CapturedRun(expect(0, predict(box, line)).no_errors()).output;
}
Json json_of(const std::string& line) { return Json::parse(text_of(line + " --json")); }

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
  const auto docs = std::filesystem::path(FATHOM_RECORDING_FILE).parent_path() / "../../docs";
  int commands = 0;
  for (const char* page : {"slow-kernel.md", "buyer.md"}) {
    std::istringstream lines(read_text(docs / page));
    std::string printed;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("    fathom predict ")) {
        std::istringstream words(line.substr(line.find("predict")));
        std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
        const CapturedRun run = expect(0, box.fathom(arguments));
        printed = run.output;
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

TEST_CASE("shared draws which lane gets its word from which bank when", "[e2e]") {
  const std::string text = text_of("shared load --stride 8");
  has(text, "bank  0  1  2  3", "\nwavefront  0  0  .  1  .  2", "\nwavefront  1 16  . 17",
      "wavefronts 2  conflicts 1  groups 1  clocks 2", "bank 0 has 2 different words");
  // A word that several lanes get is marked.
  has(text_of("shared --stride 0"), "\nwavefront  0 +0  .", "+n: lane n and others");
  has(text_of("shared --lanes ,"), "wavefronts 0", "No lane is active");
}

TEST_CASE("shared understands every way to name a pattern", "[e2e]") {
  const auto wavefronts = [](const std::string& line) {
    return json_of("shared " + line).at("wavefronts").get<int>();
  };
  CHECK(wavefronts("") == 1);
  CHECK(wavefronts("--bytes 16") == 4);
  CHECK(wavefronts("--bytes 16 --stride 0") == 2);
  CHECK(wavefronts("store --bytes 16 --stride 0") == 4);
  CHECK(wavefronts("--stride 128") == 32);
  CHECK(wavefronts("--stride 0 --base 64") == 1);
  CHECK(wavefronts("--column 3") == 32);
  CHECK(wavefronts("--column 3 --padding 1") == 1);
  CHECK(wavefronts("--column 3 --xor-swizzle") == 1);
  CHECK(wavefronts("--column 3 --row-elements 16 --first 8") == 16);
  CHECK(wavefronts("--row 3") == 1);
  CHECK(wavefronts("--lanes 0,128,,0x100") == 3);
}

TEST_CASE("shared and global say the same in JSON as in the picture", "[e2e]") {
  const Json shared = json_of("shared store --bytes 8 --lanes 0,8");
  CHECK(shared.at("access").at("active_mask") == "00000003");
  CHECK(shared.at("access").at("addresses").at(1) == 8);
  CHECK(shared.at("access").at("addresses").at(2).is_null());
  CHECK(shared.at("conflicts") == 0);
  CHECK(shared.at("clocks") == 2);
  CHECK(shared.at("schedule").size() == 1);
  CHECK(shared.at("schedule").at(0).at("banks").size() == 4);
  CHECK(shared.at("schedule").at(0).at("banks").at(2).at("lanes") == Json::array({1}));

  const Json global = json_of("global store --base 4");
  CHECK(global.at("sectors") == 5);
  CHECK(global.at("lines") == 2);
  CHECK(global.at("requests") == 1);
  CHECK(global.at("touched").at(1).at("sectors").at(0).at("lanes") == Json::array({31}));
  const std::string text = text_of("global store --base 4");
  has(text, "| 0-6", "| 31 ", "sectors 5  lines 2  requests 1");
}

TEST_CASE("global answers for whole kernels", "[e2e]") {
  CHECK(json_of("global --pattern stream --elements 1024").at("loads").at("sectors") == 128);
  const Json member =
      json_of("global store --pattern aos --elements 1000 --struct-bytes 32 --member-bytes 4");
  CHECK(member.at("stores").at("sectors") == 1000);
  CHECK(member.at("stores").at("efficiency") == 0.125);
  const Json naive = json_of("global --pattern transpose --matrix 1024x2048 --naive");
  CHECK(naive.at("loads").at("sectors") == 1024 * 2048 / 8);
  CHECK(naive.at("stores").at("sectors") == 1024 * 2048);
  has(text_of("global --pattern transpose --matrix 1024x2048"), "stores  sectors 262144",
      "100.0 %");
}

TEST_CASE("Patterns in bulk come from a file or standard input", "[e2e]") {
  Sandbox box({});
  const std::string rows = csv_header() + csv_row("load,4", 4) + csv_row("store,8", 128);
  write_text(box.folder() / "rows.csv", rows);
  const CapturedRun shared = expect(0, predict(box, "shared --patterns rows.csv"));
  CHECK(shared.output == "wavefronts,conflicts\n1,0\n32,30\n");
  CHECK(predict(box, "global --patterns rows.csv").output == "sectors,requests\n4,1\n32,1\n");
  CHECK(box.shell("cat rows.csv | $F predict shared --patterns -").output == shared.output);
}

TEST_CASE("A bad row in bulk leaves nothing but the error", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "rows.csv", csv_header() + csv_row("load,4", 4) + csv_row("load,8", 4));
  for (const std::string memory : {"shared", "global"}) {
    const CapturedRun run =
        expect(ExitCode::bad_input, predict(box, memory + " --patterns rows.csv")).no_output();
    CHECK(run.errors ==
          "fathom: rows.csv: row 2 (line 3), column lane1: address 4 is not a multiple of the "
          "access width of 8 bytes.\n");
  }
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
  const CapturedRun run = expect(0, predict(box, memory + " --patterns many.csv"));
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 250'001);
  CHECK(4 * (children_cpu_s() - before) < 2.0);
}
#endif

TEST_CASE("occupancy names the limiter and the next step", "[e2e]") {
  const std::string text = text_of("occupancy --arch 7.5 --threads 256 --registers 72");
  CHECK_THAT(text, StartsWith("sm_75 ") && contains("limited by registers") &&
                       contains("8 registers per thread fewer (72 -> 64) gives 100.0 %"));
  const Json all = json_of(
      "occupancy --threads 128 --registers 40 --shared 60000 --static-shared 1000 --carveout 50");
  CHECK(all.at("architectures").size() == 12);
  CHECK(all.at("architectures").at(0).at("architecture") == "sm_75");
  CHECK(all.at("architectures").at(11).at("architecture") == "sm_121");
  const Json& h200 = all.at("architectures").at(6);
  CHECK(h200.at("blocks_per_sm") == 2);  // 132 KiB of 228, blocks of 62,080 bytes
  CHECK(h200.at("limiter") == "shared memory");
  CHECK(h200.at("shared_bytes_per_block") == 62080);
  for (const std::string spelling : {"90", "9.0", "sm_90", "sm_90a"})
    CHECK(text_of("occupancy --arch " + spelling + " --threads 256 --registers 32") ==
          text_of("occupancy --arch 90 --threads 256 --registers 32"));
}

TEST_CASE("swizzle prints an index to paste", "[e2e]") {
  CHECK_THAT(
      text_of("swizzle"),
      contains("plain: 992 conflicts") &&
          EndsWith("No conflicts with `tile[row * 32 + (column ^ (row & 31))]`, by the model "
                   "of every warp access.\n"));
  const Json operand = json_of(
      "swizzle --rows 64 --row-elements 64 --element-bytes 2 --access store:row:16 --access "
      "load:column:16 --top 2");
  CHECK(operand.at("layouts").size() == 2);
  CHECK(operand.at("layouts").at(0).at("conflicts") == 0);
  CHECK(operand.at("layouts").at(0).at("swizzle").at("bits") == 3);
  CHECK(operand.at("layouts").at(1).at("padding_elements") == 8);
  CHECK(operand.at("plain").at("conflicts") == 448);
}

TEST_CASE("predict waves: a grid and a matrix product", "[e2e]") {
  const std::string grid = "waves --blocks 396 --blocks-per-sm 2 --gpu H200";
  CHECK(text_of(grid) ==
        "396 blocks in waves of 264: 1.5 waves, 2 paid for\n"
        "  the last wave has 132 of 264 blocks\n"
        "  75 % where a wave takes its time however full it is\n");
  CHECK(json_of(grid)["waves"]["efficiency"] == 0.75);

  const std::string timed = "waves --blocks 396 --blocks-per-sm 2 --sms 132 --wave-time 50e-6";
  CHECK(json_of(timed)["seconds"] == 100e-6);

  const std::string product = "waves --gemm 257 256 64 --sms 4";
  has(text_of(product), "3 x 2 tiles, 2 k steps each");
  const Json answer = json_of(product);
  CHECK(answer["prediction"]["blocks"] == 6);
  CHECK(answer["prediction"]["relative_time"] == 4);

  const std::string clusters = product + " --cluster 2 1";
  has(text_of(clusters), "clusters of 2 x 1: 4 x 2 tiles, 2 k steps each");
  CHECK(json_of(clusters)["prediction"]["blocks"] == 8);
}

TEST_CASE("predict roofline: from the data sheet and from a recording", "[e2e]") {
  const std::string sheet = "roofline --gpu H200 --flops 1G --bytes 48GB";
  CHECK_THAT(text_of(sheet), StartsWith("H200, from its data sheet\n") &&
                                 contains("at least 10 ms, bound by DRAM"));
  const Json from_sheet = json_of(sheet);
  CHECK(from_sheet["source"] == "data sheet");
  CHECK(from_sheet["prediction"]["seconds"] == 0.01);
  CHECK(from_sheet["prediction"]["bound_by"] == "DRAM");
  CHECK(from_sheet["ceilings"][0]["origin"] == "data sheet");

  const Json measured =
      json_of("roofline --result " FATHOM_RECORDING_FILE " --bytes 48GB --precision bf16");
  CHECK(measured["source"] == "measured");
  CHECK(measured["ceilings"][0]["origin"] == "measured");
  CHECK(measured["ceilings"][1]["origin"] == "data sheet");  // it measured no matrix product
  CHECK(measured["prediction"]["seconds"] > 0.01);
  // Without a kernel there are ceilings and ridge points.
  CHECK(json_of("roofline --gpu H200")["prediction"].is_null());
}

TEST_CASE("predict transformer: a shape, a GPU and the table of GPUs", "[e2e]") {
  const std::string words =
      "transformer --layers 32 --hidden 4096 --heads 32 --kv-heads 8 --vocab 128256 --intermediate "
      "14336 --gpu H200";
  CHECK_THAT(text_of(words),
             StartsWith("Model of 8,030,261,248 parameters\n") &&
                 contains("16.06 GB  bf16") &&
                 contains("131,072 B a token, for 1 sequence of 4096 tokens") &&
                 contains("one GPU can hold it"));
  const Json answer = json_of(words);
  CHECK(answer["model"]["parameters"] == 8030261248);
  CHECK(answer["memory"]["kv_cache"] == 536870912);
  CHECK(answer["gpu"]["name"] == "H200");
  CHECK(answer["gpu"]["bandwidth"]["origin"] == "data sheet");
  const double multiplied = 8030261248.0 - 128256.0 * 4096;
  CHECK(answer["gpu"]["bounds"]["decode"]["seconds"].get<double>() ==
        Approx((2 * multiplied + 536870912) / 4.8e12));
  REQUIRE(answer["table"].size() == 14);
  CHECK(answer["table"][0]["gpu"] == "T4");
  CHECK(answer["table"][0]["gpus_needed"] == 2);
  CHECK(answer["table"][0]["precision"] == "fp16");  // it has no bf16
}

TEST_CASE("predict transformer: a size alone, measured bandwidth, a config", "[e2e]") {
  Sandbox box({});
  const Json size =
      json_of("transformer --params 70B --weights fp8 --result " FATHOM_RECORDING_FILE);
  CHECK(size["memory"]["weights"] == 70e9);
  CHECK(size["memory"]["kv_cache"].is_null());
  CHECK(size["gpu"]["source"] == "measured");
  CHECK(size["gpu"]["bandwidth"]["origin"] == "measured");
  CHECK(size["gpu"]["bounds"]["decode"]["seconds"].get<double>() ==
        Approx(70e9 / size["gpu"]["bandwidth"]["value"].get<double>()));

  write_text(box.folder() / "config.json",
             R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
                 "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8,
                 "vocab_size": 128256})");
  const CapturedRun run = expect(
      0,
      predict(box, "transformer --config config.json --gpu H200 --gpus 2 --context 8192 --json"));
  const Json two = Json::parse(run.output);
  CHECK(two["model"]["parameters"] == 70553706496);
  CHECK(two["gpu"]["fits"] == true);
  CHECK(two["gpu"]["gpus_needed"] == 2);
  CHECK(two["gpu"]["bounds"]["decode"]["communication_seconds"].get<double>() > 0);
}

TEST_CASE("Every prediction has help with examples", "[e2e]") {
  const std::string name =
      GENERATE("shared", "global", "occupancy", "swizzle", "waves", "roofline", "transformer");
  const std::string help = text_of(name + " --help");
  has(help, "Examples:", "fathom predict " + name + " ", "--json");
  has(text_of(""), "  " + name + " ");
  CHECK(text_of("") == text_of("--help"));
}

TEST_CASE("A wrong prediction is refused in one sentence", "[e2e]") {
  const auto mistake = GENERATE(values<Mistake>(
      {{"shraed", "Did you mean `shared`?"},
       {"xyzzy", "fathom predict --help"},
       {"--jsn", "no flag --jsn"},
       {"shared lod", "did you mean `load`?"},
       {"shared --strid 3", "Did you mean `--stride`?"},
       {"shared load store", "`store`"},
       {"shared --bytes 3", "1, 2, 4, 8, 16"},
       {"shared --stride -4", "--stride"},
       {"shared --stride 6", "Lane 1: address 6 is not a multiple"},
       {"shared --base 233472", "Lane 0: address 233472 lies outside"},
       {"shared --stride 8 --lanes 0", "excludes"},
       {"shared --column 32", "32 columns"},
       {"shared --column 0 --row-elements 24 --xor-swizzle", "power of two"},
       {"shared --padding 1", "--column or --row"},
       {"shared --lanes 0,four", "`four` for lane 1"},
       {"shared --lanes " + std::string(32, ','), "lane 32 does not exist"},
       {"shared --patterns absent.csv", "absent.csv cannot be read"},
       {"shared --patterns ''", "--patterns: it is empty"},
       {"shared --patterns - --json", "excludes"},
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
       {"swizzle --access move:row:4", "OP:ORDER:BYTES"},
       {"swizzle --access load:5x4:4", "OP:ORDER:BYTES"},
       {"swizzle --access load:row:four", "OP:ORDER:BYTES"},
       {"swizzle --access load:row:2", "at least an element's 4"},
       {"swizzle --rows 100000", "largest shared memory"},
       {"swizzle --element-bytes 3", "1, 2, 4, 8, 16"},
       {"roofline", "--gpu"},
       {"roofline --gpu H20", "Did you mean `H200`?"},
       {"roofline --gpu H200 --result x", "excludes"},
       {"roofline --result none.json", "none.json"},
       {"roofline --gpu T4 --precision fp8", "no units"},
       {"roofline --gpu H200 --flops nan", "nan"},
       {"roofline --gpu H200 --bytes -1", "-1"},
       {"roofline --gpu H200 --bytes 0", "no byte"},
       {"roofline --gpu H200 --precison bf16", "--precision"},
       {"waves", "--blocks"},
       {"waves --blocks 5", "--sms"},
       {"waves --blocks 0 --sms 3", "--blocks"},
       {"waves --gemm 1 2 --sms 3", "--gemm"},
       {"waves --blocks 5 --sms 3 --tile 1 2 3", "--tile"},
       {"waves --blocks 5 --sms 3 --cluster 2 1", "--cluster"},
       {"waves --gemm 1 2 3 --sms 4 --cluster 0 1", "--cluster"},
       {"waves --blocks 5 --sms 3 --cost latency", "--wave-time"},
       {"waves --blocks 5 --sms 3 --gpu H200", "--sms"},
       {"roofline --gpu H200 --flops 137B --bytes 1G", "137B"},
       {"transformer --layers 2 --hidden 64 --heads 4294967296 --vocab 10 --gpu H200",
        "number of heads"},
       {"waves --gemm 1 2 3 --sms 4 --split-k 9", "split"},
       {"transformer", "--params"},
       {"transformer --params 0", "--params"},
       {"transformer --params 7B --layers 3", "excludes"},
       {"transformer --params 7B --active 8B", "active"},
       {"transformer --layers 3", "hidden size"},
       {"transformer --params 7B --weights fp4", "--weights"},
       {"transformer --params 7B --prompt 9 --context 8", "prompt"}}));
  Sandbox box({});
  expect(ExitCode::bad_input, predict(box, mistake.line))
      .by_fathom()
      .complains(mistake.said)
      .is_one_sentence();
}

}  // namespace
}  // namespace fathom
