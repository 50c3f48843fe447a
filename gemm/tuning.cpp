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

/// Rungs that have something to tune at a usual size.
std::vector<std::string> tunable_rungs(int sms) {
  std::vector<std::string> ids;
  for (const Rung& rung : all_rungs()) {
    if (!rung.variants(make_problem(rung.of, 4096, 4096, 4096), sms).empty())
      ids.push_back(rung.id);
  }
  return ids;
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
  if (request_.tune) require_writable_tuning_file(path_);
}

void Tuning::read() {
  const bool named = is_named();
  if (std::error_code error; !fs::exists(path_, error) && !error) {
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
    if (named) {
      throw Error(
          ExitCode::bad_input,
          differs + (request_.tune
                         ? ": name another file with --tuning to tune into."
                         : ": name one of this set-up with --tuning, or leave --tuning out."));
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
  met_variants_ = true;
  const std::string product = problem.describe();
  const auto found = std::ranges::find_if(choices_, [&](const TunedChoice& c) {
    return c.rung == rung.id && c.product == product;
  });
  if (found == choices_.end()) {
    if (is_named() && !tunes()) add_once(missing_, fmt::format("{} on {}", rung.id, product));
    return nullptr;
  }
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
  if (!missing_.empty()) {
    notes.push_back(fmt::format(
        "{} has no tuned choice for {}, done as untuned.", shown(path_),
        missing_.size() == 1
            ? missing_.front()
            : fmt::format("{} products, the first {}", missing_.size(), missing_.front())));
  }
  if (tunes() && !met_variants_) {
    notes.push_back(
        fmt::format("Nothing was tuned: no rung that was measured has variants of its product; at "
                    "4096 cubed there are some of {}.",
                    fmt::join(tunable_rungs(static_cast<int>(fingerprint_.sms)), ", ")));
  }
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
