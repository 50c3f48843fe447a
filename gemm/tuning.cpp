#include "gemm/tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "results/error.h"
#include "results/format.h"

namespace fathom::gemm {
namespace {

namespace fs = std::filesystem;

/// A path as a document may show it: without the home folder, which names a person.
std::string shown(const fs::path& path) {
  const std::string text = path.string();
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return text;
  const std::string folder = std::string(home) + "/";
  return text.starts_with(folder) ? "~/" + text.substr(folder.size()) : text;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

std::string sentence_of(const TunedChoice& c) {
  return fmt::format("{} on {}: {}", c.rung, c.product, c.variant);
}

}  // namespace

Tuning::Tuning(const TuningRequest& request, const TuningFingerprint& fingerprint)
    : request_(request),
      fingerprint_(fingerprint),
      path_(request.file.empty() ? default_tuning_file(fingerprint.gpu) : request.file) {
  if (request_.unused) return;
  if (path_.empty()) {
    if (!request_.tune) return;
    throw Error(ExitCode::bad_input,
                "There is no place for tuned choices: name a file with --tuning, or set HOME.");
  }
  read();
}

void Tuning::read() {
  const bool named = !request_.file.empty();
  if (!fs::exists(path_)) {
    if (!named || request_.tune) return;
    throw Error(ExitCode::bad_input,
                fmt::format("There is no file {}: name one that gemm_ladder --autotune --tuning FILE left.",
                            path_.string()));
  }
  try {
    TuningFile file = read_tuning_file(path_);
    if (file.fingerprint == fingerprint_) {
      choices_ = std::move(file.choices);
      return;
    }
    const std::string differs =
        fmt::format("The tuned choices of {} are of another set-up ({}; here: {})", shown(path_),
                    describe(file.fingerprint), describe(fingerprint_));
    if (named && request_.tune) {
      throw Error(ExitCode::bad_input, differs + ": name another file with --tuning to tune into.");
    }
    problems_.push_back(differs + (request_.tune ? " and make way for this run's."
                                                 : " and are not used: gemm_ladder --autotune tunes anew."));
  } catch (const Error& error) {
    if (named) throw;
    problems_.push_back(fmt::format("The tuned choices of {} are {}: {}", shown(path_),
                                    request_.tune ? "replaced by this run's" : "not used", error.what()));
  }
}

const TunedChoice* Tuning::find(const Rung& rung, const Problem& problem,
                                const std::vector<Variant>& variants) {
  const std::string product = problem.describe();
  const auto found = std::ranges::find_if(choices_, [&](const TunedChoice& c) {
    return c.rung == rung.id && c.product == product;
  });
  if (found == choices_.end()) return nullptr;
  if (std::ranges::find(variants, found->variant, &Variant::name) == variants.end()) {
    add_once(problems_, fmt::format("The tuned choice of {} is not used: the rung has no such variant any more.",
                                    sentence_of(*found)));
    return nullptr;
  }
  const std::string sentence = sentence_of(*found);
  // One that is about to be made anew is not used.
  if (!tunes()) add_once(used_, fmt::format("{} (of {}, {}, by Fathom {})", sentence, found->tried, found->date, found->fathom));
  return &*found;
}

bool Tuning::is_of_this_run(const TunedChoice* choice) const {
  return choice != nullptr && std::ranges::any_of(tuned_, [&](const std::string& t) {
           return t.starts_with(sentence_of(*choice));
         });
}

void Tuning::keep(const TunedChoice& choice) {
  write_choices(path_, fingerprint_, {&choice, 1});
  std::erase_if(choices_, [&](const TunedChoice& old) {
    return old.rung == choice.rung && old.product == choice.product;
  });
  choices_.push_back(choice);
  tuned_.push_back(fmt::format("{}, {} against {} by the default of {} ({} variants)", sentence_of(choice),
                               format_time(choice.seconds), format_time(choice.default_seconds),
                               choice.default_variant, choice.tried));
}

std::vector<std::string> Tuning::notes() const {
  std::vector<std::string> notes = problems_;
  if (!used_.empty()) {
    notes.push_back(fmt::format("Tuned choices of {} were used for {} ({}; --no-tuning leaves them out): {}.",
                                shown(path_), used_.size() == 1 ? "one product" : "several products",
                                describe(fingerprint_), fmt::join(used_, "; ")));
  }
  if (!tuned_.empty()) {
    notes.push_back(fmt::format("Autotuning chose, and keeps in {} for {}: {}.", shown(path_),
                                describe(fingerprint_), fmt::join(tuned_, "; ")));
  }
  return notes;
}

}  // namespace fathom::gemm
