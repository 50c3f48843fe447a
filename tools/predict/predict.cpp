#include "tools/predict/predict.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>

#include "results/fail.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> fields;
  for (std::size_t end; (end = list.find(',')) != list.npos; list.remove_prefix(end + 1))
    fields.push_back(list.substr(0, end));
  fields.push_back(list);
  return fields;
}

/// The whole text as a number from 0 to 2^64 - 1, decimal or from 0x on hexadecimal.
std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X"))
    return parse_number<std::uint64_t>(text.substr(2), 16);
  return parse_number<std::uint64_t>(text);
}

/// A field for each lane, empty where it is inactive, as further lanes are. Throws LaneError for
/// one that is no address.
void set_lanes(WarpAccess& access, std::span<const std::string_view> fields) {
  access.active_mask = 0;
  for (std::size_t lane = 0; lane < fields.size(); ++lane) {
    if (fields[lane].empty()) continue;
    const auto address = parse_address(fields[lane]);
    if (!address)
      throw LaneError(
          static_cast<int>(lane),
          fmt::format("`{}` is no byte address from 0 to 2^64 - 1", quotable(fields[lane], 40)));
    access.address[lane] = *address;
    access.active_mask |= 1u << lane;
  }
}

/// Throws std::invalid_argument, ", column op: `move` is neither load nor store", or LaneError.
WarpAccess access_of_row(std::string_view row) {
  constexpr std::size_t columns = 2 + warp_size;
  const std::vector<std::string_view> fields = split_list(row);
  if (fields.size() != columns)
    throw std::invalid_argument(fmt::format(": {}, not {} (op, bytes and {} lanes)",
                                            counted(fields.size(), "column"), columns, warp_size));
  const auto bad = [](const char* column, std::string_view field, const char* what) {
    return std::invalid_argument(
        fmt::format(", column {}: `{}` is {}", column, quotable(field, 40), what));
  };
  if (fields[0] != "load" && fields[0] != "store")
    throw bad("op", fields[0], "neither load nor store");
  const auto bytes = parse_number<int>(fields[1]);
  if (!bytes || *bytes < 1 || *bytes > 16 || !std::has_single_bit(static_cast<unsigned>(*bytes)))
    throw bad("bytes", fields[1], "no width, which is 1, 2, 4, 8 or 16 bytes");
  WarpAccess access{.op = fields[0] == "load" ? Access::load : Access::store,
                    .bytes_per_lane = *bytes};
  set_lanes(access, std::span(fields).subspan(2));
  return access;
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

// --- warp accesses -------------------------------------------------------------------------------

void add_pattern_flags(CLI::App& app, PatternFlags& flags, const char* picture_shows,
                       const char* examples) {
  app.add_option("OP", flags.op, "load or store")
      ->check(one_of({"load", "store"}))
      ->capture_default_str();
  word_flag(app, "--bytes", flags.tile.element_bytes, "Bytes a lane: 1, 2, 4, 8 or 16",
            {"1", "2", "4", "8", "16"}, "N");
  // With these limits no address of a warp is beyond 2^64.
  auto* base = number_flag(app, "--base", flags.tile.base, "Address of lane 0, or of the tile", 0,
                           std::uint64_t{1} << 59, "BYTES");
  auto* stride = number_flag(app, "--stride", flags.stride,
                             "Lane i at base + i x BYTES; 0: all at the base (default: contiguous)",
                             0, std::uint64_t{1} << 57, "BYTES");
  const auto tile_flag = [&app](const char* flag, auto& value, const char* description,
                                std::uint64_t lowest = 0) {
    return number_flag(app, flag, value, description, lowest, 1 << 20);
  };
  auto* column = tile_flag("--column", flags.column,
                           "Lane i at row i of this column of a tile, its elements --bytes wide");
  auto* row = tile_flag("--row", flags.row, "Lane i at column i of this row of a tile");
  auto* lanes = app.add_option("--lanes", flags.lanes,
                               "Lane by lane: 0,4,,12 (decimal or 0x...; empty: inactive)")
                    ->type_name("ADDRESSES");
  const std::vector<CLI::Option*> patterns{stride, column, row, lanes};
  for (std::size_t i = 0; i < patterns.size(); ++i)
    for (std::size_t j = i + 1; j < patterns.size(); ++j) patterns[i]->excludes(patterns[j]);
  lanes->excludes(base);

  tile_flag("--row-elements", flags.row_elements, "Columns of the tile (default: 32)", 1);
  tile_flag("--padding", flags.tile.padding_elements,
            "Elements that a row of the tile is padded by");
  tile_flag("--first", flags.first, "Row or column in the tile of lane 0");
  app.add_flag("--xor-swizzle", flags.tile.xor_swizzle,
               "Element (row, column) lies at column XOR row");
  const std::vector<CLI::Option*> one_access =
      app.get_options([&app](auto* option) { return option != app.get_help_ptr(); });
  auto* file =
      path_flag(app, "--patterns", flags.file, "Many accesses from a CSV file, answered in CSV");
  for (auto* option : one_access) file->excludes(option);
  app.footer(fmt::format(
      "The picture shows {}.\n\n"
      "FILE has the header op,bytes,lane0,...,lane31 and a row for each access: load or store,\n"
      "bytes a lane, and a byte address a lane, empty where it is inactive. Nothing is printed\n"
      "unless every row is good.\n\n"
      "Examples:\n{}",
      picture_shows, examples));
}

WarpAccess access_of(const PatternFlags& flags) {
  const Access op = flags.op == "store" ? Access::store : Access::load;
  Tile tile = flags.tile;
  tile.row_elements = flags.row_elements.value_or(tile.row_elements);
  const bool tiled = flags.column || flags.row;
  if (!tiled &&
      (flags.row_elements || tile.padding_elements != 0 || tile.xor_swizzle || flags.first))
    throw Error(ExitCode::bad_input,
                "--row-elements, --padding, --xor-swizzle and --first are of a tile: name its "
                "--column or --row too.");

  if (flags.column) return tile_column(op, tile, *flags.column, flags.first);
  if (flags.row) return tile_row(op, tile, *flags.row, flags.first);
  if (!flags.lanes)
    return strided(op, tile.element_bytes,
                   flags.stride.value_or(static_cast<std::uint64_t>(tile.element_bytes)),
                   tile.base);
  WarpAccess access{.op = op, .bytes_per_lane = tile.element_bytes};
  const std::vector<std::string_view> fields = split_list(*flags.lanes);
  if (fields.size() > warp_size)
    fail(ExitCode::bad_input,
         "--lanes has {} addresses, but lane {} does not exist: a warp has lanes 0 to 31.",
         fields.size(), warp_size);
  try {
    set_lanes(access, fields);
  } catch (const LaneError& error) {
    fail(ExitCode::bad_input, "--lanes, lane {}: {}.", error.lane(), error.reason());
  }
  return access;
}

std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer) {
  std::ifstream input(file, std::ios::binary);
  std::vector<char> buffer(std::size_t{1} << 20);
  std::string_view line;
  std::uint64_t lines = 0;
  const auto next = [&] {
    input.getline(buffer.data(), std::ssize(buffer));
    ++lines;
    if (input.gcount() + 1 == std::ssize(buffer) && !input.eof())
      fail(ExitCode::bad_input, "{}: line {} goes on for over 1 MiB: it is no CSV of patterns.",
           file, lines);
    line = buffer.data();
    if (line.ends_with('\r')) line.remove_suffix(1);
    return !input.fail();
  };
  std::string columns = "op,bytes";
  for (int lane = 0; lane < warp_size; ++lane) columns += fmt::format(",lane{}", lane);
  if ((next() || input.eof()) && without_byte_order_mark(line) != columns)
    fail(ExitCode::bad_input, "{}: the first line must be op,bytes,lane0,...,lane31.", file);
  std::string text = fmt::format("{}\n", header);
  const auto refuse = [&](const std::string& mistake) {
    fail(ExitCode::bad_input, "{}: row {} (line {}){}.", file, lines - 1, lines, mistake);
  };
  try {
    while (next()) {
      const auto numbers = answer(access_of_row(line));
      fmt::format_to(std::back_inserter(text), "{},{}\n", numbers[0], numbers[1]);
    }
  } catch (const LaneError& error) {
    refuse(fmt::format(", column lane{}: {}", error.lane(), error.reason()));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  if (!input.eof()) fail(ExitCode::bad_input, "{} cannot be read: {}.", file, std::strerror(errno));
  return text;
}

std::string lane_list(std::uint32_t lanes) {
  std::string text;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    const int last = lane + std::countr_one(lanes >> lane) - 1;
    if (!text.empty()) text += ',';
    text += last == lane ? std::to_string(lane) : fmt::format("{}-{}", lane, last);
    lane = last;
  }
  return text.empty() ? "none" : text;
}

Prediction prediction_of(const WarpAccess& access) {
  const bool loads = access.op == Access::load;
  Json addresses = Json::array();
  for (int lane = 0; lane < warp_size; ++lane)
    addresses.push_back(access.active(lane) ? Json(access.address[lane]) : Json(nullptr));
  return {fmt::format("{} of {} a lane, active lanes {}\n\n", loads ? "Load" : "Store",
                      counted(access.bytes_per_lane, "byte"), lane_list(access.active_mask)),
          {{"access",
            {{"op", loads ? "load" : "store"},
             {"bytes", access.bytes_per_lane},
             {"active_mask", fmt::format("{:08x}", access.active_mask)},
             {"addresses", std::move(addresses)}}}}};
}

Json lanes_to_json(std::uint32_t lanes) {
  Json list = Json::array();
  for (int lane = 0; lane < warp_size; ++lane)
    if (lanes >> lane & 1u) list.push_back(lane);
  return list;
}

// --- a model's config.json -----------------------------------------------------------------------

namespace {

/// A model's config.json, whose members are refused by name where they are not what they should be.
class Config {
 public:
  explicit Config(const std::filesystem::path& file) : file_(file.string()) {
    // A config has a few kilobytes; whatever is larger is another file.
    constexpr std::size_t limit = 1 << 20;
    try {
      json_ = parse_strict_json(read_file_up_to(file, limit), file_);
    } catch (const Error& error) {
      // The parser's sentence is about result documents.
      if (error.code() != ExitCode::document_malformed) throw;
    }
    if (!json_.is_object())
      fail(ExitCode::bad_input, "{} is no JSON object: give a model's config.json.", file_);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ExitCode::bad_input, "{}: {}.", file_, what);
  }
  std::int64_t number(const char* key, std::optional<std::int64_t> otherwise = {}) const {
    const nlohmann::json found = value(key);
    if (found.is_null() && otherwise) return *otherwise;
    if (!found.is_number_integer()) refuse(fmt::format("it has no whole number `{}`", key));
    return found;
  }
  bool flag(const char* key, bool otherwise) const {
    const nlohmann::json found = value(key);
    if (found.is_null()) return otherwise;
    if (!found.is_boolean()) refuse(fmt::format("its `{}` is neither true nor false", key));
    return found;
  }
  /// Null where the key is missing.
  nlohmann::json value(const char* key) const { return json_.value(key, nlohmann::json()); }

 private:
  nlohmann::json json_;
  std::string file_;
};

TransformerShape gpt2_shape(const Config& config) {
  return {.layers = config.number("n_layer"),
          .hidden = config.number("n_embd"),
          .heads = config.number("n_head"),
          .vocabulary = config.number("vocab_size"),
          .intermediate = config.number("n_inner", 0),
          .gated_mlp = false,
          .tied_embeddings = config.flag("tie_word_embeddings", true),
          .qkv_bias = true,
          .output_bias = true,
          .mlp_bias = true,
          .norm_bias = true,
          .learned_positions = config.number("n_positions")};
}

/// What llama and the families after it share.
TransformerShape llama_shape(const Config& config) {
  const bool attention_bias = config.flag("attention_bias", false);
  return {.layers = config.number("num_hidden_layers"),
          .hidden = config.number("hidden_size"),
          .heads = config.number("num_attention_heads"),
          .kv_heads = config.number("num_key_value_heads", 0),
          .head_dim = config.number("head_dim", 0),
          .vocabulary = config.number("vocab_size"),
          .intermediate = config.number("intermediate_size"),
          .tied_embeddings = config.flag("tie_word_embeddings", false),
          .qkv_bias = attention_bias,
          .output_bias = attention_bias,
          .mlp_bias = config.flag("mlp_bias", false)};
}

TransformerShape shape_of(const Config& config) {
  const nlohmann::json type = config.value("model_type");
  const std::string family = type.is_string() ? type : "";
  if (family == "gpt2") return gpt2_shape(config);
  static const std::vector<std::string> families{"gpt2",  "llama",     "mistral", "mixtral",
                                                 "qwen2", "qwen2_moe", "qwen3",   "qwen3_moe"};
  if (std::ranges::count(families, family) == 0)
    config.refuse(
        fmt::format("its model_type `{}` is none of {}: give --layers, --hidden, ... instead",
                    family, fmt::join(families, ", ")));
  TransformerShape shape = llama_shape(config);
  if (family == "qwen2" || family == "qwen2_moe") shape.qkv_bias = true;
  if (family == "qwen3" || family == "qwen3_moe") shape.qk_norm = true;
  if (family == "mixtral") {
    shape.experts = config.number("num_local_experts");
    shape.active_experts = config.number("num_experts_per_tok");
  }
  if (family.ends_with("_moe")) {
    if (config.number("decoder_sparse_step", 1) != 1 || !config.value("mlp_only_layers").empty())
      config.refuse(
          "some of its layers have experts and others none, which the model does not know");
    shape.experts = config.number("num_experts");
    shape.active_experts = config.number("num_experts_per_tok");
    shape.intermediate = config.number("moe_intermediate_size");
  }
  if (family == "qwen2_moe") {
    shape.shared_intermediate = config.number("shared_expert_intermediate_size");
    shape.shared_expert_gate = true;
  }
  return shape;
}

}  // namespace

TransformerShape shape_from_config(const std::filesystem::path& file, std::int64_t context) {
  const Config config(file);
  const std::int64_t window = config.number("sliding_window", 0);
  const bool slides = window > 0 && config.flag("use_sliding_window", true);
  const TransformerShape shape = shape_of(config);
  if (slides && window < context)
    config.refuse(
        fmt::format("its attention looks back {} tokens only, which the model of a context of {} "
                    "does not know: give --context {} or less",
                    window, context, window));
  return shape;
}

}  // namespace fathom
