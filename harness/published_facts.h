#pragma once

#include <span>
#include <string_view>

#include "results/document.h"

namespace fathom {

/// Gives each fact what others published of it on the nearest chip (models/published.h), found by
/// its id and unit, so that no probe needs to know of publications. A fact that has a published
/// figure from its probe keeps it, and one without a value gets it too: it says what was missed.
void add_published_figures(std::span<Fact> facts, int major, int minor, std::string_view gpu_name);

}  // namespace fathom
