#include "tools/predict/predict_command.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <stdexcept>

#include "results/error.h"
#include "results/files.h"

namespace fathom {
namespace {

/// The models say in lower case, and without a full stop, what is wrong with their input.
std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.back() == '.' ? text : text + ".";
}

}  // namespace

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
      throw Error(ExitCode::bad_input, as_sentence(refusal.what()));
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
