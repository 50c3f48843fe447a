// `fathom predict waves`, `roofline` and `transformer`: what they print.

#include "predict_runs.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

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

}  // namespace
}  // namespace fathom
