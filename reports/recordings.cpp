#include "reports/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>

#include "reports/sections.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

namespace fs = std::filesystem;

void anonymise(nlohmann::ordered_json& json) {
  static const std::regex private_text(
      R"((^|[\s"'`(=:])(/[\w.+-]+(?:/[\w.+-]*)+|~/[\w./+-]*)|[\w.+-]+@[\w-]+(\.[\w-]+)+)");
  if (json.is_string()) {
    json = std::regex_replace(json.get<std::string>(), private_text, "$1(withheld)");
  } else if (json.is_structured()) {
    for (auto& part : json) anonymise(part);
  }
}

}  // namespace

std::string gpu_slug(std::string_view gpu_name) {
  std::string slug;
  for (const char c : gpu_name) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  if (slug.starts_with("nvidia-")) slug.erase(0, 7);
  return slug.empty() ? "gpu" : slug;
}

fs::path document_in(const fs::path& recording) {
  std::error_code none;
  for (const char* name : {"result.json", "result.json.gz"})
    if (fs::exists(recording / name, none)) return recording / name;
  return {};
}

Recordings::Recordings(const fs::path& all, const std::string& gpu_name, const std::string& suite) {
  // A suite's name becomes a folder's: only those that are plain words have recordings.
  const std::string folder = gpu_slug(suite);
  const fs::path model = all / gpu_slug(gpu_name);
  first = folder == "default" ? model : model / folder;
  cards = model / "cards" / folder;
  documents = {document_in(first)};
  std::error_code none;
  for (fs::directory_iterator card(cards, none), end; !none && card != end; card.increment(none))
    documents.push_back(document_in(card->path()));
  std::erase(documents, fs::path());
  std::ranges::sort(documents);
}

std::optional<CardCheck> card_of(const Document& document, const fs::path& all) {
  if (document.source == Source::replay) return std::nullopt;
  const Recordings known(all, document.fingerprint.gpu_name, document.suite);
  std::vector<Document> recorded;
  for (const fs::path& file : known.documents) {
    try {
      recorded.push_back(read_document(file));
    } catch (const Error& error) {
      // A run that took minutes does not fail for a file that it can do without.
      fmt::print(stderr, "The card check leaves out a recording: {}\n", clean(error.what()));
    }
  }
  return check_card(document, recorded);
}

std::string problem_of_recording(const Document& document, const fs::path& all) {
  const Fingerprint& gpu = document.fingerprint;
  if (document.source != Source::measured) return "it is a replay, so nothing in it was measured";
  if (gpu.gpu_name.empty() || gpu.gpu_uuid_hash.empty())
    return "it does not say which GPU it is of";
  if (document.entries.empty()) return "it has no entries";
  for (const ProbeSummary& probe : document.probes)
    if (probe.status != ProbeStatus::complete)
      return fmt::format("the probe {} is not complete ({})", probe.name, words(probe.status));
  for (const Entry& entry : document.entries) {
    if (is_failure(entry.verdict.status))
      return fmt::format("{} failed its check ({})", entry.name, words(entry.verdict.status));
    if (entry.telemetry.other_processes.value_or(0) > 0)
      return fmt::format("another process used the GPU while {} was measured", entry.name);
  }
  // A run with --probe or --benchmark_filter has less than the recording that came with Fathom.
  // Other GPUs have other cases, and a GPU alone has four tenths of the links of two, so a third of
  // a probe's is enough.
  const fs::path file = document_in(Recordings(all, "NVIDIA H200", document.suite).first);
  const Document whole = file.empty() ? Document() : read_document(file);
  for (const ProbeSummary& probe : whole.probes) {
    const std::size_t there = entries_of(whole, probe.name).size();
    const std::size_t here = entries_of(document, probe.name).size();
    if (3 * here < there)
      return fmt::format(
          "the probe {} has {} entries, the H200's recording {}: run the whole suite", probe.name,
          here, there);
  }
  return "";
}

Document anonymous(const Document& document, const std::string& origin) {
  nlohmann::ordered_json json = to_json(document);
  anonymise(json);
  return parse_document(to_text(json), origin);
}

}  // namespace fathom::reports
