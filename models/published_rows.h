#pragma once

#include <span>

#include "models/published.h"

namespace fathom::models {

// Parts of the table in models/published.cpp.
std::span<const PublishedFigure> published_of_hopper();
std::span<const PublishedFigure> published_of_other_chips();
std::span<const PublishedFigure> published_of_instructions();

}  // namespace fathom::models
