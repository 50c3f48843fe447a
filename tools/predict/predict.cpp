#include "tools/predict/predict.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <stdexcept>

#include "results/files.h"

namespace fathom {

std::function<ExitCode()> printed(CLI::App& app, std::function<Prediction()> predict) {
  const auto as_json = std::make_shared<bool>(false);
  auto* json = app.add_flag("--json", *as_json, "Print the prediction as JSON");
  if (CLI::Option* file = app.get_option_no_throw("--patterns")) json->excludes(file);
  return [as_json, predict] {
    try {
      const Prediction said = predict();
      print_out(*as_json ? said.json.dump(2) + "\n" : said.text);
      return ExitCode::ok;
    } catch (const std::invalid_argument& refusal) {
      // The models say it in lower case, and without a full stop.
      std::string sentence = fmt::format("{}.", refusal.what());
      sentence.front() =
          static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
      throw Error(ExitCode::bad_input, sentence);
    }
  };
}

Command predict_command() {
  return {.name = "predict",
          .summary = "Predict counters, occupancy, ... without a GPU",
          .noun = "prediction",
          .footer =
              "Examples:\n"
              "  fathom predict shared load --stride 8          bank conflicts, with a picture\n"
              "  fathom predict global load --base 4            sectors, with a picture\n"
              "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
              "  fathom predict waves --gemm 4096 4096 4096 --gpu H200\n"
              "  fathom predict roofline --gemm 4096 4096 4096 --gpu H200\n"
              "  fathom predict swizzle --rows 32 --row-elements 32\n"
              "  fathom predict transformer --params 70B --gpu H200 --gpus 2\n"
              "`fathom predict NAME --help` says more.\n",
          .commands = {shared_prediction(), global_prediction(), occupancy_prediction(),
                       waves_prediction(), roofline_prediction(), swizzle_prediction(),
                       transformer_prediction()}};
}

}  // namespace fathom
