// What may come from outside into a page: a result document, or the summary of a GPU or of a host's
// links that a fleet leaves. Whatever the bytes are, they are refused in one sentence or make whole
// pages; everything else is a defect that the sanitizers or the checks here catch. For libFuzzer
// (fuzz.sh).

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "fleet/fleet.h"
#include "reports/report.h"
#include "results/document_io.h"
#include "tests/fuzz/printable.h"
#include "tools/programs.h"

namespace {

namespace fs = std::filesystem;
using namespace fathom;
using Json = nlohmann::ordered_json;

std::size_t cells_of(const std::string& row) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\')
      ++i;
    else
      bars += row[i] == '|';
  }
  return bars;
}

/// A text from outside neither ends a table's row nor adds cells to it.
void require_tables(const std::string& page) {
  std::istringstream lines(page);
  std::size_t cells = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) {
      cells = 0;
      continue;
    }
    if (cells == 0) cells = cells_of(line);
    require(cells_of(line) == cells, "rows with as many cells as their table's heading");
  }
}

/// What was written there are whole pages.
void require_pages(const TemporaryFolder& folder, bool replay) {
  for (const auto& file : fs::recursive_directory_iterator(folder.path())) {
    if (file.path().extension() != ".md") continue;
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    require(!text.empty(), "a page with text");
    require_plain(text);
    require_tables(text);
    require(!replay || text.find("REPLAY") != std::string::npos, "REPLAY on every page of one");
  }
}

void publish(const fleet::Fleet& fleet, bool replay) {
  const TemporaryFolder folder("set TMPDIR");
  const fleet::Outliers outliers = find_outliers(fleet, {});
  require(!fleet_document(fleet, outliers).empty(), "a fleet's document");
  require_plain(fleet_summary(fleet, outliers));
  write_fleet_report(fleet, outliers, folder.path(), {});
  require_pages(folder, replay);
}

/// Four cards of one host: three alike, and one as slow as half of them.
void read_summary(const std::string& text) {
  const fleet::GpuSummary read = fleet::parse_summary(text, "input");
  const std::string kept = to_text(read);
  require(to_text(fleet::parse_summary(kept, "kept")) == kept, "a summary kept as it was read");
  fleet::Fleet fleet;
  for (int gpu = 0; gpu < 4; ++gpu) {
    fleet::GpuSummary card = read;
    card.gpu = gpu;
    card.uuid_hash = std::to_string(gpu);
    for (auto& figures : card.figures)
      if (gpu == 3 && figures.together) figures.together = *figures.together / 2;
    card.where = "gpu.json";
    fleet.add(std::move(card));
  }
  fleet.finish();
  publish(fleet, read.source == Source::replay);
}

void read_links(const std::string& text) {
  const fleet::HostLinks read = fleet::parse_links(text, "input");
  const std::string kept = to_text(read);
  require(to_text(fleet::parse_links(kept, "kept")) == kept, "links kept as they were read");
  fleet::Fleet fleet;
  fleet.links.push_back(read);
  fleet.finish();
  publish(fleet, false);
}

void read_document(const std::string& text) {
  const Document document = parse_document(text, "input");
  const std::string kept = to_text(document);
  require(to_text(parse_document(kept, "kept")) == kept, "a document kept as it was read");
  require_plain(terminal_summary(document, false));
  terminal_summary(document, true);
  const TemporaryFolder folder("set TMPDIR");
  write_report(document, folder.path(), "input");
  require_pages(folder, document.source == Source::replay);
  fleet::GpuSummary card;
  card.host = "host";
  add_document(card, document, fleet::Phase::together);
  if (!card.names.empty()) {
    fleet::require_date(card, "input");
    read_summary(to_text(card));
  }
}

/// Another value in place of one: what a figure or a name must not be, or what stands elsewhere.
void change_value(Json& document, std::mt19937& random) {
  static const Json others = Json::parse(
      R"([0, -1, 1e308, -1e308, 5e-324, 1e-300, 0.1, -0.0, null, true, [], {}, "", "\u0000", "|",
          "`", "\u202e", "\u0085", "a\n| b](<c>", "\\", "é\\|", "#", "->",
          9223372036854775807])");
  Json places = document.flatten();
  if (!places.is_object()) return;
  const auto any = [&] { return std::next(places.begin(), random() % places.size()).key(); };
  const Json other = random() % 3 == 0 ? places[any()] : others[random() % others.size()];
  Json& changed = document[Json::json_pointer(any())];
  // Behind a text, or in place of a value.
  if (changed.is_string() && other.is_string() && random() % 2 == 0)
    changed = other.get<std::string>() + changed.get<std::string>();
  else
    changed = other;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Bytes changed at random are no JSON or break the schema, most of them: every other time it is a
/// value that changes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  Json document = Json::parse(data, data + size, nullptr, false);
  if (document.is_discarded() || document.empty()) return LLVMFuzzerMutate(data, size, most);
  for (auto times = 1 + random() % 3; times > 0; --times) change_value(document, random);
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::ranges::copy(text, data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string start = text.substr(0, 64);
  try {
    if (start.find(fathom::fleet::summary_key) != start.npos)
      read_summary(text);
    else if (start.find(fathom::fleet::links_key) != start.npos)
      read_links(text);
    else
      read_document(text);
  } catch (const Error& error) {
    require_sentence(error, {ExitCode::document_malformed, ExitCode::document_version});
  }
  return 0;
}
