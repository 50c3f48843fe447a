#pragma once

#include <functional>
#include <string>

namespace fathom::test {

using Entry = std::function<void(const std::string& name, const std::function<void()>& launch)>;

/// Gives `entry` each lesson of the ladder that runs here, on a product of whole tiles and on an
/// odd one, and each pattern of bank conflicts: kernels for `fathom explain` that nobody planted. A
/// launch may be repeated.
void for_each_entry(const Entry& entry);

/// A kernel of `number` + 1 blocks, by which a recording says which entry's kernels stand between.
void launch_marker(int number);

}  // namespace fathom::test
