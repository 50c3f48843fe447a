#pragma once

#include <functional>
#include <string>

namespace fathom::test {

using Entry = std::function<void(const std::string& name, const std::function<void()>& launch)>;

/// Gives `entry` each kernel with one planted fault, on the one line of explain_planted.cu that
/// ends in "// fault: RULE", or with none. A launch may be repeated until this returns.
void for_each_planted(const Entry& entry);

/// The same of what nobody planted: each lesson of the ladder that runs here, on a product of whole
/// tiles and on an odd one, and each pattern of bank conflicts.
void for_each_found(const Entry& entry);

/// A kernel of `number` + 1 blocks, by which a recording says which entry's kernels stand between.
void launch_marker(int number);

}  // namespace fathom::test
