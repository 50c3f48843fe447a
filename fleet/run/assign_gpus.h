#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// Which of the GPUs that it sees each rank of a host takes: the first one that no rank before it
/// has. So ranks that see the same GPUs take them in order, and ranks that a launcher has given
/// their own each take theirs. `visible`: the GPUs of each local rank, by their UUID hashes; the
/// result: places in those lists, nothing for a rank to which none is left.
std::vector<std::optional<std::size_t>> assign_gpus(
    const std::vector<std::vector<std::string>>& visible);

}  // namespace fathom
