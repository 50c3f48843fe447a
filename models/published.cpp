#include "models/published.h"

#include <algorithm>
#include <cctype>

#include "models/gpu_table.h"

namespace fathom::models {
namespace {

/// Whether `word` stands in `text` with neither a letter nor a digit beside it.
bool has_word(std::string_view text, std::string_view word) {
  const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !part_of_word(text[at - 1]);
    if (begins && (end == text.size() || !part_of_word(text[end]))) return true;
  }
  return false;
}

bool same_product(const PublishedFigure& figure, std::string_view gpu_name) {
  const GpuSpec* gpu = find_gpu(gpu_name);
  return gpu != nullptr ? gpu->name == figure.chip : has_word(gpu_name, figure.chip);
}

enum Closeness { product, capability, any_chip, too_far };

Closeness closeness(const PublishedFigure& figure, int major, int minor,
                    std::string_view gpu_name) {
  const bool same_capability = figure.major == major && figure.minor == minor;
  if (same_capability && same_product(figure, gpu_name)) return product;
  if (same_capability) return capability;
  return figure.for_any_chip ? any_chip : too_far;
}

}  // namespace

std::vector<const PublishedFigure*> find_published(std::string_view fact, std::string_view unit,
                                                   int major, int minor,
                                                   std::string_view gpu_name) {
  std::vector<const PublishedFigure*> found;
  const auto rank = [&](const PublishedFigure* figure) {
    return closeness(*figure, major, minor, gpu_name);
  };
  for (const PublishedFigure& figure : published_figures()) {
    if (figure.fact != fact || figure.unit != unit) continue;
    if (closeness(figure, major, minor, gpu_name) != too_far) found.push_back(&figure);
  }
  std::ranges::stable_sort(found, {}, rank);
  return found;
}

std::string cited(const PublishedFigure& figure, std::string_view gpu_name) {
  std::string text(figure.source);
  if (!same_product(figure, gpu_name)) {
    text += ", on ";
    text += figure.chip;
  }
  return text;
}

}  // namespace fathom::models
