// `fathom predict` from outside: its answers, its pictures, and what a user can get wrong.

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "predict_runs.h"
#include "results/exit_codes.h"

namespace fathom {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;

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
        const auto run = box.fathom(arguments);
        REQUIRE(code(run) == 0);
        printed = run.output;
        ++commands;
      } else if (line.starts_with("```")) {
        inside = !inside;
      } else if (inside && line != "…") {
        CAPTURE(page);
        CHECK_THAT(printed, ContainsSubstring(line));
      }
    }
  }
  CHECK(commands >= 7);
}

TEST_CASE("shared draws which lane gets its word from which bank when", "[e2e]") {
  const std::string text = text_of({"shared", "load", "--stride", "8"});
  CHECK_THAT(text, ContainsSubstring("bank  0  1  2  3") &&
                       ContainsSubstring("\nwavefront  0  0  .  1  .  2") &&
                       ContainsSubstring("\nwavefront  1 16  . 17") &&
                       ContainsSubstring("wavefronts 2  conflicts 1  groups 1  clocks 2") &&
                       ContainsSubstring("bank 0 has 2 different words"));
  // A word that several lanes get is marked.
  CHECK_THAT(text_of({"shared", "--broadcast"}), ContainsSubstring("\nwavefront  0 +0  .") &&
                                                     ContainsSubstring("+n: lane n and others"));
  CHECK_THAT(text_of({"shared", "--active-mask", "0"}),
             ContainsSubstring("wavefronts 0") && ContainsSubstring("No lane is active"));
}

TEST_CASE("shared understands every way to name a pattern", "[e2e]") {
  const auto wavefronts = [](Words arguments) {
    arguments.insert(arguments.begin(), "shared");
    return json_of(std::move(arguments)).at("wavefronts").get<int>();
  };
  CHECK(wavefronts({}) == 1);
  CHECK(wavefronts({"--bytes", "16"}) == 4);
  CHECK(wavefronts({"--bytes", "16", "--broadcast"}) == 2);
  CHECK(wavefronts({"store", "--bytes", "16", "--broadcast"}) == 4);
  CHECK(wavefronts({"--stride", "128"}) == 32);
  CHECK(wavefronts({"--stride", "0", "--base", "64"}) == 1);
  CHECK(wavefronts({"--column", "3"}) == 32);
  CHECK(wavefronts({"--column", "3", "--padding", "1"}) == 1);
  CHECK(wavefronts({"--column", "3", "--xor-swizzle"}) == 1);
  CHECK(wavefronts({"--column", "3", "--row-elements", "16", "--first", "8"}) == 16);
  CHECK(wavefronts({"--row", "3"}) == 1);
  CHECK(wavefronts({"--lanes", "0,128,,0x100"}) == 3);
  CHECK(wavefronts({"--lanes", "0,128,,0x100", "--active-mask", "0xB"}) == 3);
  CHECK(wavefronts({"--stride", "128", "--active", "0-3,31"}) == 5);
  CHECK(wavefronts({"--stride", "128", "--active-mask", "f"}) == 4);
}

TEST_CASE("shared and global say the same in JSON as in the picture", "[e2e]") {
  const Json shared = json_of({"shared", "store", "--bytes", "8", "--active", "0,1"});
  CHECK(shared.at("access").at("active_mask") == "00000003");
  CHECK(shared.at("access").at("addresses").at(1) == 8);
  CHECK(shared.at("access").at("addresses").at(2).is_null());
  CHECK(shared.at("conflicts") == 0);
  CHECK(shared.at("clocks") == 2);
  CHECK(shared.at("schedule").size() == 1);
  CHECK(shared.at("schedule").at(0).at("banks").size() == 4);
  CHECK(shared.at("schedule").at(0).at("banks").at(2).at("lanes") == Json::array({1}));

  const Json global = json_of({"global", "store", "--base", "4"});
  CHECK(global.at("sectors") == 5);
  CHECK(global.at("lines") == 2);
  CHECK(global.at("requests") == 1);
  CHECK(global.at("touched").at(1).at("sectors").at(0).at("lanes") == Json::array({31}));
  const std::string text = text_of({"global", "store", "--base", "4"});
  CHECK_THAT(text, ContainsSubstring("| 0-6") && ContainsSubstring("| 31 ") &&
                       ContainsSubstring("sectors 5  lines 2  requests 1"));
}

TEST_CASE("global answers for whole kernels", "[e2e]") {
  CHECK(
      json_of({"global", "--pattern", "stream", "--elements", "1024"}).at("loads").at("sectors") ==
      128);
  const Json member = json_of({"global", "store", "--pattern", "aos", "--elements", "1000",
                               "--struct-bytes", "32", "--member-bytes", "4"});
  CHECK(member.at("stores").at("sectors") == 1000);
  CHECK(member.at("stores").at("efficiency") == 0.125);
  const Json naive =
      json_of({"global", "--pattern", "transpose", "--matrix", "1024x2048", "--naive"});
  CHECK(naive.at("loads").at("sectors") == 1024 * 2048 / 8);
  CHECK(naive.at("stores").at("sectors") == 1024 * 2048);
  CHECK_THAT(text_of({"global", "--pattern", "transpose", "--matrix", "1024x2048"}),
             ContainsSubstring("stores  sectors 262144") && ContainsSubstring("100.0 %"));
}

TEST_CASE("Patterns in bulk come from a file or standard input", "[e2e]") {
  Sandbox box({});
  const std::string rows = csv_header() + csv_row("load,4", 4) + csv_row("store,8", 128);
  write_text(box.folder() / "rows.csv", rows);
  const auto shared = predict(box, {"shared", "--patterns", "rows.csv"});
  CHECK(code(shared) == 0);
  CHECK(shared.output == "wavefronts,conflicts\n1,0\n32,30\n");
  const auto global = predict(box, {"global", "--patterns", "rows.csv"});
  CHECK(global.output == "sectors,requests\n4,1\n32,1\n");
  const auto piped = run_and_capture("/bin/sh",
                                     {"-c", "cat \"$1\" | \"$2\" predict shared --patterns -", "sh",
                                      (box.folder() / "rows.csv").string(), FATHOM_PROGRAM},
                                     std::chrono::seconds(60));
  CHECK(piped.output == shared.output);
}

TEST_CASE("A bad row in bulk leaves nothing but the error", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "rows.csv", csv_header() + csv_row("load,4", 4) + csv_row("load,8", 4));
  for (const std::string memory : {"shared", "global"}) {
    const auto run = predict(box, {memory, "--patterns", "rows.csv"});
    CHECK(code(run) == to_int(ExitCode::bad_input));
    CHECK(run.output.empty());
    CHECK(run.errors ==
          "fathom: rows.csv: row 2 (line 3), column lane1: address 4 is not a multiple of the "
          "access width of 8 bytes.\n");
  }
}

TEST_CASE("An answer that cannot be written is an error", "[e2e]") {
  Sandbox box({});
  write_text(box.folder() / "rows.csv", csv_header() + csv_row("load,4", 4));
  const auto run = run_and_capture("/bin/sh",
                                   {"-c", "\"$2\" predict shared --patterns \"$1\" > /dev/full",
                                    "sh", (box.folder() / "rows.csv").string(), FATHOM_PROGRAM},
                                   std::chrono::seconds(60));
  CHECK(code(run) == to_int(ExitCode::output_full));
  CHECK_THAT(run.errors, StartsWith("fathom: The answer could not be written to standard output"));
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
  const auto seconds = [] {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  const double before = seconds();
  const auto run = predict(box, {memory, "--patterns", "many.csv"});
  CHECK(code(run) == 0);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 250'001);
  CHECK(4 * (seconds() - before) < 2.0);
}
#endif

TEST_CASE("occupancy names the limiter and the next step", "[e2e]") {
  const std::string text =
      text_of({"occupancy", "--arch", "7.5", "--threads", "256", "--registers", "72"});
  CHECK_THAT(text, StartsWith("sm_75 ") && ContainsSubstring("limited by registers") &&
                       ContainsSubstring("8 registers per thread fewer (72 -> 64) gives 100.0 %"));
  const Json all = json_of({"occupancy", "--threads", "128", "--registers", "40", "--shared",
                            "60000", "--static-shared", "1000", "--carveout", "50"});
  CHECK(all.at("architectures").size() == 12);
  CHECK(all.at("architectures").at(0).at("architecture") == "sm_75");
  CHECK(all.at("architectures").at(11).at("architecture") == "sm_121");
  const Json& h200 = all.at("architectures").at(6);
  CHECK(h200.at("blocks_per_sm") == 2);  // 132 KiB of 228, blocks of 62,080 bytes
  CHECK(h200.at("limiter") == "shared memory");
  CHECK(h200.at("shared_bytes_per_block") == 62080);
  for (const std::string spelling : {"90", "9.0", "sm_90", "sm_90a"})
    CHECK(text_of({"occupancy", "--arch", spelling, "--threads", "256", "--registers", "32"}) ==
          text_of({"occupancy", "--arch", "90", "--threads", "256", "--registers", "32"}));
}

TEST_CASE("swizzle prints an index to paste", "[e2e]") {
  CHECK_THAT(
      text_of({"swizzle"}),
      ContainsSubstring("plain: 992 conflicts") &&
          EndsWith("No conflicts with `tile[row * 32 + (column ^ (row & 31))]`, by the model "
                   "of every warp access.\n"));
  const Json operand =
      json_of({"swizzle", "--rows", "64", "--row-elements", "64", "--element-bytes", "2",
               "--access", "store:row:16", "--access", "load:column:16", "--top", "2"});
  CHECK(operand.at("layouts").size() == 2);
  CHECK(operand.at("layouts").at(0).at("conflicts") == 0);
  CHECK(operand.at("layouts").at(0).at("swizzle").at("bits") == 3);
  CHECK(operand.at("layouts").at(1).at("padding_elements") == 8);
  CHECK(operand.at("plain").at("conflicts") == 448);
}

TEST_CASE("Every prediction has help with examples", "[e2e]") {
  const std::string name =
      GENERATE("shared", "global", "occupancy", "swizzle", "waves", "roofline", "transformer");
  const std::string help = text_of({name, "--help"});
  CHECK_THAT(help, ContainsSubstring("Examples:") &&
                       ContainsSubstring("fathom predict " + name + " ") &&
                       ContainsSubstring("--json"));
  CHECK_THAT(text_of({}), ContainsSubstring("  " + name + " "));
  CHECK(text_of({}) == text_of({"--help"}));
}

struct Mistake {
  Words arguments;
  const char* said;
};

TEST_CASE("A wrong prediction is refused in one sentence", "[e2e]") {
  const auto mistake = GENERATE(
      Mistake{{"shraed"}, "Did you mean `shared`?"}, Mistake{{"xyzzy"}, "fathom predict --help"},
      Mistake{{"--jsn"}, "no flag --jsn"}, Mistake{{"shared", "lod"}, "did you mean `load`?"},
      Mistake{{"shared", "--strid", "3"}, "Did you mean `--stride`?"},
      Mistake{{"shared", "load", "store"}, "`store`"},
      Mistake{{"shared", "--bytes", "3"}, "1, 2, 4, 8, 16"},
      Mistake{{"shared", "--stride", "-4"}, "--stride"},
      Mistake{{"shared", "--stride", "6"}, "Lane 1: address 6 is not a multiple"},
      Mistake{{"shared", "--base", "233472"}, "Lane 0: address 233472 lies outside"},
      Mistake{{"shared", "--stride", "8", "--lanes", "0"}, "excludes"},
      Mistake{{"shared", "--column", "32"}, "32 columns"},
      Mistake{{"shared", "--column", "0", "--row-elements", "24", "--xor-swizzle"}, "power of two"},
      Mistake{{"shared", "--padding", "1"}, "--column or --row"},
      Mistake{{"shared", "--lanes", "0,four"}, "`four` for lane 1"},
      Mistake{{"shared", "--lanes", std::string(32, ',')}, "lane 32 does not exist"},
      Mistake{{"shared", "--active", "0-32"}, "no lane 32"},
      Mistake{{"shared", "--active", "5-3"}, "backwards"},
      Mistake{{"shared", "--active", "a"}, "no list of lanes"},
      Mistake{{"shared", "--active-mask", "100000000"}, "beyond 31"},
      Mistake{{"shared", "--active-mask", "g"}, "hexadecimal"},
      Mistake{{"shared", "--patterns", "absent.csv"}, "absent.csv cannot be read"},
      Mistake{{"shared", "--patterns", ""}, "--patterns: it is empty"},
      Mistake{{"shared", "--active", ""}, "no list of lanes"},
      Mistake{{"shared", "--active-mask", ""}, "hexadecimal"},
      Mistake{{"shared", "--patterns", "-", "--json"}, "excludes"},
      Mistake{{"global", "--pattern", "aso"}, "did you mean `aos`?"},
      Mistake{{"global", "--pattern", "stream"}, "needs --elements"},
      Mistake{{"global", "--pattern", "aos", "--elements", "3"}, "needs --struct-bytes"},
      Mistake{{"global", "--pattern", "transpose"}, "needs --matrix"},
      Mistake{{"global", "--pattern", "transpose", "--matrix", "4by4"}, "ROWSxCOLUMNS"},
      Mistake{{"global", "--pattern", "stream", "--elements", "3", "--tile", "8"},
              "--tile is for --pattern transpose"},
      Mistake{{"global", "--elements", "3"}, "--pattern"},
      Mistake{{"global", "--pattern", "stream", "--lanes", "0"}, "excludes"},
      Mistake{{"occupancy"}, "is required"},
      Mistake{{"occupancy", "--threads", "0", "--registers", "1"}, "from 1 to"},
      Mistake{{"occupancy", "--threads", "1", "--registers", "1", "--arch", "sm_91"}, "sm_90"},
      Mistake{{"occupancy", "--threads", "1", "--registers", "1", "--carveout", "101"}, "to 100"},
      Mistake{{"occupancy", "--threads", "1", "--registers", "1", "--static-shared", "49153"},
              "49152"},
      Mistake{{"swizzle", "--access", "load:column"}, "two colons"},
      Mistake{{"swizzle", "--access", "move:row:4"}, "neither load nor store"},
      Mistake{{"swizzle", "--access", "load:5x4:4"}, "8x4"},
      Mistake{{"swizzle", "--access", "load:row:four"}, "no number of bytes"},
      Mistake{{"swizzle", "--access", "load:row:2"}, "at least an element's 4"},
      Mistake{{"swizzle", "--rows", "100000"}, "largest shared memory"},
      Mistake{{"swizzle", "--element-bytes", "3"}, "1, 2, 4, 8, 16"},
      Mistake{{"roofline"}, "--gpu"}, Mistake{{"roofline", "--gpu", "H20"}, "Did you mean `H200`?"},
      Mistake{{"roofline", "--gpu", "H200", "--result", "x"}, "excludes"},
      Mistake{{"roofline", "--result", "none.json"}, "none.json"},
      Mistake{{"roofline", "--gpu", "T4", "--precision", "fp8"}, "no units"},
      Mistake{{"roofline", "--gpu", "H200", "--flops", "nan"}, "nan"},
      Mistake{{"roofline", "--gpu", "H200", "--bytes", "-1"}, "-1"},
      Mistake{{"roofline", "--gpu", "H200", "--level", "L2"}, "NAME=BYTES@BANDWIDTH"},
      Mistake{{"roofline", "--gpu", "H200", "--level", "L2=1@0"}, "positive"},
      Mistake{{"roofline", "--gpu", "H200", "--level", "DRAM=1@2"}, "--bytes"},
      Mistake{{"roofline", "--gpu", "H200", "--bytes", "0"}, "no byte"},
      Mistake{{"roofline", "--gpu", "H200", "--precison", "bf16"}, "--precision"},
      Mistake{{"waves"}, "--blocks"}, Mistake{{"waves", "--blocks", "5"}, "--sms"},
      Mistake{{"waves", "--blocks", "0", "--sms", "3"}, "--blocks"},
      Mistake{{"waves", "--gemm", "1", "2", "--sms", "3"}, "--gemm"},
      Mistake{{"waves", "--blocks", "5", "--sms", "3", "--tile", "1", "2", "3"}, "--tile"},
      Mistake{{"waves", "--blocks", "5", "--sms", "3", "--cluster", "2", "1"}, "--cluster"},
      Mistake{{"waves", "--gemm", "1", "2", "3", "--sms", "4", "--cluster", "0", "1"}, "--cluster"},
      Mistake{{"waves", "--blocks", "5", "--sms", "3", "--cost", "latency"}, "--wave-time"},
      Mistake{{"waves", "--blocks", "5", "--sms", "3", "--overhead", "1e-6"}, "--wave-time"},
      Mistake{{"waves", "--blocks", "5", "--sms", "3", "--gpu", "H200"}, "--sms"},
      Mistake{{"roofline", "--gpu", "H200", "--flops", "137B", "--bytes", "1G"}, "137B"},
      Mistake{{"transformer", "--layers", "2", "--hidden", "64", "--heads", "4294967296", "--vocab",
               "10", "--gpu", "H200"},
              "number of heads"},
      Mistake{{"waves", "--gemm", "1", "2", "3", "--sms", "4", "--split-k", "9"}, "split"},
      Mistake{{"transformer"}, "--params"}, Mistake{{"transformer", "--params", "0"}, "--params"},
      Mistake{{"transformer", "--params", "7B", "--layers", "3"}, "not both"},
      Mistake{{"transformer", "--params", "7B", "--active", "8B"}, "active"},
      Mistake{{"transformer", "--layers", "3"}, "hidden size"},
      Mistake{{"transformer", "--config", "none.json"}, "none.json"},
      Mistake{{"transformer", "--params", "7B", "--weights", "fp4"}, "--weights"},
      Mistake{{"transformer", "--params", "7B", "--gpu", "T4", "--compute", "bf16"}, "no units"},
      Mistake{{"transformer", "--params", "7B", "--prompt", "9", "--context", "8"}, "prompt"});
  Sandbox box({});
  const auto run = predict(box, mistake.arguments);
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::bad_input));
  CHECK_THAT(run.errors, StartsWith("fathom: ") && ContainsSubstring(mistake.said));
  CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
  CHECK(run.output.empty());
}

}  // namespace
}  // namespace fathom
