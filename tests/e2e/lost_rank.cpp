// Before MPI and the C library, by LD_PRELOAD: a communicator that MPI cannot make, since a rank is
// lost; or, where LOST_AT is set, the end of whoever would give a file such a name: by the signal
// LOST_BY, or where that is 0 without a word.

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int MPI_Comm_split_type(MPI_Comm ranks, int type, int key, MPI_Info info,
                                   MPI_Comm* made) {
  if (std::getenv("LOST_AT")) return PMPI_Comm_split_type(ranks, type, key, info, made);
  *made = MPI_COMM_NULL;
  return MPI_ERR_OTHER;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  const char* at = std::getenv("LOST_AT");
  if (at && std::string_view(to).ends_with(at)) {
    const int number = std::atoi(std::getenv("LOST_BY"));
    if (number == 0) _exit(3);
    std::raise(number);
  }
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
