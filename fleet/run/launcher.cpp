#include "fleet/run/launcher.h"

#include <cstdlib>

#include "results/parse_number.h"

namespace fathom {
namespace {

std::optional<int> number(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? parse_number<int>(text) : std::nullopt;
}

struct Variables {
  const char *name, *rank, *size;
};
constexpr Variables launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MPICH or Slurm's PMI", "PMI_RANK", "PMI_SIZE"},
    // Not SLURM_NTASKS, which a batch script itself has, too.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

}  // namespace

std::optional<Launcher> find_launcher() {
  for (const Variables& variables : launchers) {
    const auto rank = number(variables.rank), size = number(variables.size);
    if (rank && size && *size > 1 && *rank >= 0 && *rank < *size)
      return Launcher{variables.name, *rank, *size};
  }
  return std::nullopt;
}

std::string slurm_node() {
  const char* name = std::getenv("SLURMD_NODENAME");
  const auto launcher = find_launcher();
  const bool by_srun = name && launcher && launcher->name != launchers[0].name &&
                       number("SLURM_PROCID") == launcher->rank &&
                       number("SLURM_STEP_NUM_TASKS") == launcher->size;
  return by_srun ? name : "";
}

}  // namespace fathom
