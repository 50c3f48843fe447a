// `fathom predict shared` and `fathom predict global`: a warp's access to memory, by flags or many
// in a CSV file.

#include <CLI/CLI.hpp>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ranges>
#include <span>
#include <vector>

#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {

FATHOM_FIELDS(models::SharedCost, "", "", wavefronts, conflicts, groups, clocks, minimum);
FATHOM_FIELDS(models::GlobalCost, "", "", sectors, lines, requests);
FATHOM_FIELDS(models::StreamCost, "", "", sectors, requests, bytes);

namespace {

using namespace models;

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> fields;
  for (const auto field : std::views::split(list, ','))
    fields.emplace_back(field.begin(), field.end());
  return fields;
}

/// A field for each lane, decimal or from 0x on hexadecimal, empty where it is inactive, as further
/// lanes are. Throws LaneError for one that is no address.
void set_lanes(WarpAccess& access, std::span<const std::string_view> fields) {
  if (fields.size() > warp_size) throw LaneError(warp_size, "a warp has lanes 0 to 31");
  access.active_mask = 0;
  for (std::size_t lane = 0; lane < fields.size(); ++lane) {
    const std::string_view field = fields[lane];
    if (field.empty()) continue;
    const bool hexadecimal = field.starts_with("0x") || field.starts_with("0X");
    const auto address =
        parse_number<std::uint64_t>(field.substr(hexadecimal ? 2 : 0), hexadecimal ? 16 : 10);
    if (!address)
      throw LaneError(
          static_cast<int>(lane),
          fmt::format("`{}` is no byte address from 0 to 2^64 - 1", quotable(field, 40)));
    access.address[lane] = *address;
    access.active_mask |= 1u << lane;
  }
}

// --- one access by flags -------------------------------------------------------------------------

struct AccessFlags {
  std::string op = "load";
  Tile tile;                            ///< its elements as wide as a lane's, its base lane 0's
  std::optional<std::uint64_t> stride;  ///< none: contiguous
  std::optional<int> column;            ///< of the tile
  std::optional<std::string> lanes;     ///< "0,4,,12": an address a lane
  std::optional<std::string> file;      ///< patterns in bulk
};

/// Its help ends with what the picture shows, what a file of accesses holds, and examples.
void add_access_flags(CLI::App& app, AccessFlags& flags, const char* picture_shows,
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
  constexpr std::uint64_t longest = 1 << 20;
  auto* column = number_flag(app, "--column", flags.column,
                             "Lane i at row i of this column of a tile, its elements --bytes wide",
                             0, longest);
  column->excludes(stride);
  app.add_option("--lanes", flags.lanes,
                 "Lane by lane: 0,4,,12 (decimal or 0x...; empty: inactive)")
      ->type_name("ADDRESSES")
      ->excludes(base)
      ->excludes(stride)
      ->excludes(column);
  number_flag(app, "--row-elements", flags.tile.row_elements, "Columns of the tile", 1, longest)
      ->needs(column);
  number_flag(app, "--padding", flags.tile.padding_elements,
              "Elements that a row of the tile is padded by", 0, longest)
      ->needs(column);
  app.add_flag("--xor-swizzle", flags.tile.xor_swizzle,
               "Element (row, column) lies at column XOR row")
      ->needs(column);
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

/// Throws std::invalid_argument, as the models' builders do.
WarpAccess access_of(const AccessFlags& flags) {
  const Access op = flags.op == "store" ? Access::store : Access::load;
  const int bytes = flags.tile.element_bytes;
  if (flags.column) return tile_column(op, flags.tile, *flags.column);
  WarpAccess access =
      strided(op, bytes, flags.stride.value_or(static_cast<std::uint64_t>(bytes)), flags.tile.base);
  if (flags.lanes) set_lanes(access, split_list(*flags.lanes));
  return access;
}

/// What is said of one access: a picture, its cost, and a sentence.
Prediction prediction_of(const WarpAccess& access, const auto& why, const std::string& cost) {
  Prediction said{.json = write_fields(why.cost)};
  said.json["sentence"] = why.sentence;
  said.say("{} of {} a lane, active lanes {}\n\n{}\n{}\n{}\n",
           access.op == Access::load ? "Load" : "Store", counted(access.bytes_per_lane, "byte"),
           lane_list(access.active_mask), picture(why), cost, why.sentence);
  return said;
}

// --- shared memory -------------------------------------------------------------------------------

Prediction predict(const AccessFlags& flags) {
  if (flags.file)
    return {answer_patterns(*flags.file, "wavefronts,conflicts", [](const WarpAccess& access) {
      const SharedCost cost = shared_cost(access);
      return std::array{cost.wavefronts, cost.conflicts};
    })};
  const WarpAccess access = access_of(flags);
  const SharedExplanation why = explain_shared(access);
  const auto& [wavefronts, conflicts, groups, clocks, minimum] = why.cost;
  return prediction_of(
      access, why,
      fmt::format("wavefronts {}  conflicts {}  groups {}  clocks {}  (distinct words alone: {})",
                  wavefronts, conflicts, groups, clocks, minimum));
}

void add_flags(CLI::App& app, AccessFlags& flags) {
  add_access_flags(app, flags, "which lane gets its word from which bank in which wavefront",
                   "  fathom predict shared load --stride 8\n"
                   "  fathom predict shared load --column 0 --row-elements 32 --padding 1\n"
                   "  fathom predict shared store --bytes 16 --lanes 0,16,,64 --json\n"
                   "  fathom predict shared --patterns accesses.csv > wavefronts.csv\n");
}

// --- global memory -------------------------------------------------------------------------------

struct GlobalFlags : AccessFlags {
  StructPattern kernel{.member_bytes = 0};  ///< of no elements: one access
  std::vector<std::uint64_t> matrix;        ///< rows and columns, of a transpose
  bool naive = false;                       ///< a transpose not through shared memory
  CLI::Option* bytes = nullptr;             ///< that knows whether --bytes was given
};

/// What loads, stores or both of a whole kernel cost.
std::vector<std::pair<std::string, StreamCost>> kernel_costs(const GlobalFlags& flags) {
  const auto& [bytes, row_elements, padding, swizzle, base] = flags.tile;
  if (flags.matrix.empty()) {
    StructPattern kernel = flags.kernel;
    kernel.base_offset = base;
    if (kernel.member_bytes == 0) kernel.member_bytes = static_cast<std::uint64_t>(bytes);
    if (flags.kernel.member_bytes == 0 || *flags.bytes) kernel.bytes_per_instruction = bytes;
    kernel.struct_bytes = flags.stride.value_or(kernel.member_bytes);
    return {{flags.op + "s", struct_cost(kernel)}};
  }
  const TransposeCost cost = transpose_cost({.rows = flags.matrix[0],
                                             .columns = flags.matrix[1],
                                             .element_bytes = bytes,
                                             .through_shared = !flags.naive,
                                             .load_base = base,
                                             .store_base = base});
  return {{"loads", cost.loads}, {"stores", cost.stores}};
}

Prediction predict_kernel(const GlobalFlags& flags) {
  Prediction said;
  for (const auto& [what, cost] : kernel_costs(flags)) {
    said.json[what] = write_fields(cost);
    const auto sectors = static_cast<double>(cost.sectors);
    said.say("{:<7} sectors {}  requests {}  sectors a request {:.2f}\n", what, cost.sectors,
             cost.requests, sectors / static_cast<double>(cost.requests));
    said.say("        {} bytes asked for, {} in the sectors: {:.1f} % of what moves is used\n",
             cost.bytes, cost.sectors * sector_bytes,
             100 * static_cast<double>(cost.bytes) / (sectors * sector_bytes));
  }
  return said;
}

Prediction predict(const GlobalFlags& flags) {
  if (flags.file)
    return {answer_patterns(*flags.file, "sectors,requests", [](const WarpAccess& access) {
      const GlobalCost cost = global_cost(access);
      return std::array{cost.sectors, cost.requests};
    })};
  if (flags.kernel.elements > 0 || !flags.matrix.empty()) return predict_kernel(flags);
  const WarpAccess access = access_of(flags);
  const GlobalExplanation why = explain_global(access);
  const auto [sectors, lines, requests] = why.cost;
  return prediction_of(access, why,
                       fmt::format("sectors {}  lines {}  requests {}", sectors, lines, requests));
}

void add_flags(CLI::App& app, GlobalFlags& flags) {
  add_access_flags(app, flags, "which lanes touch which sectors of which lines",
                   "  fathom predict global load --base 4\n"
                   "  fathom predict global store --bytes 16 --stride 64 --json\n"
                   "  fathom predict global --elements 1000000 --stride 16 --member-bytes 12\n"
                   "  fathom predict global --matrix 4096 4096 --naive\n"
                   "  fathom predict global --patterns accesses.csv > sectors.csv\n");
  flags.bytes = app.get_option("--bytes");
  auto* elements = number_flag(app, "--elements", flags.kernel.elements,
                               "A whole kernel: as many threads, each with one access", 1,
                               std::uint64_t{1} << 40);
  number_flag(app, "--member-bytes", flags.kernel.member_bytes,
              "Each thread's access is to a member of so many bytes of a structure of --stride", 1,
              1 << 20)
      ->needs(elements);
  auto* matrix = number_flag(app, "--matrix", flags.matrix,
                             "A whole kernel: transposes a matrix, row-major, its elements --bytes "
                             "wide, in tiles of 32 x 32",
                             1, std::uint64_t{1} << 28, "ROWS COLUMNS")
                     ->expected(2)
                     ->excludes(elements)
                     ->excludes(app.get_option("--stride"));
  app.add_flag("--naive", flags.naive, "Transpose without turning tiles in shared memory")
      ->needs(matrix);
  for (const char* other : {"--patterns", "--column", "--lanes"}) {
    elements->excludes(app.get_option(other));
    matrix->excludes(app.get_option(other));
  }
}

}  // namespace

std::string answer_patterns(const std::string& file, std::string_view header,
                            AnswerOfAccess answer) {
  std::ifstream input(file, std::ios::binary);
  std::vector<char> line(std::size_t{1} << 20);
  std::string columns = "op,bytes";
  for (int lane = 0; lane < warp_size; ++lane) columns += fmt::format(",lane{}", lane);
  std::string text = fmt::format("{}\n", header);
  std::uint64_t rows = 0;
  bool has_header = false;
  const auto refuse = [&](const std::string& mistake) {
    fail(ExitCode::bad_input, "{}: row {} (line {}){}.", file, rows, rows + 1, mistake);
  };
  while (input.getline(line.data(), std::ssize(line))) {
    std::string_view row = line.data();
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (!has_header) {
      has_header = without_byte_order_mark(row) == columns;
      if (!has_header) break;
      continue;
    }
    ++rows;
    const std::vector<std::string_view> fields = split_list(row);
    if (fields.size() != 2 + warp_size)
      refuse(fmt::format(": {}, not {} (op, bytes and {} lanes)", counted(fields.size(), "column"),
                         2 + warp_size, warp_size));
    if (fields[0] != "load" && fields[0] != "store")
      refuse(fmt::format(", column op: `{}` is neither load nor store", quotable(fields[0], 40)));
    const int bytes = parse_number<int>(fields[1]).value_or(0);
    if (bytes < 1 || bytes > 16 || !std::has_single_bit(static_cast<unsigned>(bytes)))
      refuse(fmt::format(", column bytes: `{}` is no width, which is 1, 2, 4, 8 or 16 bytes",
                         quotable(fields[1], 40)));
    try {
      WarpAccess access{.op = fields[0] == "load" ? Access::load : Access::store,
                        .bytes_per_lane = bytes};
      set_lanes(access, std::span(fields).subspan(2));
      const auto numbers = answer(access);
      fmt::format_to(std::back_inserter(text), "{},{}\n", numbers[0], numbers[1]);
    } catch (const LaneError& error) {
      refuse(fmt::format(", column lane{}: {}", error.lane(), error.reason()));
    } catch (const std::invalid_argument& error) {
      refuse(fmt::format(": {}", error.what()));
    }
  }
  if (!input.is_open() || input.bad())
    fail(ExitCode::bad_input, "{} cannot be read: {}.", file, std::strerror(errno));
  if (!has_header)
    fail(ExitCode::bad_input, "{}: the first line must be op,bytes,lane0,...,lane31.", file);
  if (!input.eof())
    fail(ExitCode::bad_input, "{}: line {} goes on for over 1 MiB: it is no CSV of patterns.", file,
         rows + 2);
  return text;
}

std::vector<Command> access_predictions() {
  return {prediction<AccessFlags>("shared", "Wavefronts and bank conflicts of a warp's access",
                                  add_flags, predict),
          prediction<GlobalFlags>("global",
                                  "Sectors and requests of a warp's access or of a whole kernel",
                                  add_flags, predict)};
}

}  // namespace fathom
